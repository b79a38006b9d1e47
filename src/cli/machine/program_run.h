// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program of the guest, or Linux and a command, to its end: for `tandem machine run
// --program` and `--boot` (run_program.cc).
#pragma once

#include "base/result.h"
#include "machine/platform/elf.h"
#include "machine/platform/machine.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace tandem::machine_cli {

class ProgramRun {
public:
  // `words`: an ELF file and its arguments. Errors are the user's.
  static Result<std::unique_ptr<ProgramRun>> make(const std::vector<std::string> &words,
                                                  unsigned harts, std::uint64_t seed);
  // The default image's Linux with a command, and disks as --disk says them. Errors are the user's.
  static Result<std::unique_ptr<ProgramRun>> boot(const std::string &command,
                                                  const std::vector<std::string> &disks,
                                                  unsigned harts, std::uint64_t seed);
  virtual ~ProgramRun() = default;

  [[nodiscard]] virtual machine::Machine &machine() = 0;
  [[nodiscard]] virtual const machine::Symbols &symbols() const = 0;
  // Until it ends. An empty text: with status 0, or interrupted; else why not.
  virtual std::string run(const std::atomic<bool> &interrupted) = 0;
};

} // namespace tandem::machine_cli
