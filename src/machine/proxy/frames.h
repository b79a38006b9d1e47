// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pages of main memory, given out and taken back. The order depends on nothing but the calls.
// For one thread.
#pragma once

#include "machine/bus/memory.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tandem::machine::proxy {

class Frames {
public:
  explicit Frames(Memory &memory)
      : memory_(&memory), next_(memory.base()), end_(memory.base() + memory.size()) {}

  // A page of zeros: its physical address; none if memory is full.
  std::optional<std::uint64_t> take() {
    if (!free_.empty()) {
      const std::uint64_t frame = free_.back();
      free_.pop_back();
      static constexpr std::array<std::byte, kPageBytes> kZeros{};
      CHECK(memory_->write(frame, kZeros));
      return frame;
    }
    if (next_ == end_)
      return std::nullopt;
    const std::uint64_t frame = next_;
    next_ += kPageBytes;
    return frame;
  }
  void give(std::uint64_t frame) { free_.push_back(frame); }

  [[nodiscard]] std::uint64_t in_use() const {
    return (next_ - memory_->base()) / kPageBytes - free_.size();
  }
  [[nodiscard]] std::uint64_t total() const { return memory_->size() / kPageBytes; }

private:
  Memory *memory_;
  std::uint64_t next_; // no page from here on was ever given out: all are zero
  std::uint64_t end_;
  std::vector<std::uint64_t> free_;
};

} // namespace tandem::machine::proxy
