// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules that findings name: what each is about, and how much it matters. The one place for it;
// the pass finds, the programs that show findings explain them from here, and docs/findings.md is
// made of the same words.
#pragma once

#include <span>
#include <string_view>

namespace tandem {

enum class RuleLevel { error, warning, note };

std::string_view to_string(RuleLevel level); // "error", "warning", "note", as SARIF has them

struct Rule {
  std::string_view name;  // "lock-order"
  std::string_view title; // one line, no full stop
  std::string_view help;  // what can go wrong and what to do; paragraphs separated by one newline
  RuleLevel level = RuleLevel::warning;
  bool path = false;     // the notes of its findings are the steps of one path through the program
  bool doubtful = false; // tables show its findings only where all are asked for
};

// All rules, by name.
std::span<const Rule> rules();

// The rule called `name`, or nullptr.
const Rule *find_rule(std::string_view name);

} // namespace tandem
