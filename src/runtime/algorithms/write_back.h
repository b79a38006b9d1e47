// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the algorithms that write back at commit share: their own writes, seen by their own reads.
#pragma once

#include "runtime/algorithms/additions.h"
#include "runtime/memory/cell.h"
#include "runtime/thread/thread.h"

#include <cstdint>

namespace tandem {

// Where the bytes of an access are within their aligned eight-byte word.
template <memory::Word U> struct WordPart {
  explicit WordPart(const U *address) noexcept
      : word(reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{7}),
        shift(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) & 7) * 8),
        mask(static_cast<std::uint64_t>(static_cast<U>(~U{0})) << shift) {}

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

// The same where it takes no memory, no probing and no journal; false, and nothing is done, where
// it would.
template <memory::Word U>
[[gnu::always_inline]] inline bool put_quickly(U *address, U value, Thread *thread) noexcept {
  const WordPart<U> part(address);
  note_write(*thread, part.word);
  return thread->checkpoints.empty() &&
         thread->writes.put_quickly(part.word, static_cast<std::uint64_t>(value) << part.shift,
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
