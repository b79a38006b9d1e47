// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The answers of the environment in one step. A step that asks q questions is run again for each of
// the 2^q answers; the answers so far are the bits of a number.
#pragma once

#include <array>
#include <cstdint>

#include "machine/checker/options.h"

namespace tandem::machine::checker {

class Choices {
public:
  void begin(std::uint32_t answers) {
    answers_ = answers;
    questions_ = 0;
    filter_ = {};
  }
  // Whether the filter hits a block that is no member: the same within a step.
  bool false_positive(unsigned block) {
    if (filter_[block] == 0)
      filter_[block] = choose() ? 2 : 1;
    return filter_[block] == 2;
  }
  // One of two answers.
  bool choose() { return (answers_ >> questions_++ & 1) != 0; }
  // The answers of the next run, or 0 when this was the last.
  std::uint32_t following() const {
    for (unsigned q = questions_; q-- > 0;)
      if ((answers_ >> q & 1) == 0)
        return (answers_ & ((1U << q) - 1)) | 1U << q;
    return 0;
  }

private:
  std::uint32_t answers_ = 0;
  unsigned questions_ = 0;
  std::array<std::uint8_t, kCheckerBlocks> filter_{}; // 0: not asked
};

} // namespace tandem::machine::checker
