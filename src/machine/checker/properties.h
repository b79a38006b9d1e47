// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What must hold in every state, whatever the protocol; its own invariants are asked here, too.
#pragma once

#include <cstdint>

#include "machine/checker/room.h"
#include "machine/checker/view.h"

namespace tandem::machine::checker {

// Of one block: its part in each core, the home and memory.
template <class B, class F> void each_part(const Options &options, B &block, F &&visit) {
  for (unsigned c = 0; c < options.cores; ++c)
    visit(block.cores[c]);
  visit(block.home);
  visit(block.memory);
}

// What is wrong with this state, or null.
template <class P>
const char *violated(const Options &options, const State<P> &s, unsigned tokens,
                     const typename P::Config &config) {
  if (const char *what = overfull(options, s); what != nullptr)
    return what;
  for (unsigned b = 0; b < options.blocks; ++b) {
    unsigned readers = 0, writers = 0;
    for (unsigned c = 0; c < options.cores; ++c) {
      const auto &part = s.blocks[b].cores[c];
      if (P::Core::readable(part.line, part.tbe)) {
        ++readers;
        if (part.line.data.value == 0)
          return "data value: a copy that may be read is not the last value stored";
      }
      if (P::Core::writable(part.line, part.tbe))
        ++writers;
    }
    if (writers > 1 || (writers == 1 && readers > 1))
      return "single writer or many readers: a core may write while another may read or write";
    detail::CountFresh fresh;
    each_part(options, s.blocks[b], [&fresh]<class T>(const T &part) { T::fields(part, fresh); });
    for (std::uint32_t i = 0; i < s.in_flight; ++i)
      fresh.fresh += s.messages[i].block == b ? s.messages[i].data.value : 0;
    if (fresh.fresh == 0)
      return "lost data: the last value stored is nowhere any more";
    const char *own = P::violated(View<P>(s, b, tokens, config, options));
    if (own != nullptr)
      return own;
  }
  return nullptr;
}

// No message in flight and no transaction anywhere.
template <class P> bool quiescent(const Options &options, const State<P> &s) {
  if (s.in_flight != 0)
    return false;
  for (unsigned b = 0; b < options.blocks; ++b) {
    for (unsigned c = 0; c < options.cores; ++c)
      if (static_cast<int>(s.blocks[b].cores[c].tbe.state) != 0)
        return false;
    if (static_cast<int>(s.blocks[b].home.tbe.state) != 0 ||
        static_cast<int>(s.blocks[b].memory.tbe.state) != 0)
      return false;
  }
  return true;
}

} // namespace tandem::machine::checker
