// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MOSAIC: tokens and a directory without inclusion. Every miss makes a directory entry, for private
// blocks too; a miss in the directory whose block is not wholly in the LLC asks every core, and so
// reconstructs the entry. No filter. The controllers are FLASK's.
//
// Source: what FLASK (sections I and III.A) says of it. Whether memory is asked together with the
// cores or after them is not public: the option `parallel_memory`. See docs/design/0022-flask.md.
#pragma once

#include "machine/protocol/flask/core.h"
#include "machine/protocol/flask/home.h"
#include "machine/protocol/flask/invariants.h"
#include "machine/protocol/flask/memory.h"

namespace tandem::machine {

struct Mosaic {
  static constexpr const char *kName = "mosaic";
  static constexpr const char *kSummary =
      "tokens; a directory entry for every block, reconstructed by asking all cores";
  static constexpr bool kBus = false, kSymmetric = true;

  using Event = flask::Event;
  static constexpr auto &kEvents = flask::kEvents;
  static constexpr auto &kFlags = flask::kFlags;

  struct Config {
    bool two_phase = true;        // cores say what they hold, and are then told to give it
    bool parallel_memory = false; // memory is asked together with the cores, not after them
    bool transactions = false;    // cores refuse what loses against their hardware transactions
  };
  static constexpr ConfigField<Config> kConfigFields[] = {
      {"two_phase", &Config::two_phase,
       "reconstruction first asks what cores hold, then tells the holders to give it"},
      {"parallel_memory", &Config::parallel_memory,
       "memory is asked together with the cores, not after they have answered"},
      {"transactions", &Config::transactions,
       "cores refuse what loses against their hardware transactions"},
  };

  // As FLASK's.
  static constexpr unsigned tokens(unsigned cores) { return cores; }

  // What the shared controllers ask.
  static constexpr bool kFilter = false, kLends = false, kRefuses = true;
  static constexpr bool kEntriesForPrivate = true;
  static constexpr Event kHomeSpontaneous[] = {Event::dir_evict, Event::llc_evict, Event::dma_read,
                                               Event::dma_write};
  static bool transactions(const Config &config) { return config.transactions; }
  static bool chip_scope(const Config &) { return false; }
  static bool light_put(const Config &) { return false; }
  static bool purges(const Config &) { return false; }
  static bool parallel_memory(const Config &config) { return config.parallel_memory; }
  static bool known_holders(const auto &) { return true; }

  using Core = flask::TokenCore<Mosaic>;
  using Home = flask::TokenHome<Mosaic>;
  using Memory = flask::TokenMemory<Mosaic>;

  // Rows of the home that FLASK does not have.
  template <class Rules> static constexpr auto home_rows() {
    using U = typename Rules::L;
    using T = typename Rules::T;
    using S = Rules;
    constexpr auto when = [](auto... part) { return Rules::Table::when(part...); };
    constexpr auto any = Rules::any;
    // clang-format off
    return flask::rows(
        when(in(U::U), in(T::none), Event::get_s).given(S::llc_all).run(S::begin, S::plan_entry, S::serve_all).next(T::load_served),
        when(in(U::U), in(T::none), Event::get_s).given(S::llc_spare).run(S::begin_seen, S::plan_entry, S::serve_one, S::query_all).next(T::load_served)
            .because("the other holders are counted beside the answer: the entry must know them"),
        when(in(U::U), in(T::none), Event::get_s).given(S::llc_some).run(S::begin_seen, S::plan_entry, S::serve_last, S::query_all).next(T::load_served),
        when(in(U::U), in(T::none), Event::get_s).given(S::parallel, S::two_phase).run(S::begin, S::plan_entry, S::query_all, S::read_memory).next(T::load_query),
        when(in(U::U), in(T::none), Event::get_s).given(S::parallel).run(S::begin, S::plan_entry, S::fwd_s_all, S::read_memory).next(T::load),
        when(in(U::U), in(T::none), Event::get_s).given(S::two_phase).run(S::begin, S::plan_entry, S::query_all, S::advance).next(T::load_query),
        when(in(U::U), in(T::none), Event::get_s).run(S::begin, S::plan_entry, S::fwd_s_all, S::advance).next(T::load),
        when(in(U::U), in(T::none), Event::get_x).given(S::llc_all).run(S::begin, S::plan_entry, S::send_all).next(T::store),
        when(in(U::U), in(T::none), Event::get_x).given(S::parallel, S::two_phase).run(S::begin, S::plan_entry, S::query_all, S::read_memory).next(T::store_query),
        when(in(U::U), in(T::none), Event::get_x).given(S::parallel).run(S::begin, S::plan_entry, S::fwd_x_all, S::read_memory).next(T::store),
        when(in(U::U), in(T::none), Event::get_x).given(S::two_phase).run(S::begin, S::plan_entry, S::query_all, S::advance).next(T::store_query),
        when(in(U::U), in(T::none), Event::get_x).run(S::begin, S::plan_entry, S::fwd_x_all, S::advance).next(T::store),
        when(in(U::U), in(T::none), Event::dma_read).run(S::begin_device, S::fetch_all).next(T::device),
        when(in(U::U), in(T::none), Event::dma_write).run(S::begin_device, S::fetch_all).next(T::device),
        when(any, in(T::load_served), Event::memory_none).run(S::count_answer)
            .because("a core has served the request that memory was asked for as well"),
        when(any, in(T::load_query, T::store_query, T::load_closing), Event::memory_none).run(S::count_answer, S::advance),
        when(any, in(T::load_query), Event::unblock).run(S::note_unblock, S::advance).next(T::load_closing)
            .because("memory has served it before all cores have answered"));
    // clang-format on
  }

  template <class View> static const char *violated(const View &view) {
    if (view.complete_directory() && view.quiet() && view.home().line.state == Home::LineState::U)
      for (unsigned c = 0; c < view.cores(); ++c)
        if (view.core(c).line.tokens != 0)
          return "a core has tokens, no entry was evicted, and there is no entry";
    return flask::violated(view, false, false, view.config().parallel_memory);
  }
};

} // namespace tandem::machine
