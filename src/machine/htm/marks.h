// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of marks: which bytes of which blocks which transaction has read and written, with
// what the written bytes were before. It alone decides what conflicts are, whatever the caches and
// the protocol have; a block of 64 bytes is the unit of look-up.
//
// Hash table with chains over a pool of entries, an entry for each pair of block and transaction.
// The entries of a transaction are a list of their own, newest first. For one thread; allocates
// only when the pool or the table grows.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tandem::machine {

inline constexpr unsigned kMarkShift = 6;
inline constexpr std::uint64_t kMarkBytes = 64;
// Bit i: byte i of the block.
using ByteMask = std::uint64_t;

// The bytes of an access that does not leave its block.
constexpr ByteMask bytes_of(std::uint64_t address, unsigned size) {
  const ByteMask low = size >= 64 ? ~ByteMask{0} : (ByteMask{1} << size) - 1;
  return low << (address % kMarkBytes);
}

inline void copy_bytes(std::byte *to, const std::byte *from, ByteMask bytes) {
  while (bytes != 0) {
    const int first = std::countr_zero(bytes);
    const int count = std::countr_one(bytes >> first);
    std::memcpy(to + first, from + first, static_cast<std::size_t>(count));
    bytes &= first + count < 64 ? ~ByteMask{0} << (first + count) : 0;
  }
}

class Marks {
public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Entry {
    std::uint64_t block = 0; // physical address over 64
    std::uint32_t owner = 0; // the transaction's slot
    std::uint32_t next = kNone;
    std::uint32_t next_of_owner = kNone;
    ByteMask read = 0;
    ByteMask write = 0;
    ByteMask released_read = 0; // had been in the sets before an early release
    ByteMask released_write = 0;
    std::array<std::byte, kMarkBytes> old{}; // of the bytes in `write`
  };

  Marks() : heads_(1024, kNone) {}

  [[nodiscard]] Entry &operator[](std::uint32_t index) { return pool_[index]; }
  [[nodiscard]] const Entry &operator[](std::uint32_t index) const { return pool_[index]; }
  [[nodiscard]] std::size_t live() const { return live_; }

  // The first entry of the block's chain, which may be another block's: compare.
  [[nodiscard]] std::uint32_t head(std::uint64_t block) const { return heads_[slot(block)]; }
  // The entry of that owner; kNone.
  [[nodiscard]] std::uint32_t find(std::uint64_t block, std::uint32_t owner) const {
    std::uint32_t at = head(block);
    while (at != kNone && (pool_[at].block != block || pool_[at].owner != owner))
      at = pool_[at].next;
    return at;
  }
  // A new entry without marks; the owner's list begins at `first_of_owner`.
  std::uint32_t add(std::uint64_t block, std::uint32_t owner, std::uint32_t &first_of_owner) {
    if (live_ >= heads_.size())
      grow();
    const std::uint32_t index = take();
    Entry &entry = pool_[index];
    entry.block = block;
    entry.owner = owner;
    entry.read = entry.write = entry.released_read = entry.released_write = 0;
    entry.next = heads_[slot(block)];
    heads_[slot(block)] = index;
    entry.next_of_owner = first_of_owner;
    first_of_owner = index;
    ++live_;
    return index;
  }
  // All entries of a list are free again.
  void drop(std::uint32_t first_of_owner) {
    while (first_of_owner != kNone) {
      const std::uint32_t next = pool_[first_of_owner].next_of_owner;
      unlink(first_of_owner);
      pool_[first_of_owner].next = free_;
      free_ = first_of_owner;
      --live_;
      first_of_owner = next;
    }
  }

private:
  [[nodiscard]] std::size_t slot(std::uint64_t block) const {
    return (block * 0x9e3779b97f4a7c15U >> 32) & (heads_.size() - 1);
  }
  std::uint32_t take() {
    if (free_ == kNone) {
      pool_.emplace_back();
      return static_cast<std::uint32_t>(pool_.size() - 1);
    }
    const std::uint32_t index = free_;
    free_ = pool_[index].next;
    return index;
  }
  void unlink(std::uint32_t index) {
    std::uint32_t *link = &heads_[slot(pool_[index].block)];
    while (*link != index)
      link = &pool_[*link].next;
    *link = pool_[index].next;
  }
  void grow() {
    const std::vector<std::uint32_t> old = heads_;
    heads_.assign(old.size() * 2, kNone);
    for (std::uint32_t at : old)
      while (at != kNone) {
        const std::uint32_t next = pool_[at].next;
        std::uint32_t &head = heads_[slot(pool_[at].block)];
        pool_[at].next = head;
        head = at;
        at = next;
      }
  }

  std::vector<std::uint32_t> heads_; // a power of two
  std::vector<Entry> pool_;
  std::uint32_t free_ = kNone;
  std::size_t live_ = 0;
};

} // namespace tandem::machine
