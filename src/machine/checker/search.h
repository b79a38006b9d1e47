// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Breadth-first search of every reachable state of a protocol: check<Protocol>(options, config).
//
// What "proved" means: for this many cores and blocks, in every order that the network allows and
// for every eviction, refusal and false positive at any moment,
// - no controller is without a row for what reaches it, and no message goes to nobody;
// - a core that may write is alone, copies that may be read are the last value stored, and that
//   value is always somewhere; the protocol's own invariants hold (P::violated);
// - the filter is never asked to forget what it does not hold, nor to hold something twice;
// - whoever is stalled is woken when it could go on;
// - from every state, the end of all transactions can be reached without another access of a core,
//   and without evictions unless resources are finite. So every request completes under fairness:
//   if a step that is possible again and again is taken some time.
// Progress: memory grows with the number of states; see Options::most_states.
#pragma once

#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "machine/checker/engine.h"
#include "machine/checker/reach.h"
#include "machine/checker/store.h"
#include "machine/checker/trace.h"

namespace tandem::machine::checker {

template <class P> class Search {
public:
  Search(const Options &options, const typename P::Config &config, const Tables<P> &tables)
      : options_(options), tables_(tables.of(config)), engine_(options_, config, tables_),
        packer_(options_, engine_.tokens()) {
    CHECK(options.cores >= 1 && options.cores <= kCheckerCores && options.blocks >= 1 &&
          options.blocks <= kCheckerBlocks);
  }

  Result run() {
    const std::clock_t begin = std::clock();
    enter(engine_.initial(), 0);
    std::uint32_t level_end = store_.size();
    std::uint32_t next = 0;
    for (; next < store_.size() && result_.violation.empty() && !given_up(next); ++next) {
      if (next == level_end) {
        ++result_.depth;
        level_end = store_.size();
      }
      expand(next);
    }
    if (next == store_.size() && result_.violation.empty())
      finish();
    result_.states = store_.size();
    result_.bytes_per_state =
        static_cast<double>(store_.footprint() + reach_.footprint()) / store_.size();
    result_.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    result_.core = engine_.core_coverage;
    result_.home = engine_.home_coverage;
    result_.memory = engine_.memory_coverage;
    return std::move(result_);
  }

private:
  bool given_up(std::uint32_t next) {
    if ((next & ((1U << 17) - 1)) == 0 && next != 0 && options_.progress)
      options_.progress(store_.size(), store_.size() - next);
    return (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed)) ||
           (options_.most_states != 0 && store_.size() > options_.most_states);
  }

  // The number of the state; checks it when it is new.
  std::uint32_t enter(const State<P> &s, std::uint32_t parent) {
    const Store::Bytes packed = packer_.canonical(s, buffer_);
    if (packed.empty()) {
      violated(parent, true, kOverflow);
      return parent;
    }
    const auto [number, is_new] = store_.insert(packed, parent);
    if (is_new) {
      result_.most_messages = std::max(result_.most_messages, s.in_flight);
      if (const char *what = engine_.violated(s); what != nullptr)
        violated(number, false, what);
    }
    return number;
  }

  void expand(std::uint32_t number) {
    packer_.unpack(store_.at(number), from_);
    if (options_.liveness)
      reach_.state(engine_.quiescent(from_));
    moves_.clear();
    engine_.each_move(from_, [this](const Move &move) { moves_.push_back(move); });
    for (Move move : moves_)
      do {
        to_ = from_;
        std::uint32_t choice = 0;
        const Outcome outcome = engine_.run(from_, to_, move, &choice);
        ++result_.steps;
        if (outcome == Outcome::failed)
          return violated(number, true, engine_.failure());
        if (outcome == Outcome::done) {
          const std::uint32_t target = enter(to_, number);
          if (!result_.violation.empty())
            return;
          if (options_.liveness && target != number && engine_.is_progress(move))
            reach_.step(target);
        }
        move.choice = choice;
      } while (move.choice != 0);
  }

  void finish() {
    if (options_.liveness)
      if (const std::uint32_t lost = reach_.first_lost(); lost != Reach::kAll)
        return violated(lost, false,
                        "stuck: from here the transactions in progress can never all end");
    result_.verdict = Verdict::proved;
  }

  void violated(std::uint32_t number, bool in_next_step, std::string what) {
    result_.verdict = Verdict::violated;
    result_.violation = std::move(what);
    std::vector<std::vector<std::uint8_t>> path;
    for (;; number = store_.parent(number)) {
      const Store::Bytes bytes = store_.at(number);
      path.insert(path.begin(), {bytes.begin(), bytes.end()});
      if (number == 0)
        break;
    }
    if (options_.chart)
      result_.chart = Tracer<P>(engine_, packer_).draw(path, in_next_step, result_.violation);
  }

  static constexpr const char *kOverflow = "a number in the state is larger than its field";

  const Options options_;
  const Tables<P> tables_;
  Engine<P> engine_;
  Packer<P> packer_;
  Store store_;
  Reach reach_;
  Result result_;
  State<P> from_, to_;
  std::vector<Move> moves_;
  typename Packer<P>::Buffer buffer_;
};

template <class P>
Result check(const Options &options, const typename P::Config &config = {},
             const Tables<P> &tables = {}) {
  return Search<P>(options, config, tables).run();
}

} // namespace tandem::machine::checker
