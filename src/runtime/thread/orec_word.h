// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ownership records: a word each, and the table of them. algorithms/orec.h says what is in a word.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem {

// An atomic word whose default construction does nothing: a table of a million of them is zero
// pages of the library, not a million constructor calls.
class Orec {
public:
  [[nodiscard]] std::uint64_t load(std::memory_order order) const noexcept {
    return std::atomic_ref(word_).load(order);
  }
  void store(std::uint64_t word, std::memory_order order) noexcept {
    std::atomic_ref(word_).store(word, order);
  }
  // On failure `expected` becomes the present word.
  bool acquire(std::uint64_t &expected, std::uint64_t desired) noexcept {
    return std::atomic_ref(word_).compare_exchange_strong(
        expected, desired, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  // Release: what was done under the bits is over.
  void clear(std::uint64_t bits) noexcept {
    std::atomic_ref(word_).fetch_and(~bits, std::memory_order_release);
  }

private:
  mutable std::uint64_t word_; // atomic_ref wants a mutable object, even to load
};

namespace orec {

inline constexpr unsigned kStripeLog2 = 5;     // 32 bytes: half a cache line, as libitm
inline constexpr std::size_t kCount = 1 << 20; // 8 MiB, of which only touched pages exist

extern Orec table[kCount];

inline std::uint64_t stripe_of(std::uintptr_t address) noexcept {
  return (address >> kStripeLog2) & (kCount - 1);
}

} // namespace orec
} // namespace tandem
