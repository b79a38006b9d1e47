// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The readers' side of GCC's global readers/writer lock: one word that every transaction acquires
// and releases, so that one that is to be serial could keep all others out. Nothing here needs it:
// marks (quiescence.h) and the serial word do that without a line that everybody writes. With
// TANDEM_SERIAL_LOCK=readers-writer transactions take it all the same, so that its cost can be
// measured; a writer still comes by the serial word.
//
// Source: the memcached paper (ASPLOS 2014), Figure 10 and the text about it.
#pragma once

#include "runtime/settings/settings.h"

#include <atomic>
#include <cstdint>

namespace tandem::readers_writer {

struct alignas(128) Word {
  std::atomic<std::uint64_t> readers{0};
};
inline constinit Word word;

inline bool in_use() noexcept { return (settings.special & kSpecialReadersWriter) != 0; }

// By a transaction when its mark is out, and before that goes in.
inline void enter() noexcept { word.readers.fetch_add(1, std::memory_order_acquire); }
inline void leave() noexcept { word.readers.fetch_sub(1, std::memory_order_release); }

} // namespace tandem::readers_writer
