// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of runs as JSON (docs/machine/run.md) and as tables.
#pragma once

#include "cli/common/terminal.h"
#include "machine/simulation/simulation.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tandem::machine_cli {

inline constexpr int kResultVersion = 1;

// One run, all that was counted.
nlohmann::ordered_json to_json(const machine::RunResult &result);

// The whole file: configuration, runs, and the metrics over the runs with their 95 % intervals. It
// is complete when there are `seeds` runs and each of them is.
nlohmann::ordered_json to_json(const machine::Configuration &configuration,
                               const std::vector<machine::RunResult> &results, unsigned seeds);

// CSV (RFC 4180, lines end in a newline): every metric of each run on a line of its own, behind its
// name, value of `first` and seed. `first` is text of CSV already, such as csv_text(protocol).
std::string csv_text(const std::string &text);
std::string csv_metrics(const std::string &first, const std::vector<machine::RunResult> &results);
// The intervals of all runs as CSV: a line for each, with the run's seed, its last access and cycle
// since the measurement began, and every metric in a column.
std::string csv_intervals(const std::vector<machine::RunResult> &results);

// The metrics, one a line, over all runs; then energy by structure, then its sources.
std::string to_text(const std::vector<machine::RunResult> &results, const Terminal &terminal);

// "12.3 ± 0.4"; digits after the magnitude.
std::string shown(double value);
std::string shown(const std::vector<double> &values);

} // namespace tandem::machine_cli
