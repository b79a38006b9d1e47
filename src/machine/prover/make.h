// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// make_prover<Protocol>(...): the template behind each protocol's Prover. Include it in the one
// source file of the protocol, it takes seconds to compile.
#pragma once

#include <utility>
#include <vector>

#include "machine/prover/mutation.h"
#include "machine/prover/prover.h"

namespace tandem::machine {

template <class P> typename P::Config config_of(const std::vector<std::string> &set) {
  typename P::Config config;
  for (const std::string &name : set) {
    bool known = false;
    for (const auto &field : P::kConfigFields)
      if (const bool on = name == field.name; on || name == std::string("no-") + field.name) {
        config.*field.value = on;
        known = true;
      }
    CHECK(known, "{} has no option {}", P::kName, name);
  }
  return config;
}

template <class P, class C> TableDocument::Controller document_of() {
  TableDocument::Controller result;
  result.name = C::kName;
  result.lines.assign(std::begin(C::kLineStates), std::end(C::kLineStates));
  result.tbes.assign(std::begin(C::kTbeStates), std::end(C::kTbeStates));
  const Dispatch<checker::Env<P, C>, C> table;
  for (const auto &row : table.rows()) {
    TableDocument::Row &r = result.rows.emplace_back();
    r.lines = row.lines;
    r.tbes = row.tbes;
    r.event = row.event;
    r.kind = row.kind;
    r.needs = row.needs;
    r.next_line = row.next_line;
    r.next_tbe = row.next_tbe;
    for (const auto &field : P::kConfigFields)
      if (row.option != nullptr && row.option == field.value)
        r.guards.push_back(fmt::format("option {}", field.name));
    for (std::size_t i = 0; i < row.guards_used; ++i)
      r.guards.emplace_back(row.guards[i]->name);
    for (std::size_t i = 0; i < row.actions_used; ++i)
      r.actions.emplace_back(row.actions[i]->name);
    r.why = row.why;
  }
  return result;
}

template <class P> TableDocument document_of() {
  TableDocument d;
  d.name = P::kName;
  d.summary = P::kSummary;
  for (const auto &field : P::kConfigFields)
    d.options.push_back({field.name, field.description, typename P::Config{}.*field.value});
  d.events.assign(std::begin(P::kEvents), std::end(P::kEvents));
  d.controllers.push_back(document_of<P, typename P::Core>());
  if constexpr (checker::Engine<P>::kHasHome)
    d.controllers.push_back(document_of<P, typename P::Home>());
  if constexpr (checker::Engine<P>::kHasMemory)
    d.controllers.push_back(document_of<P, typename P::Memory>());
  return d;
}

template <class P> void cover(TableDocument &document, const checker::Result &result) {
  std::size_t controller = 0;
  const auto add = [&](const checker::Result::Coverage &coverage) {
    auto &rows = document.controllers[controller++].rows;
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i].taken += coverage.rows[i];
  };
  add(result.core);
  if constexpr (checker::Engine<P>::kHasHome)
    add(result.home);
  if constexpr (checker::Engine<P>::kHasMemory)
    add(result.memory);
}

template <class P>
Prover make_prover(std::vector<Case> proof, std::vector<Case> longer, std::vector<Case> mutation) {
  return {
      .name = P::kName,
      .summary = P::kSummary,
      .options = document_of<P>().options,
      .proof = std::move(proof),
      .longer = std::move(longer),
      .mutation = std::move(mutation),
      .check =
          [](const checker::Options &options, const std::vector<std::string> &set) {
            return checker::check<P>(options, config_of<P>(set));
          },
      .document = [] { return document_of<P>(); },
      .cover = cover<P>,
      .mutate =
          [](std::span<const Case> cases, const MutationProgress &progress) {
            return MutationTest<P>(cases, progress, config_of<P>).run(document_of<P>());
          },
  };
}

} // namespace tandem::machine
