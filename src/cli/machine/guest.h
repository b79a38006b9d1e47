// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `boot` and `exec` share: options that a machine is watched with, and the run itself.
#pragma once

#include "base/result.h"
#include "cli/common/program.h"
#include "machine/platform/elf.h"
#include "machine/platform/machine.h"
#include "machine/run/session.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tandem::machine_cli {

struct WatchOptions {
  std::string limit{};
  std::string json{};
  std::string statistics{};       // a file
  std::string statistics_every{}; // instructions
  std::string hash_every{};
  std::string hashes{};
  std::string trace{};
  std::string trace_from{};
  std::string trace_count{};
  std::uint16_t gdb = 0;
  std::uint64_t seed = 1;
};

// The options of WatchOptions.
void declare_watching(Program &program, WatchOptions &options);

// Numbers in place of texts, and files that can be written. Error: the user's mistake.
struct Watching {
  std::uint64_t limit = machine::Session::kNoLimit; // instructions
  std::uint64_t statistics_every = 0;               // 0: no statistics
  std::uint64_t hash_every = 0;                     // 0: no hashes
  std::uint64_t trace_from = 0;
  std::uint64_t trace_count = machine::Session::kNoLimit;
};
Result<Watching> check_watching(const WatchOptions &options);

// Everything that is watched during a run; what it writes is complete when finish() was called.
class Watch {
public:
  // `name` is the program's, for messages. All outlive it.
  Watch(machine::Machine &machine, const machine::Symbols &symbols, const WatchOptions &options,
        const Watching &watching, std::string name);
  ~Watch();
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;

  // Runs to the end, with trace or debugger if there is one. Error: a port that is taken, a trace
  // that cannot be written.
  Result<machine::Session::Stop> run(machine::Session &session);
  // Writes files. Error: one that could not be written.
  Status finish();
  // Instructions, cycles, seconds of the host, counts.
  [[nodiscard]] nlohmann::ordered_json summary() const;

private:
  class Files;
  Result<machine::Session::Stop> run_somehow(machine::Session &session);
  machine::Machine *machine_;
  const machine::Symbols *symbols_;
  const WatchOptions *options_;
  const Watching *watching_;
  std::string name_;
  std::unique_ptr<Files> files_;
  double host_seconds_ = 0;
};

} // namespace tandem::machine_cli
