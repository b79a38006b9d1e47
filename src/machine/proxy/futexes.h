// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that wait at addresses, first come, first served. For one (host) thread.
//
// Invariant: a thread is in a queue if and only if it waits for that futex.
#pragma once

#include "machine/proxy/threads.h"

#include <cstdint>
#include <deque>
#include <map>

namespace tandem::machine::proxy {

class Futexes {
public:
  explicit Futexes(Threads &threads) : threads_(&threads) {}

  // `thread`, which runs, waits at `address` for one of `bits`; its answer is 0 unless something
  // else ends the wait.
  void wait(Thread &thread, std::uint64_t address, std::uint32_t bits, Cycle deadline);
  // Wakes at most `count` that wait for one of `bits`. Result: how many.
  std::uint64_t wake(std::uint64_t address, std::uint64_t count, std::uint32_t bits);
  // Moves at most `count` to another address. Result: how many.
  std::uint64_t requeue(std::uint64_t from, std::uint64_t to, std::uint64_t count);
  // A thread no longer waits: a timeout, a signal.
  void forget(Thread &thread);

private:
  Threads *threads_;
  std::map<std::uint64_t, std::deque<Thread *>> queues_;
};

} // namespace tandem::machine::proxy
