// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests of sections that run beside transactions share: pairs of numbers that are to stay
// opposite, transactions by the library's calls, another thread that waits to be told.
#pragma once

#include "runtime/algorithms/automatic.h"
#include "runtime/settings/settings.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <latch>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tandem/transaction.h>

namespace tandem {

// What `lock` guards: together they stay zero. Each has a lock of its own under two-phase.
struct alignas(64) Pair {
  std::int64_t lock = 0;
  std::int64_t left = 0;
  alignas(32) std::int64_t right = 0;
};

inline void run(const std::function<void()> &body, const tandem_options *options = nullptr) {
  tandem_run([](void *given) { (*static_cast<const std::function<void()> *>(given))(); },
             const_cast<std::function<void()> *>(&body), options);
}
// Irrevocable from its begin on.
inline void serially(const std::function<void()> &body) {
  tandem_options options = {};
  options.irrevocable = 1;
  run(body, &options);
}

inline std::int64_t read(const std::int64_t &place) {
  return static_cast<std::int64_t>(
      tandem_read_u64(reinterpret_cast<const std::uint64_t *>(&place)));
}
inline void write(std::int64_t &place, std::int64_t value) {
  tandem_write_u64(reinterpret_cast<std::uint64_t *>(&place), static_cast<std::uint64_t>(value));
}
inline void add(std::int64_t &place, std::int64_t by) { write(place, read(place) + by); }

// What a short section does besides.
enum class Way { straight, slow, away };

// Another thread, that has had a section, and calls `body` once it is told to.
class Other {
public:
  explicit Other(std::function<void()> body)
      : thread_([this, body = std::move(body)] {
          std::int64_t own = 0;
          run([&] { add(own, 1); });
          ready_ = true;
          while (!told_)
            std::this_thread::yield();
          body();
          done_ = true;
        }) {
    while (!ready_)
      std::this_thread::yield();
  }
  ~Other() { thread_.join(); }
  Other(const Other &) = delete;
  Other &operator=(const Other &) = delete;
  void tell() { told_ = true; }
  void wait() {
    while (!done_)
      std::this_thread::yield();
  }

private:
  std::atomic<bool> ready_ = false;
  std::atomic<bool> told_ = false;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

// Moves one in each pair by plain accesses: nobody else is there.
inline void move_serially(std::span<Pair> pairs) {
  serially([&] {
    for (Pair &pair : pairs) {
      EXPECT_EQ(pair.left, -pair.right);
      pair.left += 1;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      pair.right -= 1;
    }
  });
}

// Whether the process's algorithm may change while threads run.
inline bool algorithm_changes() { return (settings.special & kSpecialAdapt) != 0; }

// Lets threads run beside those that move pairs: one that is serial `times` times, and, where the
// algorithm may change, one that changes it until `left` is 0. `start` counts them.
inline void add_disturbers(std::vector<std::thread> &threads, std::latch &start,
                           std::span<Pair> pairs, int times, const std::atomic<int> &left) {
  threads.emplace_back([&start, pairs, times] {
    start.arrive_and_wait();
    for (int n = 0; n < times; ++n)
      move_serially(pairs);
  });
  if (algorithm_changes())
    threads.emplace_back([&start, &left] {
      start.arrive_and_wait();
      for (int n = 0; n < 2 || left != 0; ++n)
        automatic::change_to(n % 2 == 0 ? Algorithm::two_phase : Algorithm::norec, false);
    });
}

// How often all pairs together have been moved.
inline std::int64_t moves_of(std::span<const Pair> pairs) {
  std::int64_t moved = 0;
  for (const Pair &pair : pairs) {
    EXPECT_EQ(pair.left, -pair.right);
    moved += pair.left;
  }
  return moved;
}

} // namespace tandem
