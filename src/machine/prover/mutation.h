// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every small mistake that can be made in one row, and whether a search notices it.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/checker/search.h"
#include "machine/prover/prover.h"

namespace tandem::machine {

// A row as it could have been written by mistake, or (no row) left out.
template <class Row> struct Mutation {
  std::size_t row = 0;
  bool deleted = false;
  Row instead;
  std::string what;
};

// All mutations of one row of a controller C: the row left out; one guard or action less; a next
// state forgotten, or another one; a stall or nack that swallows the event; needs forgotten.
template <class C, class Row> std::vector<Mutation<Row>> mutations(const Row &row) {
  std::vector<Mutation<Row>> all;
  const auto add = [&all](const Row &instead, std::string what) {
    all.push_back({0, false, instead, std::move(what)});
  };
  all.push_back({0, true, row, "left out"});
  for (std::size_t g = 0; g < row.guards_used; ++g) {
    Row m = row;
    std::move(m.guards.begin() + g + 1, m.guards.end(), m.guards.begin() + g);
    --m.guards_used;
    add(m, fmt::format("without the guard '{}'", row.guards[g]->name));
  }
  for (std::size_t a = 0; a < row.actions_used; ++a) {
    Row m = row;
    std::move(m.actions.begin() + a + 1, m.actions.end(), m.actions.begin() + a);
    --m.actions_used;
    add(m, fmt::format("without '{}'", row.actions[a]->name));
  }
  const auto other = [](int state, std::size_t states) {
    return static_cast<std::int8_t>((state + 1) % static_cast<int>(states));
  };
  if (row.next_line != Row::kSame) {
    Row m = row;
    m.next_line = Row::kSame;
    add(m, "line state not changed");
    m.next_line = other(row.next_line, std::size(C::kLineStates));
    add(m, fmt::format("line becomes {}", C::kLineStates[m.next_line].name));
  }
  if (row.next_tbe != Row::kSame) {
    Row m = row;
    m.next_tbe = Row::kSame;
    add(m, "transaction state not changed");
    m.next_tbe = other(row.next_tbe, std::size(C::kTbeStates));
    add(m, fmt::format("transaction becomes {}", C::kTbeStates[m.next_tbe].name));
  }
  if (row.kind != RowKind::step) {
    Row m = row;
    m.kind = RowKind::step;
    add(m, "swallows the event");
  }
  if (row.kind == RowKind::refuse) {
    Row m = row;
    m.kind = RowKind::nack;
    add(m, "nacks instead of refusing");
  }
  if (row.needs != 0) {
    Row m = row;
    m.needs = 0;
    add(m, "makes no room");
  }
  return all;
}

template <class P> class MutationTest {
public:
  MutationTest(std::span<const Case> cases, const MutationProgress &progress,
               typename P::Config (*config)(const std::vector<std::string> &))
      : progress_(progress) {
    for (const Case &c : cases) {
      Prepared p{c.options, config(c.set), {}};
      p.options.chart = progress.charts;
      p.options.stop = progress.stop;
      const checker::Result r = checker::check<P>(p.options, p.config);
      // Else every mutant would count as noticed.
      CHECK(r.verdict != checker::Verdict::violated, "{}: {}: {}", P::kName, c.name, r.violation);
      // A mutant may make the state space larger, but not without bound.
      p.options.most_states = 1000 + 3 * r.states;
      add(p.taken, r);
      add(expected_, r);
      cases_.push_back(std::move(p));
    }
  }

  std::vector<Mutant> run(const TableDocument &document) {
    document_ = &document;
    const checker::Tables<P> tables;
    count(tables.core);
    if constexpr (checker::Engine<P>::kHasHome)
      count(tables.home);
    if constexpr (checker::Engine<P>::kHasMemory)
      count(tables.memory);
    std::size_t controller = 0;
    try_all<typename P::Core>(&checker::Tables<P>::core, controller++, 0);
    if constexpr (checker::Engine<P>::kHasHome)
      try_all<typename P::Home>(&checker::Tables<P>::home, controller++, 1);
    if constexpr (checker::Engine<P>::kHasMemory)
      try_all<typename P::Memory>(&checker::Tables<P>::memory, controller++, 2);
    return std::move(mutants_);
  }

private:
  // How often rows were taken, for core, home and memory.
  using Taken = std::array<std::vector<std::uint64_t>, 3>;

  static void add(std::vector<std::uint64_t> &sum, const std::vector<std::uint64_t> &more) {
    sum.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i)
      sum[i] += more[i];
  }
  static void add(Taken &sum, const checker::Result &r) {
    add(sum[0], r.core.rows);
    add(sum[1], r.home.rows);
    add(sum[2], r.memory.rows);
  }
  // Without the row that is left out, a place in Taken.
  using Place = std::optional<std::pair<std::size_t, std::size_t>>;
  static void erase(Taken &taken, const Place &row) {
    if (row)
      taken[row->first].erase(taken[row->first].begin() + static_cast<std::ptrdiff_t>(row->second));
  }

  struct Prepared {
    checker::Options options;
    typename P::Config config;
    Taken taken; // by the tables as they are
  };

  template <class E, class C> void count(const Dispatch<E, C> &table) {
    for (const auto &row : table.rows())
      all_ += mutations<C>(row).size();
  }

  // `controller` counts those that the protocol has; `role` is the place in Taken.
  template <class C, class Member>
  void try_all(Member member, std::size_t controller, std::size_t role) {
    const checker::Tables<P> original;
    using Table = std::remove_cvref_t<decltype(original.*member)>;
    const auto rows = (original.*member).rows();
    const TableDocument::Controller &names = document_->controllers[controller];
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (const auto &mutation : mutations<C>(rows[i])) {
        if (progress_.stop != nullptr && progress_.stop->load())
          return;
        std::string what = fmt::format("{} {}: {}", names.name,
                                       row_name(*document_, names, names.rows[i]), mutation.what);
        if (what.find(progress_.only) == std::string::npos)
          continue;
        std::vector<typename Table::Row> altered(rows.begin(), rows.end());
        if (mutation.deleted)
          altered.erase(altered.begin() + static_cast<std::ptrdiff_t>(i));
        else
          altered[i] = mutation.instead;
        checker::Tables<P> mutant;
        mutant.*member = Table(std::span<const typename Table::Row>(altered));
        const Place deleted = mutation.deleted ? Place({role, i}) : std::nullopt;
        mutants_.push_back(tried(std::move(what), mutant, rows[i].option, deleted));
        if (progress_.report)
          progress_.report(mutants_.size(), all_);
      }
  }

  // The violation that a search finds; or that a row which is taken otherwise is not
  // taken in any of them, which the proof's test of coverage would notice. Where the row's option
  // is not set there is no such row: that search is the one of the tables as they are.
  Mutant tried(std::string what, const checker::Tables<P> &mutant, bool P::Config::*option,
               const Place &deleted) {
    Taken expected = expected_;
    erase(expected, deleted);
    Taken taken;
    bool whole = true;
    for (const Prepared &p : cases_) {
      if (option != nullptr && !(p.config.*option)) {
        Taken same = p.taken;
        erase(same, deleted);
        for (std::size_t c = 0; c < same.size(); ++c)
          add(taken[c], same[c]);
        continue;
      }
      const checker::Result r = checker::check<P>(p.options, p.config, mutant);
      if (r.verdict == checker::Verdict::violated)
        return {std::move(what), r.violation, r.chart};
      whole &= r.verdict == checker::Verdict::proved;
      add(taken, r);
    }
    for (std::size_t c = 0; c < taken.size() && whole; ++c)
      for (std::size_t i = 0; i < taken[c].size(); ++i)
        if (taken[c][i] == 0 && expected[c][i] != 0)
          return {std::move(what), "a row is never taken any more"};
    return {std::move(what), ""};
  }

  MutationProgress progress_;
  std::vector<Prepared> cases_;
  Taken expected_; // by the tables as they are
  const TableDocument *document_ = nullptr;
  std::size_t all_ = 0;
  std::vector<Mutant> mutants_;
};

} // namespace tandem::machine
