// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A static RV64 Linux program on the proxy kernel, as exec and run have it.
#pragma once

#include "machine/platform/boot.h"
#include "machine/proxy/process.h"
#include "machine/run/outcome.h"
#include "machine/run/session.h"

#include <string>
#include <vector>

namespace tandem::machine_cli {

struct ProcessArguments {
  std::vector<std::string> words{}; // the program and its arguments
  unsigned harts = 4;
  std::uint64_t memory = std::uint64_t{1} << 30; // bytes
  std::uint64_t seed = 1;
  std::vector<std::string> environment{}; // NAME=VALUE, or NAME as it is here
  std::vector<std::string> writable{};    // folders
};

// Where a file of this host is, without links. Error: it is not there.
Result<std::string> absolute(const std::string &path);
Result<machine::proxy::ProcessOptions> process_options(const ProcessArguments &arguments);
// How a session ended, for the user.
machine::RunOutcome outcome_of(machine::proxy::Process &process, const machine::Symbols &symbols,
                               machine::Session::Stop stop);

} // namespace tandem::machine_cli
