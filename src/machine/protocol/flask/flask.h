// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FLASK: tokens for correctness, a directory for actively shared blocks only, a filter for the
// rest.
//
// Two protocols from the same rows:
//   Flask      what the paper's text says, by default; where it is silent, the plainest reading
//   FlaskPlus  our improvements on it (flask_plus.h)
//
// Source: Menezo, Puente, Gregorio: FLASK coherence (the paper, sections III and IV). Its gaps and
// contradictions, and what is done here: docs/design/0022-flask.md,
// what the text says and what was chosen: docs/design/0090-flask-as-written.md.
#pragma once

#include "machine/protocol/flask/core.h"
#include "machine/protocol/flask/home.h"
#include "machine/protocol/flask/invariants.h"
#include "machine/protocol/flask/memory.h"

namespace tandem::machine {

namespace flask {

// What both protocols are: `Self` is the protocol, `Presets` what its options are by default.
template <class Self, class Presets> struct Variant {
  static constexpr bool kBus = false, kSymmetric = true;

  using Event = flask::Event;
  static constexpr auto &kEvents = flask::kEvents;
  static constexpr auto &kFlags = flask::kFlags;

  struct Config {
    // Reconstruction: cores say what they hold, and are then told to give it; else they give it.
    bool two_phase = Presets::kTwoPhase;
    // The filter's members are the blocks on the chip, not those in private caches.
    bool chip_scope = false;
    // A block that was shared is lent by the LLC, not given away, to readers.
    bool shared_stays = Presets::kSharedStays;
    // A token that the LLC lent comes back without data. Needs more tokens than cores.
    bool light_put = Presets::kSpareToken;
    // A full counter of the filter evicts its blocks from the private caches.
    bool purge = Presets::kPurge;
    // A row of the filter has several counts of members that found no cell, not one.
    bool spill_groups = Presets::kSpillGroups;
    // Cores refuse what loses against their hardware transactions.
    bool transactions = false;
  };
  static constexpr ConfigField<Config> kTwoPhase{
      "two_phase", &Config::two_phase,
      "reconstruction first asks what cores hold, then tells the holders to give it"};
  static constexpr ConfigField<Config> kChipScope{
      "chip_scope", &Config::chip_scope,
      "the filter holds the blocks that are on the chip, not those in private caches"};
  static constexpr ConfigField<Config> kSharedStays{
      "shared_stays", &Config::shared_stays,
      "the LLC keeps all tokens but one of a block that was shared when it last left the cores"};
  static constexpr ConfigField<Config> kLightPut{
      "light_put", &Config::light_put,
      "a core gives a token that the LLC lent back without data (with more tokens than cores)"};
  static constexpr ConfigField<Config> kPurge{
      "purge", &Config::purge,
      "a counter of the filter that is full evicts its blocks from the private caches"};
  static constexpr ConfigField<Config> kSpillGroups{
      "spill_groups", &Config::spill_groups,
      "a row of the filter counts the members without a cell in as many groups as it has room for"};

  static constexpr ConfigField<Config> kTransactions{
      "transactions", &Config::transactions,
      "cores refuse what loses against their hardware transactions"};

  // Tokens of a block in the timed system.
  static constexpr unsigned tokens(unsigned cores) {
    return Presets::kSpareToken ? cores + 1 : cores;
  }

  // What the shared controllers ask.
  static constexpr bool kFilter = true, kLends = Presets::kSpareToken;
  // A lent token comes back without data, which a refused writer would have to keep.
  static constexpr bool kRefuses = !kLends;
  static constexpr bool kEntriesForPrivate = false;
  static constexpr Event kHomeSpontaneous[] = {
      Event::dir_evict, Event::llc_evict, Event::filter_full, Event::dma_read, Event::dma_write};
  static bool transactions(const Config &config) { return config.transactions; }
  static bool chip_scope(const Config &config) { return config.chip_scope; }
  static bool shared_stays(const Config &config) { return config.shared_stays; }
  static bool light_put(const Config &config) { return kLends && config.light_put; }
  static bool purges(const Config &config) { return config.purge; }
  static bool spill_groups(const Config &config) { return config.spill_groups; }
  static bool parallel_memory(const Config &) { return false; }
  static bool known_holders(const auto &tbe) { return !tbe.sharers.empty(); }

  using Core = flask::TokenCore<Self>;
  using Home = flask::TokenHome<Self>;
  using Memory = flask::TokenMemory<Self>;

  // Rows of the home that MOSAIC does not have.
  template <class Rules> static constexpr auto home_rows() {
    using U = typename Rules::L;
    using T = typename Rules::T;
    using S = Rules;
    constexpr auto when = [](auto... part) { return Rules::Table::when(part...); };
    constexpr auto any = Rules::any;
    // clang-format off
    return flask::rows(
        when(in(U::U), in(T::none), Event::get_s).given(S::llc_shared).run(S::begin, S::serve_one).next(T::load_served)
            .because("it is read by many: they are served here from now on, without entries"),
        when(in(U::U), in(T::none), Event::get_s).given(S::llc_all).run(S::begin, S::serve_all).next(T::load_served)
            .because("nobody else has it: it is not actively shared, and needs no entry"),
        when(in(U::U), in(T::none), Event::get_s).given(S::llc_spare).run(S::begin_seen, S::serve_one).next(T::load_served),
        when(in(U::U), in(T::none), Event::get_s).given(S::llc_some).run(S::begin_seen, S::serve_last).next(T::load_served),
        when(in(U::U), in(T::none), Event::get_s).given(S::present, S::two_phase).run(S::begin, S::plan_entry, S::query_all, S::advance).next(T::load_query),
        when(in(U::U), in(T::none), Event::get_s).given(S::present).run(S::begin, S::plan_entry, S::fwd_s_all, S::advance).next(T::load),
        when(in(U::U), in(T::none), Event::get_s).run(S::begin, S::read_memory).next(T::load),
        when(in(U::U), in(T::none), Event::get_x).given(S::llc_all).run(S::begin, S::send_all).next(T::store),
        when(in(U::U), in(T::none), Event::get_x).given(S::present, S::two_phase).run(S::begin, S::plan_entry, S::query_all, S::advance).next(T::store_query),
        when(in(U::U), in(T::none), Event::get_x).given(S::present).run(S::begin, S::plan_entry, S::fwd_x_all, S::advance).next(T::store),
        when(in(U::U), in(T::none), Event::get_x).run(S::begin, S::read_memory).next(T::store),

        when(in(U::U), in(T::none), Event::dma_read).given(S::present).run(S::begin_device, S::fetch_all).next(T::device),
        when(in(U::U), in(T::none), Event::dma_read).run(S::begin_device, S::read_memory).next(T::device),
        when(in(U::U), in(T::none), Event::dma_write).given(S::present).run(S::begin_device, S::fetch_all).next(T::device),
        when(in(U::U), in(T::none), Event::dma_write).run(S::begin_device, S::read_memory).next(T::device),

        when(any, in(T::none), Event::filter_full).run(S::purge_all).next(T::purging),
        when(any, in(T::purging), Event::purged).run(S::count_answer, S::advance),
        when(any, in(T::purging), Event::progress).given(S::waiting),
        when(any, in(T::purging), Event::progress).run(S::end).next(T::none));
    // clang-format on
  }

  template <class View> static const char *violated(const View &view) {
    return flask::violated(view, true, view.config().chip_scope, false);
  }
};

struct AsWritten {
  static constexpr bool kTwoPhase = true, kSharedStays = false, kSpareToken = false, kPurge = true,
                        kSpillGroups = false;
};

} // namespace flask

// The tokens of a block are as many as the cores (section III), so nothing can be lent.
struct Flask : flask::Variant<Flask, flask::AsWritten> {
  static constexpr const char *kName = "flask";
  static constexpr const char *kSummary =
      "tokens; directory entries for actively shared blocks only, a filter for the others";
  static constexpr ConfigField<Config> kConfigFields[] = {kTwoPhase, kChipScope,   kSharedStays,
                                                          kPurge,    kSpillGroups, kTransactions};
};

} // namespace tandem::machine
