// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the protocols' proofs share: searches that must prove, rows that must all have been taken,
// and tables with one row changed that must not prove. Only tests include this.
#pragma once

#include "machine/checker/search.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace tandem::machine::testing {

// Which rows the searches so far have taken.
template <class P> class Coverage {
public:
  void add(const checker::Result &result) {
    add(core_, result.core.rows);
    add(home_, result.home.rows);
    add(memory_, result.memory.rows);
  }
  // Rows that no search has taken, one a line. Rows of an option are the prover's to see taken: its
  // searches have the option.
  [[nodiscard]] std::string missing() const {
    std::string text = missing<typename P::Core>(core_);
    if constexpr (!std::is_void_v<typename P::Home>)
      text += missing<typename P::Home>(home_);
    if constexpr (!std::is_void_v<typename P::Memory>)
      text += missing<typename P::Memory>(memory_);
    return text;
  }

private:
  using Counts = std::vector<std::uint64_t>;
  static void add(Counts &sum, const Counts &more) {
    sum.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i)
      sum[i] += more[i];
  }
  template <class C> static std::string missing(const Counts &counts) {
    std::string text;
    const auto &rows = C::template Rules<checker::Env<P, C>>::kRows;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] == 0 && rows[i].option == nullptr)
        text += fmt::format("{}, row {} (from 0), event {}\n", C::kName, i,
                            P::kEvents[rows[i].event].name);
    return text;
  }

  Counts core_, home_, memory_;
};

template <class P>
void expect_proved(const checker::Options &options, const typename P::Config &config,
                   Coverage<P> &coverage) {
  const checker::Result result = checker::check<P>(options, config);
  EXPECT_EQ(result.verdict, checker::Verdict::proved) << result.violation << "\n" << result.chart;
  coverage.add(result);
}

inline checker::Options cores(unsigned number) {
  checker::Options options;
  options.cores = number;
  return options;
}

// The same, with a device that reads and writes memory.
inline checker::Options with_device(checker::Options options) {
  options.devices = true;
  return options;
}

inline checker::Options with_tokens(checker::Options options, unsigned tokens) {
  options.tokens = tokens;
  return options;
}

// Two blocks that compete for one way, one entry, one line of the LLC.
inline checker::Options two_by_two() {
  checker::Options options;
  options.cores = options.blocks = 2;
  options.ways = options.entries = options.llc = 1;
  return options;
}

// The rows of a controller, to change.
template <class C> std::vector<Row<checker::Env<typename C::Protocol, C>, C>> rows() {
  const auto &all = C::template Rules<checker::Env<typename C::Protocol, C>>::kRows;
  return {std::begin(all), std::end(all)};
}

// The first row for the event in this state of the transaction that has a guard or action of this
// name, and is of no option.
template <class Rows, class T, class Event>
auto &find(Rows &rows, T tbe, Event event, std::string_view name) {
  for (auto &row : rows) {
    if (row.option != nullptr || row.event != static_cast<std::uint8_t>(event) ||
        (row.tbes >> static_cast<unsigned>(tbe) & 1) == 0)
      continue;
    for (unsigned i = 0; i < row.guards_used; ++i)
      if (row.guards[i]->name == name)
        return row;
    for (unsigned i = 0; i < row.actions_used; ++i)
      if (row.actions[i]->name == name)
        return row;
  }
  ADD_FAILURE() << "no row with " << name;
  return rows.front();
}

template <class Row> void drop_action(Row &row, std::string_view name) {
  unsigned kept = 0;
  for (unsigned i = 0; i < row.actions_used; ++i)
    if (row.actions[i]->name != name)
      row.actions[kept++] = row.actions[i];
  EXPECT_EQ(kept + 1U, row.actions_used) << "no action " << name;
  row.actions_used = static_cast<std::uint8_t>(kept);
}

template <class P>
void expect_violated(const checker::Options &options, const typename P::Config &config,
                     const checker::Tables<P> &tables, std::string_view what) {
  const checker::Result result = checker::check<P>(options, config, tables);
  EXPECT_EQ(result.verdict, checker::Verdict::violated) << "the checker does not see the mistake";
  EXPECT_NE(result.violation.find(what), std::string::npos) << result.violation;
  EXPECT_FALSE(result.chart.empty() && options.chart);
}

} // namespace tandem::machine::testing
