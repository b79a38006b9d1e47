// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine for tests: harts, memory, a console that only writes, an exit device, a program. No
// firmware, no kernel. Three ways to run an ELF:
//
//   user        in U-mode without translation; ecalls are Linux's write and exit, nothing else
//   supervisor  in S-mode from the entry, a0 = hart; ecalls from S are the program's own
//   machine     in machine mode (HartOptions::machine_mode), as riscv-tests want it; it ends by a
//               store to the symbol `tohost`, or `ecall` with a7 = 93 in user mode
//
// Console: a byte stored at 0x1000'0000. Exit: a store of 0x5555 (0) or status << 16 | 0x3333 at
// 0x10'0000. As on QEMU's `virt`.
#pragma once

#include "base/result.h"
#include "machine/cores/functional.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tandem::machine::testing {

enum class Way : std::uint8_t { user, supervisor, machine };

struct BareOptions {
  Way way = Way::supervisor;
  unsigned harts = 1;
  std::uint64_t memory_base = 0x8000'0000;
  std::uint64_t memory_size = std::uint64_t{64} << 20;
};

class BareMachine : public HartEnvironment {
public:
  static Result<std::unique_ptr<BareMachine>> create(const BareOptions &options);
  ~BareMachine() override;

  // The way that suits the ELF at `path`: machine if it has the symbol `tohost`, user if it lies
  // below 2 GiB, else supervisor.
  static Result<BareOptions> options_for(const std::string &path);

  // Loads the ELF's segments, and points every hart to its entry; harts other than 0 are stopped
  // unless in machine mode. Error: no such file, not an RV64 executable, outside of memory.
  Status load(const std::string &path);
  // Words at an address, and hart 0 to it.
  void place(std::uint64_t address, std::span<const std::uint32_t> words);

  // Runs until the program ends, or for so many instructions. The status; none: it has not ended.
  std::optional<int> run(std::uint64_t instructions);

  [[nodiscard]] Harts &harts() { return *harts_; }
  [[nodiscard]] Hart &hart(unsigned index = 0) { return (*harts_)[index]; }
  [[nodiscard]] Memory &memory() { return *memory_; }
  [[nodiscard]] Bus &bus() { return bus_; }
  [[nodiscard]] Clock &clock() { return clock_; }
  [[nodiscard]] FunctionalCores &cores() { return *cores_; }
  [[nodiscard]] const std::string &output() const { return output_; }
  // The words between the symbols `begin_signature` and `end_signature`, a line each; empty
  // without.
  [[nodiscard]] std::string signature() const;

  Action trap(Hart &hart, const Trap &trap) override;

private:
  BareMachine(const BareOptions &options, std::unique_ptr<Memory> memory);
  void ended(int status);

  class Console;
  class Exit;
  BareOptions options_;
  std::unique_ptr<Memory> memory_;
  Bus bus_;
  Clock clock_;
  std::unique_ptr<Console> console_;
  std::unique_ptr<Exit> exit_;
  std::unique_ptr<Harts> harts_;
  std::unique_ptr<FunctionalCores> cores_;
  std::string output_;
  std::optional<int> status_;
  std::map<std::string, std::uint64_t> symbols_;
  std::optional<std::uint64_t> tohost_;
};

} // namespace tandem::machine::testing
