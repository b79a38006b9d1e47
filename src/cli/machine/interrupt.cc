// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/interrupt.h"

#include <csignal>
#include <iterator>

namespace tandem::machine_cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

std::atomic<bool> asked_for_end{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal handler");
struct sigaction before[std::size(kSignals)]; // what was there

void put_back() {
  for (std::size_t index = 0; index < std::size(kSignals); ++index)
    ::sigaction(kSignals[index], &before[index], nullptr);
}

void on_signal(int /*signal*/) {
  asked_for_end.store(true, std::memory_order_relaxed);
  put_back(); // the next one ends the program, as it would have before
}

} // namespace

Interrupt::Interrupt() {
  asked_for_end.store(false, std::memory_order_relaxed);
  for (std::size_t index = 0; index < std::size(kSignals); ++index) {
    struct sigaction action{};
    action.sa_handler = on_signal;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(kSignals[index], &action, &before[index]);
  }
}
Interrupt::~Interrupt() { put_back(); }

bool Interrupt::asked() const { return asked_for_end.load(std::memory_order_relaxed); }
const std::atomic<bool> &Interrupt::flag() const { return asked_for_end; }

} // namespace tandem::machine_cli
