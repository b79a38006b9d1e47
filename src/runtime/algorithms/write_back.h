// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the algorithms that write back at commit share: their own writes, seen by their own reads.
#pragma once

#include "runtime/algorithms/additions.h"
#include "runtime/algorithms/barriers.h"
#include "runtime/memory/cell.h"
#include "runtime/thread/thread.h"

#include <cstdint>

namespace tandem {

// Where the bytes of an aligned access are within their eight-byte word.
template <memory::Word U> struct WordPart {
  explicit WordPart(const U *address) noexcept : word(reinterpret_cast<std::uintptr_t>(address)) {
    if constexpr (sizeof(U) == 8)
      __builtin_assume(word % 8 == 0);
    shift = static_cast<unsigned>(word % 8) * 8;
    word -= word % 8;
    mask = static_cast<std::uint64_t>(static_cast<U>(~U{0})) << shift;
  }

  std::uintptr_t word;
  unsigned shift; // bits
  std::uint64_t mask;
};

// Before the word at `word` gets its entry in the write set.
[[gnu::always_inline]] inline void note_write(Thread &thread, std::uintptr_t word) noexcept {
  thread.quick_end = nullptr;
  thread.written |= written_bit(word);
}

// Remembers a write of an aligned word.
template <memory::Word U> void put(U *address, U value, Thread *thread) noexcept {
  const WordPart<U> part(address);
  if (!thread->additions.empty()) [[unlikely]]
    additions::fold(*thread, part.word);
  note_write(*thread, part.word);
  thread->writes.put(part.word, static_cast<std::uint64_t>(value) << part.shift, part.mask,
                     !thread->checkpoints.empty());
}

// From now on writes may go to the write set quickly, where they may: a transaction that writes
// back is not nested, and runs on the stack that the system gave the thread, so that a frame is
// known by its address. The map itself ends it when it is cleared.
[[gnu::always_inline]] inline void allow_quick_writes(Thread &thread) noexcept {
  if (!maybe_frame(reinterpret_cast<const std::uint64_t *>(thread.jump.stack), &thread))
      [[unlikely]]
    return thread.writes.forbid_quick();
  thread.writes.allow_quick();
}

// Whether a write of *address may go to the write set quickly: that needs no memory and no journal,
// and the address is aligned, not captured and in no frame. One test says the mode, that it is not
// nested, and that there is room.
template <memory::Word U>
[[gnu::always_inline]] inline bool may_put_quickly(const U *address,
                                                   const Thread *thread) noexcept {
  return thread->writes.quick() && !maybe_frame(address, thread) && !maybe_fresh(address, thread);
}

// Remembers a write where may_put_quickly; false, and nothing is done, where it takes probing.
template <memory::Word U>
[[gnu::always_inline]] inline bool put_quickly(U *address, U value, Thread *thread) noexcept {
  const WordPart<U> part(address);
  note_write(*thread, part.word);
  return thread->writes.put_quickly(part.word, static_cast<std::uint64_t>(value) << part.shift,
                                    part.mask);
}

// Whether `value`, from memory, is what the transaction sees: it has not written there. True also
// where it has written all of the access; then `value` becomes what it wrote. False: overlay knows.
template <memory::Word U>
[[gnu::always_inline]] inline bool own_quickly(const U *address, U &value, bool &own,
                                               Thread *thread) noexcept {
  const WordPart<U> part(address);
  const memory::WriteMap::Entry *entry = nullptr;
  switch (thread->writes.find_quickly(part.word, entry)) {
  case memory::WriteMap::Found::no:
    return true;
  case memory::WriteMap::Found::perhaps:
    return false;
  case memory::WriteMap::Found::yes:
    break;
  }
  // Only other bytes of the word. An addition that waits for it would be the mask 0.
  if ((entry->mask & part.mask) == 0)
    return entry->mask != 0;
  if ((entry->mask & part.mask) != part.mask)
    return false;
  value = static_cast<U>(entry->value >> part.shift);
  own = true;
  return true;
}

// The value of *address as the transaction sees it: its own writes over what `from_memory` says,
// which is only asked where they do not cover the access. The write set is not empty.
template <memory::Word U, class FromMemory>
U overlay(const U *address, Thread *thread, FromMemory from_memory) noexcept {
  const WordPart<U> part(address);
  const memory::WriteMap::Entry *entry = thread->writes.find(part.word);
  if (entry != nullptr && additions::waits(*thread, *entry)) [[unlikely]] {
    additions::fold(*thread, part.word);
    entry = thread->writes.find(part.word);
  }
  if (entry == nullptr || (entry->mask & part.mask) == 0)
    return from_memory();
  const auto written = static_cast<U>(entry->value >> part.shift);
  if ((entry->mask & part.mask) == part.mask)
    return written;
  const auto which = static_cast<U>(entry->mask >> part.shift);
  return static_cast<U>((written & which) | (from_memory() & static_cast<U>(~which)));
}

} // namespace tandem
