// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact set of blocks: the oracle beside a filter, and the ideal filter of experiments. Its
// insertions and erasures CHECK that the caller keeps the rule of every filter here: insert what is
// no member, erase what is one.
#pragma once

#include "base/check.h"

#include <cstddef>
#include <cstdint>
#include <unordered_set>

namespace tandem::machine::filter {

class ExactSet {
public:
  [[nodiscard]] bool contains(std::uint64_t block) const { return blocks_.contains(block); }
  void insert(std::uint64_t block) {
    CHECK(blocks_.insert(block).second, "block {:#x} is in the filter already", block);
  }
  void erase(std::uint64_t block) {
    CHECK(blocks_.erase(block) == 1, "block {:#x} is not in the filter", block);
  }
  [[nodiscard]] std::size_t size() const { return blocks_.size(); }
  [[nodiscard]] auto begin() const { return blocks_.begin(); }
  [[nodiscard]] auto end() const { return blocks_.end(); }

private:
  std::unordered_set<std::uint64_t> blocks_;
};

} // namespace tandem::machine::filter
