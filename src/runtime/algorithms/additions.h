// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Updates that commute: `place += by` where the transaction has no other use for the place. Instead
// of reading and writing it, a transaction remembers the sum of what it adds, and adds that at its
// commit, when nobody else can write there. Nothing is read, so no other transaction that adds to
// the same place makes this one restart.
//
// An access of the transaction to a word that it adds to *folds* the addition: it becomes a read
// and a write like any others, and then the access is as always.
//
// Invariants. An addition that waits is an entry of Thread::additions, at most one for an aligned
// eight-byte word, and the word's entry in Thread::writes has the mask 0 and the addition's
// position as value; so accesses of the algorithms that write back come by it. Its place is neither
// captured nor in an outer frame. None waits while a nested transaction can be cancelled. Under
// `eager` none waits for a place whose orec the transaction holds, and kSignalAdditions is on.
//
// Putting off costs more than a read and a write of a place that nobody else touches, so a thread
// begins to do it when one of its transactions has restarted, and stops after kCommits of those
// that put off, whether their additions were folded or not.
#pragma once

#include "runtime/memory/cell.h"
#include "runtime/memory/write_map.h"
#include "runtime/processor.h"
#include "runtime/thread/thread.h"

#include <cstdint>

namespace tandem::additions {

// Who has met no conflict since then looks again whether there are any left: at worst that loses
// one attempt in so many.
inline constexpr std::uint32_t kCommits = 256;

// Adds `by` to *address, which has any alignment, where thread.puts_off is on; wraps around.
template <memory::Word U> void add_later(U *address, U by, Thread *thread) noexcept;

// Whether an addition waits for the word of `entry`.
inline bool waits(Thread &thread, const memory::WriteMap::Entry &entry) noexcept {
  return entry.mask == 0 && entry.value < thread.additions.size() &&
         (thread.additions[entry.value].cell.address() & ~std::uintptr_t{7}) == entry.word;
}

// The same, folded if one waits: the word at `word`, a multiple of 8; those that share an orec;
// all.
[[gnu::noinline]] void fold(Thread &thread, std::uintptr_t word) noexcept;
[[gnu::noinline]] void fold_stripe(Thread &thread, const Orec &orec) noexcept;
[[gnu::noinline]] void fold_all(Thread &thread) noexcept;

// At the commit of an algorithm that writes back, after its validation, while nobody else writes
// there.
[[gnu::noinline, TANDEM_PRESERVE_MOST]] void apply(Thread &thread) noexcept;

// At the commit of `eager`, before its validation: acquires the orecs, and adds in place, to be
// undone if that fails. Also where all have been folded: forgets their entries.
[[gnu::noinline]] void apply_in_place(Thread &thread) noexcept;

// The transaction begins again, or has committed.
inline void forget(Thread &thread) noexcept { thread.additions.clear(); }
// A conflict has made it begin again.
inline void meet_conflict(Thread &thread) noexcept { thread.puts_off = kCommits; }

} // namespace tandem::additions
