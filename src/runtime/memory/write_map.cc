// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/write_map.h"

namespace tandem::memory {
namespace {

constexpr std::uint64_t kFirstIndexSize = 512; // one page

} // namespace

void WriteMap::write_part(std::uintptr_t word, std::uint64_t value, std::uint64_t mask) noexcept {
  for (unsigned half = 0; half < 2; ++half) {
    const auto half_mask = static_cast<std::uint32_t>(mask >> (32 * half));
    const auto half_value = static_cast<std::uint32_t>(value >> (32 * half));
    if (half_mask == ~std::uint32_t{0}) {
      store(reinterpret_cast<std::uint32_t *>(word + 4 * half), half_value);
      continue;
    }
    for (unsigned byte = 0; byte < 4; ++byte)
      if (((half_mask >> (8 * byte)) & 1) != 0)
        store(reinterpret_cast<std::uint8_t *>(word + 4 * half + byte),
              static_cast<std::uint8_t>(half_value >> (8 * byte)));
  }
}

void WriteMap::prepare() noexcept {
  if (index_ == nullptr)
    grow();
}

// The index first: where there is no memory for the entries it is only larger than it has to be.
void WriteMap::grow() noexcept {
  grow_index();
  const std::uint64_t first = bias_ + reinterpret_cast<std::uintptr_t>(begin());
  entries_.reserve();
  bias_ = first - reinterpret_cast<std::uintptr_t>(begin());
  if (quick_limit_ != nullptr)
    allow_quick();
}

void WriteMap::grow_index() noexcept {
  const std::size_t capacity = entries_.full() ? entries_.next_capacity() : entries_.capacity();
  const std::uint64_t old_size = index_ == nullptr ? 0 : index_mask_ + 1;
  std::uint64_t size = old_size == 0 ? kFirstIndexSize : old_size;
  while (size < 2 * capacity)
    size *= 2;
  if (size == old_size)
    return;
  auto *larger = static_cast<std::uint64_t *>(allocate_for_log(size * sizeof *index_));
  if (old_size != 0)
    release_pages(index_, old_size * sizeof *index_);
  index_ = larger;
  index_mask_ = size - 1;
  const std::uint64_t first = bias_ + reinterpret_cast<std::uintptr_t>(begin());
  for (std::size_t position = 0; position < entries_.size(); ++position) {
    std::uint64_t slot = home(entries_[position].word);
    while (index_[slot] != 0)
      slot = (slot + 1) & index_mask_;
    index_[slot] = first + position * sizeof(Entry);
  }
}

void WriteMap::put(std::uintptr_t word, std::uint64_t value, std::uint64_t mask,
                   bool journalled) noexcept {
  if (entries_.full())
    grow();
  if (Entry *entry = find(word)) {
    if (journalled)
      journal_.push({static_cast<std::uint64_t>(entry - begin()), entry->value, entry->mask});
    entry->value = (entry->value & ~mask) | (value & mask);
    entry->mask |= mask;
    return;
  }
  if (journalled)
    journal_.push({entries_.size(), 0, 0});
  std::uint64_t slot = home(word);
  while (is_entry(index_[slot] - bias_))
    slot = (slot + 1) & index_mask_;
  index_[slot] = next_slot();
  entries_.push_unchecked({word, value, mask});
}

void WriteMap::roll_back(std::size_t size) noexcept {
  while (journal_.size() > size) {
    const Change change = journal_.pop();
    Entry &entry = entries_[change.position];
    entry.value = change.value;
    entry.mask = change.mask;
  }
}

} // namespace tandem::memory
