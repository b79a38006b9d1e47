// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `exec` and `boot` have for harts with time: the options, the cores that they ask for, what
// these have counted.
#pragma once

#include "cli/common/program.h"
#include "machine/platform/elf.h"
#include "machine/platform/machine.h"

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tandem::machine_cli {

struct TimingArguments {
  std::string mode{};
  std::string protocol{};
  std::string configuration{}; // empty: flask, for protocols of a bus metatm
  std::vector<std::string> settings{};
  std::uint64_t seed = 1;
  bool check_values = false;
  bool summary = false;
  std::string timeline{}; // a file
};

void declare_timing(Program &program, TimingArguments &arguments);

// The cores that the options ask for, which drive a machine as long as they are there.
class Timing {
public:
  explicit Timing(machine::Machine &machine);
  ~Timing();
  Timing(const Timing &) = delete;
  Timing &operator=(const Timing &) = delete;

  // From the next instruction on: functional, warming or timing.
  void change_mode(const std::string &mode);
  // Everything that was counted: the run as `tandem machine run` gives it, harts, regions.
  [[nodiscard]] nlohmann::ordered_json json();
  [[nodiscard]] std::uint32_t clock_mhz() const;
  // The same for people, without the regions.
  [[nodiscard]] std::string text();
  // Writes the timeline that the options ask for, if they do.
  Status write_timeline(const machine::Symbols &symbols, const std::string &title);

private:
  friend Result<std::unique_ptr<Timing>> make_timing(const TimingArguments &arguments,
                                                     machine::Machine &machine);
  class Parts; // names of the memory side, which are others' too, stay out of here
  machine::Machine *machine_;
  std::unique_ptr<Parts> parts_;
};

// Null if the options ask for none. It must be gone before the machine is. Error: the user's
// mistake.
Result<std::unique_ptr<Timing>> make_timing(const TimingArguments &arguments,
                                            machine::Machine &machine);

// Calls `run`; a failure of a protocol, which is a bug, ends the process with all that is known.
void with_failures_shown(const std::function<void()> &run);

} // namespace tandem::machine_cli
