// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ownership record's word. algorithms/orec.h says what is in it.
#pragma once

#include <atomic>
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

private:
  mutable std::uint64_t word_; // atomic_ref wants a mutable object, even to load
};

} // namespace tandem
