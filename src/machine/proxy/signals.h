// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals of the process: what is to be done for each, which are pending, the frames that handlers
// run on. For one thread.
//
// Source: Linux 6.1, arch/riscv/kernel/signal.c and uapi/asm/{ucontext,sigcontext}.h: the frame is
// an ABI, which the C library and unwinders read.
#pragma once

#include "machine/proxy/address_space.h"
#include "machine/proxy/threads.h"

#include <array>
#include <cstdint>
#include <optional>

namespace tandem::machine::proxy {

inline constexpr int kSignals = 64;
constexpr std::uint64_t signal_bit(int signal) { return std::uint64_t{1} << (signal - 1); }

// As sigaction() has it on riscv64.
struct SignalAction {
  std::uint64_t handler = 0; // 0 default, 1 ignore
  std::uint64_t flags = 0;
  std::uint64_t mask = 0;
};

// What the handler learns besides the number.
struct SignalInfo {
  int signal = 0;
  int code = 0;              // si_code
  std::uint64_t address = 0; // of a fault
  int sender = 0;            // of kill()
  std::uint64_t value = 0;   // of sigqueue()
};

class Signals {
public:
  // `trampoline`: where the code is that returns from handlers.
  Signals(AddressSpace &space, Threads &threads, std::uint64_t trampoline)
      : space_(&space), threads_(&threads), trampoline_(trampoline) {}

  [[nodiscard]] SignalAction &action(int signal) {
    return actions_[static_cast<std::size_t>(signal - 1)];
  }

  // For the whole process: any thread that does not block it takes it.
  void send_process(const SignalInfo &info);
  void send_thread(Thread &thread, const SignalInfo &info);

  // Whether something would be handled, or end the process, if the thread went on now.
  [[nodiscard]] bool due(const Thread &thread) const;
  // Whether the call that the thread waits in ends because of a signal.
  [[nodiscard]] bool interrupts(const Thread &thread) const { return due(thread); }

  enum class Delivered : std::uint8_t { nothing, handler, fatal };
  // Before the thread, whose registers are in `thread`, goes on: enters the handler of what is due.
  // `fatal` has the signal that ends the process.
  Delivered deliver(Thread &thread, SignalInfo &fatal);
  // The same at once, for a fault of the instruction that the thread is at.
  Delivered force(Thread &thread, const SignalInfo &info, SignalInfo &fatal);
  // rt_sigreturn. False: the frame cannot be read.
  bool leave(Thread &thread);
  // A pending signal of a set is taken away: sigwait.
  std::optional<SignalInfo> take(Thread &thread, std::uint64_t set);

  [[nodiscard]] std::uint64_t pending(const Thread &thread) const {
    return thread.pending | process_pending_;
  }
  // Whether the system call of an interrupted wait is made again after the handler.
  [[nodiscard]] bool restarts(const Thread &thread);

private:
  [[nodiscard]] std::optional<SignalInfo> next(Thread &thread);
  [[nodiscard]] bool ignored(int signal) const;
  bool enter(Thread &thread, const SignalInfo &info);

  AddressSpace *space_;
  Threads *threads_;
  std::uint64_t trampoline_;
  std::array<SignalAction, kSignals> actions_{};
  std::uint64_t process_pending_ = 0;
  std::map<std::pair<int, int>, SignalInfo> infos_; // of (thread or 0, signal) that is pending
};

} // namespace tandem::machine::proxy
