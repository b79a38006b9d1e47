// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/proxy/futexes.h"

#include <algorithm>

namespace tandem::machine::proxy {

void Futexes::wait(Thread &thread, std::uint64_t address, std::uint32_t bits, Cycle deadline) {
  thread.futex = address;
  thread.futex_bits = bits;
  queues_[address].push_back(&thread);
  threads_->block(thread, WaitKind::futex, deadline, deadline == kNever);
}

std::uint64_t Futexes::wake(std::uint64_t address, std::uint64_t count, std::uint32_t bits) {
  const auto found = queues_.find(address);
  if (found == queues_.end())
    return 0;
  std::deque<Thread *> &queue = found->second;
  std::uint64_t woken = 0;
  for (auto at = queue.begin(); at != queue.end() && woken < count;) {
    Thread &thread = **at;
    if ((thread.futex_bits & bits) == 0) {
      ++at;
      continue;
    }
    at = queue.erase(at);
    ++woken;
    thread.answer(0);
    threads_->wake(thread);
  }
  if (queue.empty())
    queues_.erase(found);
  return woken;
}

std::uint64_t Futexes::requeue(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
  const auto found = queues_.find(from);
  if (found == queues_.end() || from == to)
    return 0;
  std::uint64_t moved = 0;
  while (moved < count && !found->second.empty()) {
    Thread *thread = found->second.front();
    found->second.pop_front();
    thread->futex = to;
    queues_[to].push_back(thread);
    ++moved;
  }
  if (found->second.empty())
    queues_.erase(found);
  return moved;
}

void Futexes::forget(Thread &thread) {
  const auto found = queues_.find(thread.futex);
  if (found == queues_.end())
    return;
  std::erase(found->second, &thread);
  if (found->second.empty())
    queues_.erase(found);
}

} // namespace tandem::machine::proxy
