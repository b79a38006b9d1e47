// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of the timed system, whatever the protocol: what one is asked for and what it gives.
#pragma once

#include "base/result.h"
#include "machine/configuration/configuration.h"
#include "machine/energy/energy.h"
#include "machine/timed/statistics.h"
#include "machine/traffic/cores.h"
#include "machine/traffic/profile.h"

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tandem::machine {

struct RunRequest {
  Configuration configuration;
  Profile profile;   // of the synthetic traffic, unless there is a trace
  std::string trace; // a file
  Work work;
  std::uint64_t seed = 1;
  bool check_values = false; // every access against the last store
  std::uint64_t every = 0;   // accesses of an interval (RunResult::intervals); 0: none
  // Asked now and then, with accesses done and wanted; false ends the run with what there is.
  std::function<bool(std::uint64_t done, std::uint64_t wanted)> go_on = nullptr;
};

struct MessageCount {
  std::string name;
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;
};

struct RowCount {
  std::string controller;
  std::size_t row = 0;
  std::uint64_t taken = 0;
};

struct RunResult {
  std::string protocol;
  std::string workload;
  std::string family;
  std::string configuration;
  std::uint64_t seed = 0;
  bool complete = false; // false: interrupted; everything is of the part that was measured
  Cycle cycles = 0;
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0; // to data, measured
  double access_time = 0;     // cycles: the mean over data and fetches, hits and misses
  Statistics statistics;
  MeshStatistics network;
  std::uint64_t busiest_link = 0; // flits
  std::uint32_t routers = 0;
  std::uint64_t missed_blocks = 0; // by the private caches, since the start of the run
  std::uint64_t shared_blocks = 0; // of those, by several cores'
  EnergyReport energy;
  double filter_sub_tables = 0; // of a slice's filter at the end, on average
  double filter_members = 0;    // of a slice's filter at the end, on average
  double filter_spilled = 0;    // of those, without a cell
  double filter_expected = 0;   // the share of false positives that the formula gives for that many
  std::vector<MessageCount> messages;
  std::vector<RowCount> rows;      // of all controllers, in the order of the tables
  double host_cpu_s = 0;           // of the measured part and the warm-up, not of the fast-forward
  std::uint64_t host_accesses = 0; // to data in that time
  std::uint64_t memory_bytes = 0;  // resident set of the process, its peak
  // Of RunRequest::every accesses each, one after the other, without rows, `host` figures and the
  // busiest link; what is not a whole one at the end is left out.
  std::vector<RunResult> intervals;
};

struct ProtocolOption {
  std::string name;
  std::string about;
  bool preset = false;
};

struct TestRequest; // tester.h
struct TestResult;

struct ProtocolEntry {
  std::string name;
  std::string summary;
  bool bus = false;
  bool filter = false;
  std::vector<ProtocolOption> options;
  Result<RunResult> (*run)(const RunRequest &) = nullptr;
  Result<TestResult> (*test)(const TestRequest &) = nullptr;
};

// In the order of documentation.
std::span<const ProtocolEntry> protocols();
Result<const ProtocolEntry *> find_protocol(std::string_view name);

// Whether configuration and protocol go together (bus or mesh, options that exist).
Status check_fit(const Configuration &configuration, const ProtocolEntry &protocol);

} // namespace tandem::machine
