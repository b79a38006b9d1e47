// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The writes that a transaction has not made yet: by aligned eight-byte word, with a mask of the
// bytes that were written. A hash index with linear probing finds a word in constant time whatever
// the number of writes.
//
// Invariants: entries are in the order of their first write. The index has room for 2^n words, at
// least twice the entries' capacity. A slot of the index says that an entry may be there by holding
// its address + bias; bias grows by the size of the entries when the map is cleared, so that what
// older transactions left, and 0, gives addresses below the first entry (as signed numbers: the sum
// of an address and of all that was ever written stays below 2^63), and clearing touches no slot.
//
// Closed nesting: with journalling on, every change remembers what the entry was before, and
// roll_back restores it. An entry whose mask is 0 writes nothing.
#pragma once

#include "runtime/memory/cell.h"
#include "runtime/memory/log.h"
#include "runtime/processor.h"

#include <cstdint>

namespace tandem::memory {

// prepare() must have been called once before anything but empty, size and clear.
class WriteMap {
public:
  struct Entry {
    std::uintptr_t word; // address, a multiple of 8
    std::uint64_t value; // bytes outside the mask are undefined
    std::uint64_t mask;  // 0xff for each byte that was written
  };

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] Entry *begin() noexcept { return entries_.begin(); }
  [[nodiscard]] Entry *end() noexcept { return entries_.end(); }

  // The entry of the word at `word`; null if there is none.
  [[nodiscard]] Entry *find(std::uintptr_t word) noexcept {
    for (std::uint64_t slot = home(word);; slot = (slot + 1) & index_mask_) {
      const std::uint64_t place = index_[slot] - bias_;
      if (!is_entry(place))
        return nullptr;
      if (at(place)->word == word) [[likely]]
        return at(place);
    }
  }

  enum class Found : std::uint8_t { no, yes, perhaps };
  // The same without probing. yes: `entry` is it.
  [[gnu::always_inline]] Found find_quickly(std::uintptr_t word, const Entry *&entry) noexcept {
    const std::uint64_t place = index_[home(word)] - bias_;
    if (!is_entry(place))
      return Found::no;
    entry = at(place);
    return entry->word == word ? Found::yes : Found::perhaps;
  }

  // put_quickly and add_quickly may add entries from now on, until clear() or forbid_quick().
  [[gnu::always_inline]] void allow_quick() noexcept { quick_limit_ = entries_.limit(); }
  void forbid_quick() noexcept { quick_limit_ = nullptr; }
  // Whether they may, and there is room for one more.
  [[nodiscard]] bool quick() const noexcept { return entries_.end() < quick_limit_; }

  // Writes the bytes of `mask` of the word at `word`, where that takes no probing, and the word's
  // entry does not have the mask 0. The map is quick().
  [[gnu::always_inline]] bool put_quickly(std::uintptr_t word, std::uint64_t value,
                                          std::uint64_t mask) noexcept {
    std::uint64_t &slot = index_[home(word)];
    const std::uint64_t place = slot - bias_;
    if (is_entry(place)) {
      Entry &entry = *at(place);
      if (entry.word != word || entry.mask == 0) [[unlikely]]
        return false;
      entry.value = (entry.value & ~mask) | (value & mask);
      entry.mask |= mask;
      return true;
    }
    slot = next_slot();
    entries_.push_unchecked({word, value, mask});
    return true;
  }

  enum class Added : std::uint8_t { no, to_own, to_memory };
  // Adds `by` to the bytes of `mask` of the word at `word`, with the same conditions: to what was
  // written there, or else to `value`, which memory has. Both are in their place within the word.
  [[gnu::always_inline]] Added add_quickly(std::uintptr_t word, std::uint64_t by,
                                           std::uint64_t value, std::uint64_t mask) noexcept {
    std::uint64_t &slot = index_[home(word)];
    const std::uint64_t place = slot - bias_;
    if (is_entry(place)) {
      Entry &entry = *at(place);
      if (entry.word != word || (entry.mask & mask) != mask) [[unlikely]]
        return Added::no;
      entry.value = (entry.value & ~mask) | ((entry.value + by) & mask);
      return Added::to_own;
    }
    slot = next_slot();
    entries_.push_unchecked({word, value + by, mask});
    return Added::to_memory;
  }

  // The same in all cases; `journalled`: what was before is remembered.
  void put(std::uintptr_t word, std::uint64_t value, std::uint64_t mask, bool journalled) noexcept;

  // Makes an entry with the mask 0, which writes nothing, and a value for whoever finds it. The
  // word has none yet.
  void note(std::uintptr_t word, std::uint64_t value) noexcept { put(word, value, 0, false); }

  // Before the first use.
  void prepare() noexcept;
  void clear() noexcept {
    bias_ += bytes();
    entries_.clear();
    journal_.clear();
    forbid_quick();
  }
  [[nodiscard]] std::size_t journal_size() const noexcept { return journal_.size(); }
  // Undoes all journalled changes since the journal had `size` entries.
  void roll_back(std::size_t size) noexcept;
  void forget_journal() noexcept { journal_.clear(); }

  // Makes the writes.
  [[gnu::always_inline]] void write_back() noexcept {
    for (const Entry &entry : *this) {
      if (entry.mask == ~std::uint64_t{0}) [[likely]]
        store(reinterpret_cast<std::uint64_t *>(entry.word), entry.value);
      else
        write_part(entry.word, entry.value, entry.mask);
    }
  }

private:
  struct Change {
    std::uint64_t position;
    std::uint64_t value;
    std::uint64_t mask;
  };

  [[nodiscard]] std::uint64_t home(std::uintptr_t word) const noexcept {
    // Fibonacci hashing: the product's upper bits depend on all of the address.
    return (((word >> 3) * 0x9e3779b97f4a7c15U) >> 32) & index_mask_;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return static_cast<std::uint64_t>(reinterpret_cast<const char *>(entries_.end()) -
                                      reinterpret_cast<const char *>(entries_.begin()));
  }
  // What a slot of the index holds, less the bias.
  [[nodiscard]] bool is_entry(std::uint64_t place) const noexcept {
    return static_cast<std::int64_t>(place) >=
           static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(entries_.begin()));
  }
  [[nodiscard]] static Entry *at(std::uint64_t place) noexcept {
    return reinterpret_cast<Entry *>(place);
  }
  // Of the next entry.
  [[nodiscard]] std::uint64_t next_slot() const noexcept {
    return bias_ + reinterpret_cast<std::uintptr_t>(entries_.end());
  }
  void grow() noexcept;
  void grow_index() noexcept;
  // Only the bytes of the mask: the others belong to the program, which may be writing them.
  [[gnu::noinline, TANDEM_PRESERVE_MOST]] static void
  write_part(std::uintptr_t word, std::uint64_t value, std::uint64_t mask) noexcept;

  Log<Entry> entries_;
  const Entry *quick_limit_ = nullptr; // null, or where the entries are full
  std::uint64_t *index_ = nullptr;
  std::uint64_t index_mask_ = 0;
  std::uint64_t bias_ = 1;
  Log<Change> journal_;
};

} // namespace tandem::memory
