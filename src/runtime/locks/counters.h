// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread did with locks, by lock and by the call that acquired it. A thread writes its own
// table only; the writer of the profile reads them all while threads may still run: so counters are
// atomic.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::locks {

enum class Kind : std::uint8_t { mutex, rwlock, spin };

// Written by one thread: no read-modify-write.
class Count {
public:
  void add(std::uint64_t more) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void at_least(std::uint64_t value) noexcept {
    if (value > value_.load(std::memory_order_relaxed))
      value_.store(value, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<std::uint64_t> value_{0};
};

// Times are ticks of the time stamp counter.
struct Counts {
  std::atomic<std::uint64_t> lock{0}; // its address; 0: the entry is free. Written last.
  std::uint64_t site = 0;             // return address of the call
  Kind kind = Kind::mutex;
  bool shared = false; // held for reading
  Count acquired;
  Count contended; // of those: not at once
  Count failed;    // trylock and timed calls that did not get it
  Count waits;     // on a condition, with the lock released meanwhile
  Count waited;    // until it was acquired
  Count held;
  Count longest; // hold
};

// Entries never move, because threads hold them: a table that is full stays, and an empty larger
// one comes before it. Equal entries of several tables are added up by the writer.
struct Table {
  std::size_t mask;  // entries - 1, a power of two less one
  std::size_t count; // of them in use; the thread's own
  Counts *entries;
  Table *older;
};

struct Held {
  const void *lock;
  Counts *counts;
  std::uint64_t since;
};

// A thread. Threads are never removed from the list: their counts are wanted in the end.
struct Thread {
  std::atomic<Table *> table{nullptr};
  Thread *next = nullptr;
  static constexpr std::size_t kMostHeld = 64; // beyond it, hold times are not measured
  Held held[kMostHeld];
  std::size_t held_count = 0;
};

// Null where memory is exhausted: the acquisition is not counted then.
Counts *counts_of(Thread &thread, const void *lock, const void *site, Kind kind,
                  bool shared) noexcept;

// All threads so far, newest first.
extern std::atomic<Thread *> all_threads;

// A thread of its own for the caller. Null where memory is exhausted.
Thread *add_thread() noexcept;

// Where a lock was initialised: return addresses of the init calls, for locks that are no
// variables. Any thread may call it; where memory is exhausted nothing is noted.
void note_initialised(const void *lock, const void *site) noexcept;

// Writes docs/formats/profile.md's JSON, with locks and no sections; `began` is when the process
// began, in ticks and in nanoseconds of the monotonic and of the real-time clock. False where the
// file cannot be written; errno says why.
struct Began {
  std::uint64_t ticks;
  std::int64_t ns;
  std::int64_t wall_ns;
};
// `end`: how the process ends.
void write_profile(std::FILE *file, Began began, const char *end) noexcept;

} // namespace tandem::locks
