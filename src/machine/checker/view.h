// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block of the whole system, read-only: what a protocol's own invariants are written against.
#pragma once

#include "machine/checker/state.h"

namespace tandem::machine::checker {

template <class P> class View {
public:
  View(const State<P> &state, unsigned block, unsigned tokens, const typename P::Config &config,
       const Options &options)
      : s_(state), block_(block), tokens_(tokens), config_(config), options_(options) {}

  unsigned cores() const { return options_.cores; }
  unsigned tokens() const { return tokens_; }
  unsigned block() const { return block_; }
  const typename P::Config &config() const { return config_; }
  // Whether an entry that should be there can be asked for: none was ever evicted.
  bool complete_directory() const {
    if constexpr (requires { P::Event::dir_evict; })
      return options_.entries == 0 && (options_.never & bit(P::Event::dir_evict)) != 0;
    else
      return false;
  }
  // Whether a copy to write may not have been written: a store-conditional may fail after a miss.
  bool conditional_stores() const { return options_.reservations; }
  // Whether nothing is under way for this block: no message and no transaction.
  bool quiet() const {
    bool quiet =
        static_cast<int>(home().tbe.state) == 0 && static_cast<int>(memory().tbe.state) == 0;
    for (unsigned c = 0; c < cores(); ++c)
      quiet = quiet && static_cast<int>(core(c).tbe.state) == 0;
    each_message([&quiet](const Message &) { quiet = false; });
    return quiet;
  }

  const Part<CoreOf<P>> &core(unsigned c) const { return s_.blocks[block_].cores[c]; }
  const HomePart<HomeOf<P>> &home() const { return s_.blocks[block_].home; }
  const Part<MemoryOf<P>> &memory() const { return s_.blocks[block_].memory; }
  const AgentOf<CoreOf<P>> &agent(unsigned c) const { return s_.agents[c]; }
  const AgentOf<HomeOf<P>> &home_agent() const { return s_.home_agent; }
  const AgentOf<MemoryOf<P>> &memory_agent() const { return s_.memory_agent; }

  // Of this block, in flight.
  template <class F> void each_message(F &&visit) const {
    for (std::uint32_t i = 0; i < s_.in_flight; ++i)
      if (s_.messages[i].block == block_)
        visit(s_.messages[i]);
  }

private:
  const State<P> &s_;
  unsigned block_, tokens_;
  const typename P::Config &config_;
  const Options &options_;
};

} // namespace tandem::machine::checker
