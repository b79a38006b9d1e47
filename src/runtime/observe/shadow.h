// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shadow memory: for each aligned 8-byte word of the process, which object it belongs to and who
// touched it last. Two levels of tables, filled on demand and never given back.
//
// All fields are relaxed atomics: two threads that touch one word at one moment may lose one of
// their records, as a sampling recorder may. What is recorded is true.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::observe {

// Who touched a word: bits 0-7 which bytes, 8 writes, 9 not covered by the section's effects,
// 10 early (no other thread had been started), 11-24 thread, 25-37 section (0: none), 38-63 site.
class Record {
public:
  Record() = default;
  explicit Record(std::uint64_t bits) : bits_(bits) {}
  Record(std::uint32_t bytes, bool writes, bool uncovered, bool early, std::uint32_t thread,
         std::uint32_t section, std::uint32_t site)
      : bits_(bytes | std::uint64_t{writes} << 8 | std::uint64_t{uncovered} << 9 |
              std::uint64_t{early} << 10 | std::uint64_t{thread} << 11 |
              std::uint64_t{section} << 25 | std::uint64_t{site} << 38) {}

  [[nodiscard]] std::uint64_t bits() const { return bits_; }
  [[nodiscard]] std::uint32_t bytes() const { return bits_ & 0xffU; }
  [[nodiscard]] bool writes() const { return (bits_ >> 8 & 1) != 0; }
  [[nodiscard]] bool uncovered() const { return (bits_ >> 9 & 1) != 0; }
  [[nodiscard]] bool early() const { return (bits_ >> 10 & 1) != 0; }
  [[nodiscard]] std::uint32_t thread() const { return bits_ >> 11 & kMostThreads; }
  [[nodiscard]] std::uint32_t section() const { return bits_ >> 25 & kMostSections; }
  [[nodiscard]] std::uint32_t site() const { return static_cast<std::uint32_t>(bits_ >> 38); }
  // Same in all but the bytes and the site.
  [[nodiscard]] bool same_kind(Record other) const {
    constexpr std::uint64_t kKind = ((std::uint64_t{1} << 38) - 1) & ~std::uint64_t{0xff};
    return ((bits_ ^ other.bits_) & kKind) == 0;
  }

  static constexpr std::uint32_t kMostThreads = (1U << 14) - 1;
  static constexpr std::uint32_t kMostSections = (1U << 13) - 1;
  static constexpr std::uint32_t kMostSites = (1U << 26) - 1;

private:
  std::uint64_t bits_ = 0;
};

struct Word {
  static constexpr std::size_t kRecords = 7;

  // Bits 0-19 the label, 20-63 the object's first word; 0: unknown.
  std::atomic<std::uint64_t> object;
  std::atomic<std::uint64_t> records[kRecords];

  void set_object(std::uint64_t begin, std::uint32_t label) {
    object.store((begin >> 3) << 20 | label, std::memory_order_relaxed);
  }
  void clear_records() {
    for (std::atomic<std::uint64_t> &record : records)
      if (record.load(std::memory_order_relaxed) != 0)
        record.store(0, std::memory_order_relaxed);
  }
};
static_assert(sizeof(Word) == 64);

inline constexpr std::uint64_t kMostAddress = std::uint64_t{1} << 47;
inline constexpr std::uint32_t kMostLabel = (1U << 20) - 1;

// The word that `address` (below kMostAddress) lies in.
Word &word_at(std::uint64_t address);
// Forgets all of [begin, end).
void forget(std::uint64_t begin, std::uint64_t end);

} // namespace tandem::observe
