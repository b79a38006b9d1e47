// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waiting: for a moment (pause), for longer (yield the processor), and until another thread says so
// (futex).
#pragma once

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

inline void pause() noexcept { __builtin_ia32_pause(); }

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

// For a loop that waits for another thread to do a few instructions: it may have been preempted, so
// after kSpins rounds each further one gives the processor away.
class Patience {
public:
  static constexpr std::uint32_t kSpins = 128; // some microseconds: less than a time slice by far

  void round() noexcept {
    if (++rounds_ < kSpins) {
      pause();
      return;
    }
    ::sched_yield();
  }
  [[nodiscard]] std::uint32_t rounds() const noexcept { return rounds_; }

private:
  std::uint32_t rounds_ = 0;
};

} // namespace tandem::sync
