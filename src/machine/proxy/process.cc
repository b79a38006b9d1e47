// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/proxy/process.h"

#include "machine/platform/map.h"

namespace tandem::machine::proxy {

Result<std::unique_ptr<Process>> Process::make(const ProcessOptions &options,
                                               const ElfFile &program,
                                               std::function<void(const std::string &)> note) {
  CHECK(options.harts >= 1 && options.harts <= map::kHartsMaximum);
  std::unique_ptr<Process> process(new Process());
  Result<std::unique_ptr<Memory>> memory = Memory::create(map::kMemory, options.memory);
  if (!memory)
    return memory.error();
  process->memory_ = std::move(memory).value();
  process->bus_ = std::make_unique<Bus>(*process->memory_);
  process->harts_ =
      std::make_unique<Harts>(*process->bus_, process->clock_, HartOptions{.count = options.harts});
  process->kernel_ =
      std::make_unique<Kernel>(*process->memory_, *process->harts_, options.kernel, std::move(note),
                               [machine = process.get()] { machine->cores_->request_stop(); });
  process->monitor_ = std::make_unique<Monitor>(
      *process->harts_, *process->kernel_, Kernel::intercepted(), 0,
      [](const Crash &crash) { CHECK(false, "hart {} is in S-mode", crash.hart); });
  process->cores_ =
      std::make_unique<FunctionalCores>(*process->harts_, process->clock_, process->kernel_.get());
  if (Status loaded = load_program(*process->kernel_, program); !loaded)
    return loaded.error();
  return process;
}

std::optional<GuestEnd> Process::guest_end() const {
  const std::optional<ProcessEnd> &end = kernel_->end();
  if (!end)
    return std::nullopt;
  switch (end->kind) {
  case ProcessEnd::Kind::exit:
    return GuestEnd{.status = end->status};
  case ProcessEnd::Kind::no_memory:
    return GuestEnd{.status = kGuestStatus};
  case ProcessEnd::Kind::signal:
    break;
  }
  return GuestEnd{.status = kGuestStatus, .signal = end->signal, .hart = end->hart};
}

std::vector<std::pair<std::string, std::uint64_t>> Process::counts() const {
  std::vector<std::pair<std::string, std::uint64_t>> counts = {
      {"calls", kernel_->calls()},
      {"page_faults", kernel_->faults()},
      {"threads_started", kernel_->started_threads}};
  if (const Driver *driver = cores_->driver())
    for (auto &count : driver->counts())
      counts.push_back(std::move(count));
  return counts;
}

} // namespace tandem::machine::proxy
