// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The figures that people compare, computed from what a run counted; and what several seeds say
// about one of them.
#pragma once

#include "machine/simulation/simulation.h"

#include <optional>

namespace tandem::machine {

struct Metric {
  std::string name; // of JSON
  std::string label;
  std::string unit; // "" where there is none
  double value = 0;
};

// In the order of display. Metrics that a machine does not have (a filter, a mesh) are left out, so
// runs of one protocol on one machine have the same ones.
std::vector<Metric> metrics(const RunResult &result);

// The names of the metrics that runs of this protocol have, in that order.
std::vector<std::string> metric_names(const ProtocolEntry &protocol);

// The value of a metric of `result`; nothing if it has no such one.
std::optional<double> metric(const RunResult &result, std::string_view name);

struct Estimate {
  double mean = 0;
  // Half of the 95 % confidence interval of the mean (Student's t); nothing for one value.
  std::optional<double> half_width;
};
Estimate estimate(const std::vector<double> &values);

} // namespace tandem::machine
