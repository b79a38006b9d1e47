// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/locks/counters.h"

#include <new>
#include <sys/mman.h>

namespace tandem::locks {

std::atomic<Thread *> all_threads{nullptr};

namespace {

constexpr std::size_t kFirstEntries = 1024;

// Zeroed, never given back. Not malloc: it may take the very locks that are profiled.
template <class T> T *pages_of(std::size_t count) noexcept {
  void *memory = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<T *>(memory);
}

std::size_t hash(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t x = (a ^ (b << 17) ^ (b >> 7)) * 0x9e3779b97f4a7c15U;
  return static_cast<std::size_t>(x ^ (x >> 29));
}

// The entry, or the free one where it belongs.
Counts &place_in(const Table &table, std::uint64_t lock, std::uint64_t site, bool shared) noexcept {
  for (std::size_t at = hash(lock, site);; ++at) {
    Counts &entry = table.entries[at & table.mask];
    const std::uint64_t there = entry.lock.load(std::memory_order_relaxed);
    if (there == 0 || (there == lock && entry.site == site && entry.shared == shared))
      return entry;
  }
}

Table *table_with_room(Thread &thread) noexcept {
  Table *table = thread.table.load(std::memory_order_relaxed);
  if (table != nullptr && 4 * table->count < 3 * table->mask)
    return table;
  const std::size_t entries = table == nullptr ? kFirstEntries : 2 * (table->mask + 1);
  auto *memory = pages_of<Table>(1);
  auto *counts = memory == nullptr ? nullptr : pages_of<Counts>(entries);
  if (counts == nullptr)
    return nullptr;
  auto *larger = new (memory) Table{entries - 1, 0, counts, table};
  thread.table.store(larger, std::memory_order_release);
  return larger;
}

} // namespace

Counts *counts_of(Thread &thread, const void *lock, const void *site, Kind kind,
                  bool shared) noexcept {
  Table *table = table_with_room(thread);
  if (table == nullptr)
    return nullptr;
  const auto address = reinterpret_cast<std::uint64_t>(lock);
  const auto caller = reinterpret_cast<std::uint64_t>(site);
  Counts &entry = place_in(*table, address, caller, shared);
  if (entry.lock.load(std::memory_order_relaxed) == 0) {
    entry.site = caller;
    entry.kind = kind;
    entry.shared = shared;
    entry.lock.store(address, std::memory_order_release);
    ++table->count;
  }
  return &entry;
}

Thread *add_thread() noexcept {
  auto *memory = pages_of<Thread>(1);
  if (memory == nullptr)
    return nullptr;
  auto *thread = new (memory) Thread;
  thread->next = all_threads.load(std::memory_order_relaxed);
  while (!all_threads.compare_exchange_weak(thread->next, thread, std::memory_order_acq_rel)) {
  }
  return thread;
}

} // namespace tandem::locks
