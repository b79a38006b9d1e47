// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FLASK as written and improved: proved, and known mistakes found.
#include "machine/protocol/flask/flask_plus.h"

#include "machine/protocol/testing/prove.h"

#include <gtest/gtest.h>

namespace tandem::machine {
namespace {

using namespace testing;
using flask::Event;
using HomeTbe = Flask::Home::TbeState;
using CoreTbe = Flask::Core::TbeState;
using CoreLine = Flask::Core::LineState;

// What `flask` is: the paper's text. Whoever changes a preset changes what is compared with it.
TEST(flask, its_presets_are_what_the_paper_says) {
  const Flask::Config config;
  EXPECT_EQ(Flask::tokens(16), 16U) << "section III: as many as cores";
  EXPECT_TRUE(config.two_phase) << "III.A: cores answer with counts, the directory instructs them";
  EXPECT_TRUE(config.purge) << "III.B.1: a full counter evicts the blocks behind it";
  EXPECT_FALSE(config.shared_stays) << "III.A, second case: all tokens go to the requester";
  EXPECT_FALSE(Flask::light_put(config)) << "no word of it";
  EXPECT_FALSE(Flask::spill_groups(config)) << "no word of it";
  EXPECT_EQ(FlaskPlus::tokens(16), 17U);
  for (const auto &field : Flask::kConfigFields)
    EXPECT_STRNE(field.name, "light_put") << "without a spare token it could do nothing";
}

template <class P> constexpr typename P::Config one_phase() {
  typename P::Config config;
  config.two_phase = config.purge = false;
  return config;
}

template <class P> class FlaskVariants : public ::testing::Test {};
using Variants = ::testing::Types<Flask, FlaskPlus>;
class VariantNames {
public:
  template <class P> static std::string GetName(int) { return P::kLends ? "flask_plus" : "flask"; }
};
TYPED_TEST_SUITE(FlaskVariants, Variants, VariantNames);

TYPED_TEST(FlaskVariants, every_option_is_proved_and_every_row_is_needed) {
  using P = TypeParam;
  const auto of = [](unsigned n) { return with_tokens(cores(n), P::tokens(n)); };
  Coverage<P> coverage;
  expect_proved<P>(of(1), {}, coverage);
  expect_proved<P>(of(2), {}, coverage);
  expect_proved<P>(of(3), {}, coverage);
  typename P::Config two_phase;
  two_phase.two_phase = two_phase.purge = two_phase.chip_scope = true;
  two_phase.shared_stays = !two_phase.shared_stays;
  expect_proved<P>(of(3), two_phase, coverage);
  expect_proved<P>(of(3), one_phase<P>(), coverage);
  expect_proved<P>(with_device(of(3)), one_phase<P>(), coverage);
  // With a token to spare the owner's never goes to a reader.
  expect_proved<P>(cores(2), one_phase<P>(), coverage);
  typename P::Config stays = one_phase<P>();
  stays.shared_stays = true;
  expect_proved<P>(with_tokens(cores(2), 3), stays, coverage);
  EXPECT_EQ(coverage.missing(), "");
}

TYPED_TEST(FlaskVariants, more_tokens_than_cores_are_fine) {
  using P = TypeParam;
  Coverage<P> coverage;
  typename P::Config heavy;
  heavy.light_put = false;
  for (const unsigned tokens : {4U, 6U}) {
    expect_proved<P>(with_tokens(cores(3), tokens), {}, coverage);
    expect_proved<P>(with_tokens(cores(2), tokens), heavy, coverage);
  }
}

TYPED_TEST(FlaskVariants, finite_buffers_do_not_deadlock) {
  using P = TypeParam;
  Coverage<P> coverage;
  for (const unsigned room : {1U, 2U}) {
    checker::Options options = cores(3);
    options.buffers.fill(room);
    expect_proved<P>(options, {}, coverage);
  }
}

TYPED_TEST(FlaskVariants, an_ordered_network_is_no_exception) {
  Coverage<TypeParam> coverage;
  checker::Options options = cores(3);
  options.ordered = true;
  expect_proved<TypeParam>(options, {}, coverage);
}

TYPED_TEST(FlaskVariants, two_blocks_compete_for_one_way_one_entry_one_llc_line) {
  Coverage<TypeParam> coverage;
  expect_proved<TypeParam>(two_by_two(), {}, coverage);
}

// The mistakes of first drafts, ours and the paper's: each must be seen.

// A core asks again for a block whose Put is unacknowledged. Here the Put is taken for one of
// another core's; in MOSAIC, without a filter, the directory is seen to lose a holder.
TEST(flask_mistakes, a_request_before_put_ack) {
  using Core = Flask::Core;
  using R = Core::Rules<checker::Env<Flask, Core>>;
  auto changed = rows<Core>();
  changed.insert(
      changed.begin(),
      {R::when(in(CoreLine::I), in(CoreTbe::P), Event::load).run(R::send_get_s).next(CoreTbe::R),
       R::when(kAnyState<CoreLine>, in(CoreTbe::none, CoreTbe::R, CoreTbe::W), Event::put_ack)});
  checker::Tables<Flask> tables;
  tables.core = decltype(tables.core)(changed);
  expect_violated<Flask>(cores(2), one_phase<Flask>(), tables, "inserted again");
}

// A writer's own Put, which says that it has finished, is sent back to it.
TEST(flask_mistakes, a_writers_own_put_must_not_go_back_to_it) {
  auto changed = rows<Flask::Home>();
  find(changed, HomeTbe::store, Event::put, "not from the requester").guards_used = 0;
  checker::Tables<Flask> tables;
  tables.home = decltype(tables.home)(changed);
  expect_violated<Flask>(cores(2), one_phase<Flask>(), tables, "false negative");
}

// The home serves from the LLC while memory may be serving.
TEST(flask_mistakes, the_llc_must_wait_for_memorys_answer) {
  auto changed = rows<Flask::Home>();
  find(changed, HomeTbe::load, Event::progress, "answers are to come").tbes &=
      ~in(HomeTbe::load).bits;
  checker::Tables<Flask> tables;
  tables.home = decltype(tables.home)(changed);
  expect_violated<Flask>(cores(3), one_phase<Flask>(), tables, "event Tok");
}

// A Put that completes the LLC's tokens is the moment to tell the filter, except during a
// transaction: the Put of a requester may overtake the Ack from which the home learns that the
// block was a member.
TEST(flask_mistakes, the_filter_is_told_at_the_end) {
  using Home = Flask::Home;
  using Env = checker::Env<Flask, Home>;
  static constexpr Action<Env> too_early{"tell the filter now", [](Env &e) {
                                           if (e.tbe().member)
                                             e.filter_remove();
                                           e.tbe().member = false;
                                         }};
  using R = Home::Rules<Env>;
  auto changed = rows<Home>();
  changed.insert(changed.begin(), R::when(R::any, in(HomeTbe::store_closing), Event::put)
                                      .run(R::merge, too_early, R::put_ack, R::advance));
  checker::Tables<Flask> tables;
  tables.home = decltype(tables.home)(changed);
  expect_violated<Flask>(cores(2), one_phase<Flask>(), tables, "filter");
}

TEST(flask_mistakes, a_dropped_insertion_is_a_false_negative) {
  auto changed = rows<Flask::Home>();
  for (auto &row : changed)
    for (unsigned i = 0; i < row.actions_used; ++i)
      if (row.actions[i]->name ==
          std::string_view("tell the filter whether the block is a member")) {
        drop_action(row, row.actions[i]->name);
        break;
      }
  checker::Tables<Flask> tables;
  tables.home = decltype(tables.home)(changed);
  expect_violated<Flask>(cores(2), one_phase<Flask>(), tables, "false negative");
}

// A token that the LLC lends comes back without data. With as many tokens as cores the LLC may have
// to lend its last one, and with it the owner token; and where the owner token is elsewhere, others
// decide what becomes of the data.
TEST(flask_mistakes, the_llc_lends_only_what_it_keeps) {
  using Home = FlaskPlus::Home;
  using Env = checker::Env<FlaskPlus, Home>;
  using R = Home::Rules<Env>;
  static constexpr Action<Env> lend_owned{
      "lend a token if the owner token is here", [](Env &e) {
        R::give(e, 1, (e.llc().flags & flask::kOwner) != 0 ? flask::kLent : 0U, true);
      }};
  static constexpr Action<Env> lend_last{"lend the last token", [](Env &e) {
                                           if ((e.llc().flags & flask::kOwner) != 0)
                                             e.tbe().owner = e.tbe().requester;
                                           R::give(e, 1, e.llc().flags | flask::kLent, true);
                                         }};
  static constexpr Action<Env> lend_any{"lend a token",
                                        [](Env &e) { R::give(e, 1, flask::kLent, true); }};
  const auto with = [](const Action<Env> &of, const Action<Env> &instead) {
    auto changed = rows<Home>();
    for (auto &row : changed)
      for (auto &action : row.actions)
        if (action == &of)
          action = &instead;
    checker::Tables<FlaskPlus> tables;
    tables.home = decltype(tables.home)(changed);
    return tables;
  };
  expect_violated<FlaskPlus>(cores(3), {}, with(R::serve_one, lend_owned), "stale data");
  expect_violated<FlaskPlus>(cores(3), {}, with(R::serve_last, lend_last), "stale data");
  expect_violated<FlaskPlus>(with_tokens(cores(3), 4), {}, with(R::serve_one, lend_any),
                             "stale data");
}

// A device that writes what the LLC has while cores have tokens.
TEST(flask_mistakes, a_device_needs_all_tokens_to_write) {
  auto changed = rows<Flask::Home>();
  find(changed, HomeTbe::none, Event::dma_write, "the LLC has all tokens").guards_used = 0;
  checker::Tables<Flask> tables;
  tables.home = decltype(tables.home)(changed);
  expect_violated<Flask>(with_device(cores(2)), one_phase<Flask>(), tables, "data value");
}

// An acknowledgement that is not waited for: a Recall outlives its transaction.
TEST(flask_mistakes, a_recall_must_wait_for_every_answer) {
  auto changed = rows<Flask::Home>();
  find(changed, HomeTbe::recall, Event::progress, "answers are to come").tbes &=
      ~in(HomeTbe::recall).bits;
  checker::Tables<Flask> tables;
  tables.home = decltype(tables.home)(changed);
  expect_violated<Flask>(cores(3), one_phase<Flask>(), tables, "event RecallResp");
}

} // namespace
} // namespace tandem::machine
