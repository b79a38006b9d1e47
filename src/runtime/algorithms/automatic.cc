// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/algorithms/automatic.h"

#include "runtime/irrevocable/serial.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/futex.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <ctime>

namespace tandem::automatic {
namespace {

// Nanoseconds.
constexpr std::uint64_t kWindow = 3'000'000; // of one algorithm in a trial
constexpr std::uint64_t kShortestStay = 60'000'000;
constexpr std::uint64_t kLongestStay = 2'000'000'000;
// Each of the two has this many windows in a trial, in turns: a program whose transactions become
// longer or shorter meanwhile favours neither.
constexpr std::size_t kTurns = 3;
// What the other one must be faster by, in per cent: a change back and forth gains nothing.
constexpr std::uint64_t kMargin = 10;
// Moments to wait for the end of all transactions.
constexpr std::uint32_t kPatience = 20'000;

// Who measures: everything below is its own.
std::atomic<bool> measuring{false};
// When there is something to do again. Others read it, to see that there is not.
std::atomic<std::uint64_t> deadline{0};

std::atomic<std::uint64_t> change_count{0};

struct Trial {
  std::size_t window = 0; // 0: none is under way; even ones are the other algorithm's
  std::uint64_t since = 0;
  std::uint64_t commits_before = 0;
  std::array<std::uint64_t, 2> commits{}; // of the present one, and of the other
  std::array<std::uint64_t, 2> time{};
  std::uint64_t stay = kShortestStay;
};
constinit Trial trial;

std::uint64_t now() noexcept {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// Transactions that have ended for good, of all threads.
std::uint64_t commits() noexcept {
  std::uint64_t sum = 0;
  const std::size_t end = marks_end.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < end; ++i) {
    const Thread &thread = thread_of(i);
    // Attempts that are undone have begun nested ones as well.
    sum += thread.transactions.load() - thread.nested.load() - thread.undone.load();
  }
  return sum;
}

Algorithm other_than(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::norec ? Algorithm::two_phase : Algorithm::norec;
}

} // namespace

bool change_to(Algorithm algorithm) noexcept {
  if (!serial::try_word())
    return false;
  const std::size_t end = marks_end.load(std::memory_order_acquire);
  std::uint32_t rounds = 0;
  for (std::size_t i = 0; i < end && rounds < kPatience; ++i)
    for (; marks[i].value.load(std::memory_order_acquire) != 0 && rounds < kPatience; ++rounds)
      sync::pause();
  if (rounds < kPatience) {
    settings.algorithm.store(algorithm, std::memory_order_relaxed);
    change_count.fetch_add(1, std::memory_order_relaxed);
  }
  serial::release();
  return rounds < kPatience;
}

namespace {

void open_window(std::uint64_t time) noexcept {
  trial.since = time;
  trial.commits_before = commits();
  deadline.store(time + kWindow, std::memory_order_relaxed);
}

void close_window(std::uint64_t time) noexcept {
  const std::size_t of = trial.window % 2;
  // The counters of the threads are not read at one time, so that few commits may look like none.
  const std::uint64_t now_done = commits();
  trial.commits[of] += now_done > trial.commits_before ? now_done - trial.commits_before : 0;
  trial.time[of] += time - trial.since;
}

void rest(std::uint64_t time) noexcept {
  trial = {.stay = trial.stay};
  deadline.store(time + trial.stay, std::memory_order_relaxed);
}

// Whether the second algorithm of the trial did more in the same time than the first.
bool second_wins() noexcept {
  const auto rate = [](std::size_t of) {
    return static_cast<double>(trial.commits[of]) / static_cast<double>(trial.time[of] + 1);
  };
  return rate(1) * 100 > rate(0) * (100 + kMargin);
}

// The deadline has passed.
void step(std::uint64_t time) noexcept {
  const Algorithm present = settings.algorithm.load(std::memory_order_relaxed);
  if (trial.since == 0)
    return open_window(time); // window 0: the present one
  close_window(time);
  if (trial.window + 1 < 2 * kTurns) {
    if (!change_to(other_than(present)))
      return rest(time);
    ++trial.window;
    return open_window(time);
  }
  // The last window was the second one's.
  if (second_wins()) {
    trial.stay = kShortestStay;
  } else {
    if (!change_to(other_than(present)))
      return open_window(time); // of the same one, once more
    trial.stay = trial.stay * 2 < kLongestStay ? trial.stay * 2 : kLongestStay;
  }
  rest(time);
}

} // namespace

void look() noexcept {
  const std::uint64_t time = now();
  if (time < deadline.load(std::memory_order_relaxed))
    return;
  if (measuring.exchange(true, std::memory_order_acquire))
    return;
  step(time);
  measuring.store(false, std::memory_order_release);
}

void forget_other_threads() noexcept { measuring.store(false, std::memory_order_relaxed); }

std::uint64_t changes() noexcept { return change_count.load(std::memory_order_relaxed); }

} // namespace tandem::automatic
