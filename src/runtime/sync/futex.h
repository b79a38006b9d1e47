// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waiting: for a moment (pause), for longer (yield the processor), and until another thread says so
// (futex).
#pragma once

#include "runtime/processor.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tandem::sync {

inline void pause() noexcept { processor::pause(); }

// Blocks while `word` has `value`; may return early.
inline void wait_on(std::atomic<std::uint32_t> &word, std::uint32_t value) noexcept {
  const int saved = errno;
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t *>(&word), FUTEX_WAIT_PRIVATE, value, nullptr,
            nullptr, 0);
  errno = saved;
}

// The same for `nanoseconds` at most; 0: without end.
inline void wait_on_for(std::atomic<std::uint32_t> &word, std::uint32_t value,
                        std::int64_t nanoseconds) noexcept {
  if (nanoseconds == 0)
    return wait_on(word, value);
  const int saved = errno;
  const timespec longest = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t *>(&word), FUTEX_WAIT_PRIVATE, value,
            &longest, nullptr, 0);
  errno = saved;
}

inline void wake_one(std::atomic<std::uint32_t> &word) noexcept {
  const int saved = errno;
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t *>(&word), FUTEX_WAKE_PRIVATE, 1, nullptr,
            nullptr, 0);
  errno = saved;
}

inline void wake_all(std::atomic<std::uint32_t> &word) noexcept {
  const int saved = errno;
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t *>(&word), FUTEX_WAKE_PRIVATE, INT_MAX,
            nullptr, nullptr, 0);
  errno = saved;
}

// Blocks for `nanoseconds`. No cancellation point; a signal ends it early.
inline void sleep_for(std::int64_t nanoseconds) noexcept {
  std::atomic<std::uint32_t> nobody{0};
  wait_on_for(nobody, 0, nanoseconds);
}

// For a loop that waits for another thread to do a few instructions: for moments; then each round
// gives the processor away; then each sleeps, for longer and longer. It sleeps at once where giving
// away took so long that others than the program must have had the processor: who yields on a busy
// machine queues behind all of them each time, and who wakes up is soon served.
class Patience {
public:
  static constexpr std::uint32_t kSpins = 128; // some microseconds: less than a time slice by far
  static constexpr std::uint32_t kYields = 64; // on an idle machine about as long as a short sleep
  // The shortest is the kernel's slack of timers (50 us); the longest is reached only where other
  // programs have the processor. They double, so that a thread oversleeps by at most the time that
  // it had to wait.
  static constexpr std::int64_t kShortestSleepNs = 50'000;
  static constexpr std::int64_t kLongestSleepNs = 1'000'000;
  // In ticks; an idle processor takes one microsecond.
  static constexpr std::uint64_t kLongYield = 40 * processor::kTicksOfMicrosecond;

  // `yields`: rounds that give the processor away before it sleeps.
  explicit Patience(std::uint32_t yields = kYields) noexcept : yields_(yields) {}

  void round() noexcept {
    if (++rounds_ < kSpins)
      pause();
    else
      give_way();
  }
  [[nodiscard]] std::uint32_t rounds() const noexcept { return rounds_; }
  // Whether the last round was no moment but gave the processor away.
  [[nodiscard]] bool has_given_way() const noexcept { return rounds_ >= kSpins; }
  // Whether the next round sleeps: who can be woken sleeps until then instead.
  [[nodiscard]] bool is_over() const noexcept {
    return sleep_ns_ != 0 || rounds_ >= kSpins + yields_;
  }

private:
  [[gnu::noinline]] void give_way() noexcept {
    if (is_over()) {
      sleep_ns_ = sleep_ns_ == 0 ? kShortestSleepNs : sleep_ns_;
      sleep_for(sleep_ns_);
      sleep_ns_ = sleep_ns_ < kLongestSleepNs / 2 ? 2 * sleep_ns_ : kLongestSleepNs;
      return;
    }
    const std::uint64_t since = processor::ticks();
    ::sched_yield();
    if (processor::ticks() - since > kLongYield)
      sleep_ns_ = kShortestSleepNs;
  }

  std::uint32_t rounds_ = 0;
  std::uint32_t yields_;
  std::int64_t sleep_ns_ = 0; // of the next sleep; 0: it has not come to that
};

} // namespace tandem::sync
