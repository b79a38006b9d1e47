// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a hart remembers of translations, as addresses of the host. An accelerator: it has no cost
// in time, and is never asked what the architecture could see but through stale entries, which the
// manual allows until a fence.
//
// A tag is the virtual page's address with the context in bits 11:3; bits 2:0 are 0. The tag that
// an access wants keeps its low address bits that must be 0 for alignment, so that one comparison
// says page, context, permission and alignment. kNoTag equals none.
//
// For one thread.
#pragma once

#include "machine/bus/memory.h"
#include "machine/isa/state.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

namespace tandem::machine {

inline constexpr std::uint64_t kNoTag = ~std::uint64_t{0};
inline constexpr std::uint64_t kPageMask = ~(kPageBytes - 1);

// Context bits of a tag: 8:3 the address space's slot, 9 U, 10 SUM, 11 MXR.
namespace context {
inline constexpr unsigned kSpaceShift = 3;
inline constexpr std::uint64_t kSpaces = 64;
inline constexpr std::uint64_t kUser = 1U << 9;
inline constexpr std::uint64_t kSum = 1U << 10;
inline constexpr std::uint64_t kMxr = 1U << 11;
inline constexpr std::uint64_t kNever = 1; // of no tag: what is looked for with it is not found
static_assert((kSpaces - 1) << kSpaceShift < kUser && kMxr < kPageBytes);
} // namespace context

// Slots for values of satp: a switch of address spaces keeps the entries of the others.
class AddressSpaces {
public:
  // The slot of `satp`; sets `flush` if slots have been given away anew: all tags are void.
  std::uint64_t slot(std::uint64_t satp, bool &flush);
  // The slots that have this ASID, as a set of bits.
  [[nodiscard]] std::uint64_t with_asid(std::uint16_t asid) const;

private:
  std::vector<std::uint64_t> satps_;
};

// Where pages larger than 4 KiB have been used since the last clear(): a fence for a few pages need
// not look at every entry where there are none. May say yes where there are none any more.
class LargeRegions {
public:
  void note(std::uint64_t address, unsigned level) {
    if (level == 1)
      regions_.set(index(address >> kShift));
    else if (level > 1)
      everywhere_ = true;
  }
  // Whether a page that lies partly in [start, start + size) may be one; not for large sizes.
  [[nodiscard]] bool near(std::uint64_t start, std::uint64_t size) const {
    for (std::uint64_t region = start >> kShift; region <= (start + size - 1) >> kShift; ++region)
      if (regions_.test(index(region)))
        return true;
    return everywhere_;
  }
  void clear() {
    regions_.reset();
    everywhere_ = false;
  }

private:
  static constexpr unsigned kShift = 21;
  static constexpr std::size_t kRegions = 1024; // a kernel maps some hundreds
  // Fibonacci hashing: addresses of U and S differ in high bits only.
  static std::size_t index(std::uint64_t region) { return region * 0x9e37'79b9'7f4a'7c15ULL >> 54; }
  static_assert(kRegions == std::size_t{1} << (64 - 54));
  std::bitset<kRegions> regions_;
  bool everywhere_ = false;
};

// A fence of at most so many bytes, which does not wrap, looks at the entries of its pages alone.
inline constexpr std::uint64_t kSmallFence = 16 * kPageBytes;
constexpr bool is_small_fence(std::uint64_t start, std::uint64_t size) {
  return size != 0 && size <= kSmallFence && start <= ~std::uint64_t{0} - size;
}

struct TlbEntry {
  std::uint64_t read_tag = kNoTag;
  std::uint64_t write_tag = kNoTag;
  std::uint64_t addend = 0;   // host address = virtual address + addend
  std::uint64_t physical = 0; // of the page, the level of its leaf in bits 1:0
};

// Translations of data, directly mapped by the page's number.
class Tlb {
public:
  static constexpr std::size_t kEntries = 1024;

  [[nodiscard]] TlbEntry &at(std::uint64_t address) {
    return entries_[address >> kPageShift & (kEntries - 1)];
  }
  // Whether stores of this tag are translated and allowed, also to pages that hold code, for which
  // no entry has a write_tag.
  [[nodiscard]] bool stores(std::uint64_t address, std::uint64_t tag) const {
    return store_tags_[address >> kPageShift & (kEntries - 1)] == tag;
  }
  // After an entry was filled: its tag for stores (kNoTag: none), the level of its leaf.
  void filled(std::uint64_t address, std::uint64_t store_tag, unsigned level) {
    store_tags_[address >> kPageShift & (kEntries - 1)] = store_tag;
    large_.note(address, level);
  }
  void flush();
  // Drops what a fence names: pages (leaves of larger pages whole) and slots (bits).
  void flush(std::uint64_t start, std::uint64_t size, std::uint64_t slots);
  // Nobody may write this physical page through the TLB any more.
  void withdraw_write(std::uint64_t physical_page);

private:
  std::array<TlbEntry, kEntries> entries_{};
  LargeRegions large_;
  std::array<std::uint64_t, kEntries> store_tags_ = [] {
    std::array<std::uint64_t, kEntries> none;
    none.fill(kNoTag);
    return none;
  }();
};

// Whether a fence for [start, start + size) is about the page at `address` whose leaf is of
// `level`.
bool fence_covers(std::uint64_t start, std::uint64_t size, std::uint64_t address, unsigned level);

} // namespace tandem::machine
