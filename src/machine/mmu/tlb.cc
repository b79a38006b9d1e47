// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/mmu/tlb.h"

#include <algorithm>

namespace tandem::machine {

std::uint64_t AddressSpaces::slot(std::uint64_t satp, bool &flush) {
  const auto found = std::ranges::find(satps_, satp);
  if (found != satps_.end())
    return static_cast<std::uint64_t>(found - satps_.begin());
  if (satps_.size() == context::kSpaces) {
    satps_.clear();
    flush = true;
  }
  satps_.push_back(satp);
  return satps_.size() - 1;
}

std::uint64_t AddressSpaces::with_asid(std::uint16_t asid) const {
  std::uint64_t slots = 0;
  for (std::size_t slot = 0; slot < satps_.size(); ++slot)
    if (satp::asid(satps_[slot]) == asid)
      slots |= std::uint64_t{1} << slot;
  return slots;
}

bool fence_covers(std::uint64_t start, std::uint64_t size, std::uint64_t address, unsigned level) {
  const std::uint64_t bytes = kPageBytes << (9 * level);
  const std::uint64_t first = address & ~(bytes - 1);
  const std::uint64_t last = first + (bytes - 1);
  const std::uint64_t end = size - 1 > ~start ? ~std::uint64_t{0} : start + (size - 1); // inclusive
  return size != 0 && first <= end && start <= last;
}

void Tlb::flush() {
  entries_.fill({});
  store_tags_.fill(kNoTag);
  large_.clear();
}

void Tlb::flush(std::uint64_t start, std::uint64_t size, std::uint64_t slots) {
  const auto hit = [&](const TlbEntry &entry, std::uint64_t tag) {
    return tag != kNoTag &&
           (slots >> (tag >> context::kSpaceShift & (context::kSpaces - 1)) & 1) != 0 &&
           fence_covers(start, size, tag & kPageMask, entry.physical & 3);
  };
  const auto look = [&](std::size_t i) {
    TlbEntry &entry = entries_[i];
    if (!hit(entry, entry.read_tag) && !hit(entry, entry.write_tag) && !hit(entry, store_tags_[i]))
      return;
    entry = {};
    store_tags_[i] = kNoTag;
  };
  if (is_small_fence(start, size) && !large_.near(start, size)) {
    for (std::uint64_t page = start >> kPageShift; page <= (start + size - 1) >> kPageShift; ++page)
      look(page & (kEntries - 1));
    return;
  }
  for (std::size_t i = 0; i < kEntries; ++i)
    look(i);
}

void Tlb::withdraw_write(std::uint64_t physical_page) {
  for (TlbEntry &entry : entries_)
    if ((entry.physical & kPageMask) == physical_page)
      entry.write_tag = kNoTag;
}

} // namespace tandem::machine
