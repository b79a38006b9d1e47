// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/interrupt.h"

#include <csignal>

namespace tandem::machine_cli {
namespace {

std::atomic<bool> asked_for_end{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal handler");

void on_signal(int signal) {
  asked_for_end.store(true, std::memory_order_relaxed);
  std::signal(signal, SIG_DFL); // the next one ends the program
}

void handle(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action{};
    action.sa_handler = handler;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

} // namespace

Interrupt::Interrupt() {
  asked_for_end.store(false, std::memory_order_relaxed);
  handle(on_signal);
}
Interrupt::~Interrupt() { handle(SIG_DFL); }

bool Interrupt::asked() const { return asked_for_end.load(std::memory_order_relaxed); }
const std::atomic<bool> &Interrupt::flag() const { return asked_for_end; }

} // namespace tandem::machine_cli
