// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/mosaic/mosaic.h"

#include "machine/protocol/testing/prove.h"

#include <gtest/gtest.h>

namespace tandem::machine {
namespace {

using namespace testing;
using flask::Event;
using HomeTbe = Mosaic::Home::TbeState;

TEST(mosaic, every_option_is_proved_and_every_row_is_needed) {
  Coverage<Mosaic> coverage;
  expect_proved<Mosaic>(cores(1), {}, coverage);
  for (const bool two_phase : {false, true})
    for (const bool parallel : {false, true})
      expect_proved<Mosaic>(cores(3), {.two_phase = two_phase, .parallel_memory = parallel},
                            coverage);
  expect_proved<Mosaic>(with_device(cores(3)), {}, coverage);
  expect_proved<Mosaic>(with_tokens(cores(2), 3), {}, coverage);
  EXPECT_EQ(coverage.missing(), "");
}

TEST(mosaic, finite_buffers_and_more_tokens_are_fine) {
  Coverage<Mosaic> coverage;
  checker::Options options = cores(3);
  options.buffers.fill(1);
  options.tokens = 4;
  expect_proved<Mosaic>(options, {.parallel_memory = true}, coverage);
}

TEST(mosaic, two_blocks_compete_for_one_way_one_entry_one_llc_line) {
  Coverage<Mosaic> coverage;
  expect_proved<Mosaic>(two_by_two(), {}, coverage);
}

// What FLASK's filter sees first (flask_test.cc), the directory and the tokens show here.
TEST(mosaic_mistakes, a_request_before_put_ack) {
  using Core = Mosaic::Core;
  using R = Core::Rules<checker::Env<Mosaic, Core>>;
  using Line = Core::LineState;
  using Tbe = Core::TbeState;
  auto changed = rows<Core>();
  changed.insert(changed.begin(),
                 {R::when(in(Line::I), in(Tbe::P), Event::load).run(R::send_get_s).next(Tbe::R),
                  R::when(kAnyState<Line>, in(Tbe::none, Tbe::R, Tbe::W), Event::put_ack)});
  checker::Tables<Mosaic> tables;
  tables.core = decltype(tables.core)(changed);
  expect_violated<Mosaic>(cores(2), {}, tables, "event FwdS");
}

TEST(mosaic_mistakes, a_writers_own_put_must_not_go_back_to_it) {
  auto changed = rows<Mosaic::Home>();
  find(changed, HomeTbe::store, Event::put, "not from the requester").guards_used = 0;
  checker::Tables<Mosaic> tables;
  tables.home = decltype(tables.home)(changed);
  expect_violated<Mosaic>(cores(2), {}, tables, "event Tok");
}

// A MemRead may overtake a MemWB unless the block is busy until memory has acknowledged: memory
// then answers that it has nothing, and the requester waits for a Put that never comes.
TEST(mosaic_mistakes, a_write_back_must_block_the_block) {
  using Memory = Mosaic::Memory;
  using Env = checker::Env<Mosaic, Memory>;
  static constexpr Action<Env> take_silently{"take the data, send no MemWBAck", [](Env &e) {
                                               if (e.message().has_data)
                                                 e.line().data = e.message().data;
                                             }};
  auto home = rows<Mosaic::Home>();
  find(home, HomeTbe::none, Event::llc_evict, "the LLC has all tokens").next_tbe =
      static_cast<std::int8_t>(HomeTbe::none);
  auto memory = rows<Memory>();
  for (auto &row : memory)
    if (row.event == static_cast<std::uint8_t>(Event::write_back))
      row.actions[0] = &take_silently;
  checker::Tables<Mosaic> tables;
  tables.home = decltype(tables.home)(home);
  tables.memory = decltype(tables.memory)(memory);
  expect_violated<Mosaic>(cores(2), {}, tables, "stuck");
}

// The entry that is made when the LLC serves a part must know the other holders.
TEST(mosaic_mistakes, an_entry_without_counting_the_holders) {
  auto changed = rows<Mosaic::Home>();
  for (auto &row : changed)
    if (row.event == static_cast<std::uint8_t>(Event::get_s) && row.actions_used == 4 &&
        row.actions[2] == &Mosaic::Home::Rules<checker::Env<Mosaic, Mosaic::Home>>::serve_one)
      drop_action(row, "Query to all cores");
  checker::Tables<Mosaic> tables;
  tables.home = decltype(tables.home)(changed);
  expect_violated<Mosaic>(cores(3), {}, tables, "no superset of the holders");
}

} // namespace
} // namespace tandem::machine
