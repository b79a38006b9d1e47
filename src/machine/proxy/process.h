// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine for one program: harts, memory and the proxy kernel, no devices. For one thread.
#pragma once

#include "machine/platform/machine.h"
#include "machine/proxy/kernel.h"
#include "machine/proxy/load.h"

#include <memory>

namespace tandem::machine::proxy {

struct ProcessOptions {
  unsigned harts = 1;
  std::uint64_t memory = std::uint64_t{1} << 30; // bytes, a multiple of 4096
  KernelOptions kernel{};
};

class Process final : public Machine {
public:
  // Error: no memory; those of load_program(). `note` as for the kernel.
  static Result<std::unique_ptr<Process>> make(const ProcessOptions &options,
                                               const ElfFile &program,
                                               std::function<void(const std::string &)> note);

  [[nodiscard]] Memory &memory() override { return *memory_; }
  [[nodiscard]] Harts &harts() override { return *harts_; }
  [[nodiscard]] const Clock &clock() const override { return clock_; }
  [[nodiscard]] FunctionalCores &cores() override { return *cores_; }
  [[nodiscard]] Monitor &monitor() override { return *monitor_; }
  [[nodiscard]] std::optional<GuestEnd> guest_end() const override;
  [[nodiscard]] HartsDma &dma() override { return kernel_->dma(); }
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> counts() const override;
  [[nodiscard]] const Kernel &kernel() const { return *kernel_; }
  // The program's memory, also after its end.
  [[nodiscard]] AddressSpace &space() { return kernel_->space(); }

private:
  Process() = default;

  Clock clock_{.now = 0, .cycles_per_tick = 100};
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Bus> bus_;
  std::unique_ptr<Harts> harts_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Monitor> monitor_;
  std::unique_ptr<FunctionalCores> cores_;
};

} // namespace tandem::machine::proxy
