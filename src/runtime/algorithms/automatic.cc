// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/algorithms/automatic.h"

#include "runtime/algorithms/hardware.h"
#include "runtime/irrevocable/colours.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/clock.h"
#include "runtime/sync/futex.h"
#include "runtime/transaction/apart.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <ctime>
#include <iterator>

namespace tandem::automatic {
namespace {

// Nanoseconds.
constexpr std::uint64_t kShortestStay = 60'000'000;
constexpr std::uint64_t kLongestStay = 2'000'000'000;
// A trial that is due begins where transactions have run for that long since the last phase of
// locks, longer than one that tries transactions and fails: comparing algorithms would make it
// longer. After so many such phases it begins all the same.
constexpr std::uint64_t kSettled = 40'000'000;
constexpr std::uint32_t kMostPutOff = 8;
// Of each of the two in a trial, in turns: a program whose transactions become longer or shorter
// meanwhile favours neither. Short at first, since one of them may be several times slower.
constexpr std::uint64_t kWindow[] = {1'000'000, 2'000'000, 4'000'000};
static_assert(std::size(kWindow) == kTurns);
// What one of them must do per cent of the other's work after so many turns, for the trial to end;
// a thread that is off its processor for a moment halves what two do. After the last turn only the
// other one must: a change back and forth gains nothing.
constexpr std::uint64_t kDecisive[] = {200, 150, 110};
static_assert(std::size(kDecisive) == kTurns);
// Commits of both that say anything; of long transactions a short window has few.
constexpr std::uint64_t kFewest = 500;
// Moments to wait for the end of all transactions.
constexpr std::uint32_t kPatience = 20'000;

// Who measures: everything below is its own.
std::atomic<bool> measuring{false};
// When there is something to do again. Others read it, to see that there is not.
std::atomic<std::uint64_t> deadline{0};

std::atomic<std::uint64_t> change_count{0};

struct Trial {
  std::size_t window = 0;  // even: of the algorithm that was there before; odd: of the other
  std::uint64_t since = 0; // of the window; 0: no trial is under way
  std::uint64_t commits_before = 0;
  std::array<Work, 2> work{}; // of the one that was there, and of the other
  std::array<Algorithm, 2> algorithms{};
  std::uint64_t stay = kShortestStay;
};
constinit Trial trial;
bool concluded = false;             // some trial has ended with a verdict
std::uint32_t lock_phases_seen = 0; // of the process, when something was done last
std::uint32_t put_off = 0;          // in a row, of the trial that is due

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

// Which one a trial compares the present one with. With hardware there are two others, which take
// turns.
Algorithm next_to_try(Algorithm present) noexcept {
  static constinit bool second = false; // of who measures
  if (!settings.hardware || (present != Algorithm::htm && apart::in_use()))
    return present == Algorithm::norec ? Algorithm::two_phase : Algorithm::norec;
  second = !second;
  if (present == Algorithm::htm)
    return second ? Algorithm::norec : Algorithm::two_phase;
  if (!second)
    return Algorithm::htm;
  return present == Algorithm::norec ? Algorithm::two_phase : Algorithm::norec;
}

} // namespace

Verdict verdict(const Work &present, const Work &other, std::size_t turn) noexcept {
  const bool last = turn + 1 == kTurns;
  if (!last && present.commits + other.commits < kFewest)
    return Verdict::open;
  const auto rate = [](const Work &work) {
    return static_cast<double>(work.commits) / static_cast<double>(work.ns + 1);
  };
  const auto decisive = static_cast<double>(kDecisive[turn]);
  if (rate(other) * 100 > rate(present) * decisive)
    return Verdict::change;
  return last || rate(present) * 100 > rate(other) * decisive ? Verdict::keep : Verdict::open;
}

bool change_to(Algorithm algorithm) noexcept {
  if (!serial::try_word())
    return false;
  const std::size_t end = marks_end.load(std::memory_order_acquire);
  std::uint32_t rounds = 0;
  for (std::size_t i = 0; i < end && rounds < kPatience; ++i)
    for (; marks[i].value.load(std::memory_order_acquire) != 0 && rounds < kPatience; ++rounds)
      sync::pause();
  // Short sections (transaction/short.h) have no mark.
  for (; (sync::global_clock.now.load(std::memory_order_acquire) & 1) != 0 && rounds < kPatience;
       ++rounds)
    sync::pause();
  const bool changes = rounds < kPatience && !(algorithm == Algorithm::htm && apart::in_use());
  if (changes) {
    settings.algorithm.store(algorithm, std::memory_order_relaxed);
    hardware::adopt_settings();
    change_count.fetch_add(1, std::memory_order_relaxed);
  }
  serial::release();
  return changes;
}

namespace {

// By who measures.
void tell_comparing(bool begins) noexcept {
  std::atomic<std::uint32_t> &comparisons = _TANDEM_colours_shared.comparisons;
  if ((comparisons.load(std::memory_order_relaxed) % 2 != 0) != begins)
    comparisons.fetch_add(1, std::memory_order_relaxed);
}

void open_window(std::uint64_t time) noexcept {
  tell_comparing(true);
  put_off = 0;
  trial.since = time;
  trial.commits_before = commits();
  deadline.store(time + kWindow[trial.window / 2], std::memory_order_relaxed);
}

void close_window(std::uint64_t time) noexcept {
  Work &work = trial.work[trial.window % 2];
  // The counters of the threads are not read at one time, so that few commits may look like none.
  const std::uint64_t now_done = commits();
  work.commits += now_done > trial.commits_before ? now_done - trial.commits_before : 0;
  work.ns += time - trial.since;
}

void rest(std::uint64_t time) noexcept {
  tell_comparing(false);
  trial = {.stay = trial.stay};
  deadline.store(time + trial.stay, std::memory_order_relaxed);
}

// The program's sections have held locks in the window: what it has measured says nothing. What an
// earlier trial has found holds for another stay; where there was none yet, this one begins again.
void resume(std::uint64_t time) noexcept {
  if (trial.algorithms[0] == Algorithm::htm && apart::in_use())
    return rest(time);
  const bool other_runs = trial.window % 2 != 0;
  if (other_runs && !change_to(trial.algorithms[0]))
    concluded = false;
  if (concluded)
    return rest(time);
  const Algorithm present = settings.algorithm.load(std::memory_order_relaxed);
  trial = {.algorithms = {present, next_to_try(present)}, .stay = trial.stay};
  open_window(time);
}

// The deadline has passed.
void step(std::uint64_t time) noexcept {
  const Algorithm present = settings.algorithm.load(std::memory_order_relaxed);
  const std::uint32_t lock_phases =
      _TANDEM_colours_shared.lock_phases.load(std::memory_order_relaxed);
  if (lock_phases != lock_phases_seen) {
    lock_phases_seen = lock_phases;
    if (trial.since != 0)
      return resume(time);
    if (concluded && ++put_off <= kMostPutOff)
      return deadline.store(time + kSettled, std::memory_order_relaxed);
  }
  // Hardware is most often the better one by far.
  if (deadline.load(std::memory_order_relaxed) == 0 && present == Algorithm::htm)
    return rest(time);
  if (trial.since == 0) {
    trial.algorithms = {present, next_to_try(present)};
    return open_window(time); // window 0: the present one
  }
  if (trial.algorithms[0] == Algorithm::htm && apart::in_use()) {
    concluded = true; // there is no way back, and next time those two are compared that are left
    return rest(time);
  }
  close_window(time);
  const bool other_runs = trial.window % 2 != 0;
  const Verdict found =
      other_runs ? verdict(trial.work[0], trial.work[1], trial.window / 2) : Verdict::open;
  if (found == Verdict::change) { // it runs already
    concluded = true;
    trial.stay = kShortestStay;
    return rest(time);
  }
  if (!change_to(trial.algorithms[other_runs ? 0 : 1])) {
    // Where the other one runs, for one more window: it may not be what is to stay.
    return other_runs ? open_window(time) : rest(time);
  }
  if (found == Verdict::keep) {
    concluded = true;
    trial.stay = trial.stay * 2 < kLongestStay ? trial.stay * 2 : kLongestStay;
    return rest(time);
  }
  ++trial.window;
  open_window(time);
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
