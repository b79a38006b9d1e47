// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker itself, on a protocol small enough to be right by inspection: it proves that, and
// finds each kind of mistake put into it, with a chart that shows it.
#include "machine/checker/search.h"

#include <gmock/gmock.h>

#include "tests/machine/checker/one_copy.h"

namespace tandem::machine::checker {
namespace {

using ::testing::HasSubstr;
using testing::OneCopy;
using CoreRows = std::vector<RowOf<OneCopy, OneCopy::Core>>;
using HomeRows = std::vector<RowOf<OneCopy, OneCopy::Home>>;
using Event = OneCopy::Event;

// The tables with one change to each row for `event`.
template <class Rows, class Table, class Change>
void change(Table &table, Event event, Change &&change) {
  Rows rows;
  for (auto row : table.rows()) {
    if (row.event == static_cast<std::uint8_t>(event))
      change(row);
    rows.push_back(row);
  }
  table = Table(rows);
}

template <class Change> Result with_core(Event event, Change &&how, const Options &options) {
  Tables<OneCopy> tables;
  change<CoreRows>(tables.core, event, how);
  return check<OneCopy>(options, {}, tables);
}

template <class Change> Result with_home(Event event, Change &&how, const Options &options) {
  Tables<OneCopy> tables;
  change<HomeRows>(tables.home, event, how);
  return check<OneCopy>(options, {}, tables);
}

TEST(Search, ProvesARightProtocol) {
  for (const unsigned cores : {1U, 2U, 3U, 4U}) {
    const Result r = check<OneCopy>({.cores = cores});
    EXPECT_EQ(r.verdict, Verdict::proved) << r.violation << '\n' << r.chart;
    EXPECT_GT(r.states, 1U);
    EXPECT_EQ(r.chart, "");
  }
}

// A load-reserved is a load, a store-conditional a store that may do nothing: the same steps of the
// tables, more states of the cores.
TEST(Search, ReservationsAddStatesAndChangeNoVerdict) {
  const Result without = check<OneCopy>({.cores = 2});
  const Result with = check<OneCopy>({.cores = 2, .reservations = true});
  EXPECT_EQ(with.verdict, Verdict::proved) << with.violation << '\n' << with.chart;
  EXPECT_GT(with.states, without.states);
}

TEST(Search, SymmetryMergesStatesAndChangesNoVerdict) {
  const Result with = check<OneCopy>({.cores = 3});
  const Result without = check<OneCopy>({.cores = 3, .symmetry = false});
  EXPECT_EQ(without.verdict, Verdict::proved);
  // At most 3! states become one.
  EXPECT_LT(with.states, without.states);
  EXPECT_GE(with.states * 6, without.states);
  EXPECT_EQ(with.depth, without.depth);
}

TEST(Search, TwoBlocksThatDoNotMeetAreAProduct) {
  const Options one{.cores = 1, .symmetry = false};
  const Options two{.cores = 1, .blocks = 2, .symmetry = false};
  const std::uint64_t states = check<OneCopy>(one).states;
  EXPECT_EQ(check<OneCopy>(two).states, states * states);
}

TEST(Search, AnOrderedNetworkAllowsNoMore) {
  const Result r = check<OneCopy>({.cores = 3, .ordered = true});
  EXPECT_EQ(r.verdict, Verdict::proved) << r.violation;
  EXPECT_LE(r.states, check<OneCopy>({.cores = 3}).states);
}

TEST(Search, IsTheSameEveryTime) {
  const Result a = check<OneCopy>({.cores = 3}), b = check<OneCopy>({.cores = 3});
  EXPECT_EQ(a.states, b.states);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.core.rows, b.core.rows);
}

TEST(Search, EveryRowIsCounted) {
  const Result r = check<OneCopy>({.cores = 3}, {.ignore_forwards_after_put = false});
  std::size_t never = 0;
  for (const std::uint64_t taken : r.core.rows)
    never += taken == 0 ? 1 : 0;
  EXPECT_EQ(never, 1U); // the one with the fault
  EXPECT_THAT(r.home.rows, ::testing::Each(::testing::Gt(0U)));
}

TEST(Search, FindsLostData) {
  const Result r = check<OneCopy>({.cores = 2}, {.ignore_forwards_after_put = true});
  EXPECT_EQ(r.verdict, Verdict::violated);
  EXPECT_THAT(r.violation, HasSubstr("lost data"));
  EXPECT_THAT(r.chart, HasSubstr("Fwd for C1"));
  EXPECT_THAT(r.chart, HasSubstr("Evict"));
}

TEST(Search, FindsAHole) {
  const auto held = in(OneCopy::Core::LineState::V).bits;
  const Result r =
      with_core(Event::forward, [held](auto &row) { row.lines &= ~held; }, {.cores = 2});
  EXPECT_THAT(r.violation, HasSubstr("no row: core in state V, transaction -, event Fwd"));
}

TEST(Search, FindsARequestThatNeverEnds) {
  const Result r = with_home(Event::get, [](auto &row) { row.actions_used = 0; }, {.cores = 1});
  EXPECT_THAT(r.violation, HasSubstr("stuck"));
  EXPECT_THAT(r.chart, HasSubstr("IV"));
}

TEST(Search, FindsALostWakeUp) {
  const Result r = with_core(Event::data, [](auto &row) { --row.actions_used; }, {.cores = 2});
  EXPECT_THAT(r.violation, HasSubstr("lost wake-up"));
}

TEST(Search, FindsAnAccessThatIsNeverDone) {
  const Result r =
      with_core(Event::store, [](auto &row) { row.kind = RowKind::step; }, {.cores = 2});
  EXPECT_THAT(r.violation, HasSubstr("never does"));
}

TEST(Search, FindsAnEvictionThatEvictsNothing) {
  const Result r = with_core(Event::evict,
                             [](auto &row) {
                               row.actions_used = 0;
                               row.next_line = row.next_tbe = row.kSame;
                             },
                             {.cores = 1});
  EXPECT_THAT(r.violation, HasSubstr("leaves what it should have evicted"));
}

TEST(Search, FindsTwoCopies) {
  // The owner keeps what it sends on.
  const Result r =
      with_core(Event::forward, [](auto &row) { row.next_line = row.kSame; }, {.cores = 2});
  EXPECT_EQ(r.verdict, Verdict::violated);
}

TEST(Search, FindsARowThatMakesNoRoom) {
  const Options one_way{.cores = 1, .blocks = 2, .ways = 1};
  EXPECT_EQ(check<OneCopy>(one_way).verdict, Verdict::proved);
  const Result r = with_core(Event::load, [](auto &row) { row.needs = 0; }, one_way);
  EXPECT_THAT(r.violation, HasSubstr("more blocks than it has ways"));
}

TEST(Search, FindsADeadlockOfFiniteBuffers) {
  // A home that answers each request with two forwards needs two places.
  Tables<OneCopy> tables;
  change<HomeRows>(tables.home, Event::put, [](auto &row) {
    if (row.actions_used == 2)
      row.actions[row.actions_used++] = row.actions[1]; // two PutAcks
  });
  Options options{.cores = 1};
  options.buffers[static_cast<unsigned>(Vnet::response)] = 1;
  EXPECT_EQ(check<OneCopy>(options).verdict, Verdict::proved);
  EXPECT_THAT(check<OneCopy>(options, {}, tables).violation, HasSubstr("stuck"));
}

TEST(Search, GivesUpWithoutAVerdict) {
  EXPECT_EQ(check<OneCopy>({.cores = 3, .most_states = 10}).verdict, Verdict::unknown);
  const std::atomic<bool> stop = true;
  const Result r = check<OneCopy>({.cores = 3, .stop = &stop});
  EXPECT_EQ(r.verdict, Verdict::unknown);
  EXPECT_EQ(r.states, 1U);
}

} // namespace
} // namespace tandem::machine::checker
