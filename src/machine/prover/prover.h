// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The protocols by name: what can be asked of each without its templates.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/checker/options.h"
#include "machine/protocol/document.h"

namespace tandem::machine {

// One search of a proof.
struct Case {
  std::string name;
  checker::Options options;
  std::vector<std::string> set; // the protocol's options to set; with "no-" before it, to clear
  std::string bounds = "";      // what the search leaves out, for the verdict; empty: nothing
};

// One alteration of one row of a table.
struct Mutant {
  std::string what;       // "home S/none GetM: without 'send Inv to the other sharers'"
  std::string killed_by;  // the violation; empty: no search found one
  std::string chart = {}; // a message sequence chart of a shortest way to it, where asked for
};

struct MutationProgress {
  std::function<void(std::size_t done, std::size_t all)> report; // or null
  const std::atomic<bool> *stop = nullptr;
  std::string only = {}; // mutants whose name contains this
  bool charts = false;
};

struct Prover {
  std::string_view name, summary;
  std::vector<TableDocument::Option> options;
  std::vector<Case> proof;    // every row is taken in one of these
  std::vector<Case> longer;   // more of the proof, minutes each
  std::vector<Case> mutation; // cheapest first: what a mutant has to survive

  // `set` holds names of `options` only, with or without "no-".
  checker::Result (*check)(const checker::Options &options, const std::vector<std::string> &set);
  TableDocument (*document)();
  // Adds to the document's rows how often they were taken.
  void (*cover)(TableDocument &document, const checker::Result &result);
  // Every mutant of every row against the cases.
  std::vector<Mutant> (*mutate)(std::span<const Case> cases, const MutationProgress &progress);
};

// All protocols, in the order in which they are listed.
std::span<const Prover> provers();
// Null if there is no protocol of that name.
const Prover *find_prover(std::string_view name);

} // namespace tandem::machine
