// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Message sequence charts as text: one column for each controller, time downwards.
#pragma once

#include <string>
#include <vector>

namespace tandem::machine::checker {

class Chart {
public:
  explicit Chart(std::vector<std::string> columns);

  // A message that is taken from the network now; both are columns.
  void arrow(std::size_t from, std::size_t to, const std::string &label);
  // What a controller is or does now, in its column; the rest of the line is free.
  void note(std::size_t column, const std::string &text);
  // A line across the chart.
  void text(const std::string &line);

  const std::string &str() const { return out_; }

private:
  std::string lifelines() const;
  void line(std::string text);

  std::vector<std::string> columns_;
  std::string out_;
};

} // namespace tandem::machine::checker
