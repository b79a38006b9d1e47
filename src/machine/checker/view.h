// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block of the whole system, read-only: what a protocol's own invariants are written against.
#pragma once

#include "machine/checker/state.h"

namespace tandem::machine::checker {

template <class P> class View {
public:
  View(const State<P> &state, unsigned block, unsigned cores, unsigned tokens,
       const typename P::Config &config)
      : s_(state), block_(block), cores_(cores), tokens_(tokens), config_(config) {}

  unsigned cores() const { return cores_; }
  unsigned tokens() const { return tokens_; }
  unsigned block() const { return block_; }
  const typename P::Config &config() const { return config_; }

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
  unsigned block_, cores_, tokens_;
  const typename P::Config &config_;
};

} // namespace tandem::machine::checker
