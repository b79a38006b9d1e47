// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a machine has done, by intervals, as JSON lines (docs/formats/machine-statistics.md).
#pragma once

#include "machine/platform/machine.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tandem::machine {

class IntervalStatistics {
public:
  // From here on. `every`: instructions of an interval.
  IntervalStatistics(Machine &machine, std::uint64_t every);

  // An interval has ended.
  void add();
  // All lines so far, with the interval that has begun, if it is not empty.
  std::string finish();

private:
  struct Point {
    std::uint64_t instructions;
    Cycle cycles;
    std::vector<std::uint64_t> retired; // by hart
    std::vector<std::pair<std::string, std::uint64_t>> counts;
  };
  [[nodiscard]] Point look() const;

  Machine *machine_;
  Point last_;
  std::string lines_;
};

} // namespace tandem::machine
