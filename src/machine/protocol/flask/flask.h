// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FLASK: tokens for correctness, a directory for actively shared blocks only, a filter for the
// rest.
//
// Source: Menezo, Puente, Gregorio: FLASK coherence (the paper, sections III and IV). Its gaps and
// contradictions, and what is done here: docs/design/0022-flask.md.
#pragma once

#include "machine/protocol/flask/core.h"
#include "machine/protocol/flask/home.h"
#include "machine/protocol/flask/invariants.h"
#include "machine/protocol/flask/memory.h"

namespace tandem::machine {

struct Flask {
  static constexpr const char *kName = "flask";
  static constexpr const char *kSummary =
      "tokens; directory entries for actively shared blocks only, a filter for the others";
  static constexpr bool kBus = false, kSymmetric = true;

  using Event = flask::Event;
  static constexpr auto &kEvents = flask::kEvents;
  static constexpr auto &kFlags = flask::kFlags;

  struct Config {
    bool two_phase = false;  // reconstruction counts the holders first, then asks them
    bool chip_scope = false; // the filter's members: the blocks on the chip, not in private caches
    bool shared_stays =
        true;              // a block that was shared is lent by the LLC, not given away, to readers
    bool light_put = true; // a token that the LLC lent comes back without data
    bool purge = false;    // a full counter of the filter evicts its blocks from the private caches
  };
  static constexpr ConfigField<Config> kConfigFields[] = {
      {"two_phase", &Config::two_phase,
       "reconstruction first counts the holders, then asks them for tokens"},
      {"chip_scope", &Config::chip_scope,
       "the filter holds the blocks that are on the chip, not those in private caches"},
      {"shared_stays", &Config::shared_stays,
       "the LLC keeps all tokens but one of a block that was shared when it last left the cores"},
      {"light_put", &Config::light_put,
       "a core gives a token that the LLC lent back without data (with more tokens than cores)"},
      {"purge", &Config::purge,
       "a counter of the filter that is full evicts its blocks from the private caches"},
  };

  // In the timed system: one more than the readers can have, so that the LLC keeps one when it
  // lends.
  static constexpr unsigned tokens(unsigned cores) { return cores + 1; }

  // What the shared controllers ask.
  static constexpr bool kFilter = true;
  static constexpr bool kEntriesForPrivate = false;
  static constexpr Event kHomeSpontaneous[] = {
      Event::dir_evict, Event::llc_evict, Event::filter_full, Event::dma_read, Event::dma_write};
  static bool chip_scope(const Config &config) { return config.chip_scope; }
  static bool shared_stays(const Config &config) { return config.shared_stays; }
  static bool light_put(const Config &config) { return config.light_put; }
  static bool purges(const Config &config) { return config.purge; }
  static bool parallel_memory(const Config &) { return false; }
  static bool known_holders(const auto &tbe) { return !tbe.sharers.empty(); }

  using Core = flask::TokenCore<Flask>;
  using Home = flask::TokenHome<Flask>;
  using Memory = flask::TokenMemory<Flask>;

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

} // namespace tandem::machine
