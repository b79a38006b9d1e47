// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/algorithms/automatic.h"

#include "runtime/algorithms/hardware.h"
#include "runtime/irrevocable/colours.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/clock.h"
#include "runtime/sync/futex.h"
#include "runtime/transaction/guarded_by.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <ctime>
#include <iterator>

namespace tandem::automatic {

constinit std::atomic<bool> sections_of_locks{false};

namespace {

// Nanoseconds.
constexpr std::uint64_t kShortestStay = 60'000'000;
constexpr std::uint64_t kLongestStay = 2'000'000'000;
// Of a process that begins in hardware, whose first accesses to a page fail there.
constexpr std::uint64_t kWarmUp = 5'000'000;
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
// Commits of both that say anything; of long transactions more turns are taken.
constexpr std::uint64_t kFewest = 40;
// Transactions that take longer, with what is between them, are long.
constexpr std::uint64_t kLong = 30'000;
// And where they take longer than this, nothing is compared: it would take too long, or there are
// too few of them for the algorithm to matter.
constexpr std::uint64_t kTooLong = 10'000'000;
// A window lasts at least for so many transactions of a thread.
constexpr std::uint64_t kPerWindow = 4;
// Changes that were given up in a trial: then it ends.
constexpr std::uint32_t kMostGivenUp = 3;
// Rounds that one sits out which was slower by far, twice as many each time that it is again.
constexpr std::uint8_t kMostSatOut = 15;
// Transactions before a thread's first look: a program that has only a few is not measured.
constexpr std::uint64_t kFirstLook = 64;
// Transactions between the first look and the second one, which is the first to know of a time.
constexpr std::uint64_t kFewPerLook = 8;
// Of a thread, between two looks at the time. Shorter than the shortest window by far.
constexpr std::uint64_t kLookEvery = 250'000;
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
  std::uint32_t given_up = 0; // changes
  bool settled = false;       // threads have begun by the window's algorithm
};
constinit Trial trial;
struct SitOut {
  std::uint8_t rounds = 0; // to come
  std::uint8_t last = 0;   // as many, the last time
};
std::array<SitOut, kAlgorithmCount> sit_out{};
Algorithms left = 0;                    // of the round, to be tried
bool begun = false;                     // there was a round, or a rest
bool changed = false;                   // in the round
std::uint64_t stay = kShortestStay / 2; // after the round before this one
bool concluded = false;                 // some trial has ended with a verdict
std::uint32_t lock_phases_seen = 0;     // of the process, when something was done last
std::uint32_t put_off = 0;              // in a row, of the trial that is due

std::uint64_t now() noexcept {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// Whether the thread has begun one. It writes that plainly, and a look at it from a moment ago
// does.
[[clang::no_sanitize("thread")]] bool is_inside(const Thread &thread) noexcept {
  const volatile std::uint32_t &depth = thread.depth;
  return depth != 0;
}

// Transactions that have ended for good, of all threads: not those that wait for their begin.
std::uint64_t commits() noexcept {
  std::uint64_t sum = 0;
  const std::size_t end = marks_end.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < end; ++i) {
    const Thread &thread = thread_of(i);
    // Attempts that are undone have begun nested ones as well.
    sum += thread.transactions.load() - thread.nested.load() - thread.undone.load() -
           (is_inside(thread) ? 1 : 0);
  }
  return sum;
}

// What a trial may change to now. Sections of locks may rely on others that run meanwhile, as they
// did with their own locks: they wait for one another where they must not meet, so that `serial`
// may stop a program that waits inside.
bool may_run(Algorithm algorithm) noexcept {
  switch (algorithm) {
  case Algorithm::norec:
  case Algorithm::two_phase:
    return true;
  case Algorithm::htm:
    return settings.hardware && !guarded_by::in_use();
  case Algorithm::serial:
    return !sections_of_locks.load(std::memory_order_relaxed) && !guarded_by::in_use();
  case Algorithm::eager:
  case Algorithm::lazy:
    break;
  }
  return false;
}

} // namespace

// The software ones first: in most programs the others are either there already or far behind.
Algorithm next_to_try(Algorithms set, bool are_long) noexcept {
  if (are_long && (set & only(Algorithm::serial)) != 0)
    return Algorithm::serial;
  for (const Algorithm algorithm : {Algorithm::norec, Algorithm::two_phase, Algorithm::htm})
    if ((set & only(algorithm)) != 0)
      return algorithm;
  return Algorithm::serial;
}

namespace {

double rate(const Work &work) noexcept {
  return static_cast<double>(work.commits) / static_cast<double>(work.ns + 1);
}

bool is_decisive(const Work &faster, const Work &slower, std::size_t turn) noexcept {
  return rate(faster) * 100 > rate(slower) * static_cast<double>(kDecisive[turn]);
}

} // namespace

std::uint64_t next_period(std::uint64_t period, std::uint64_t begins,
                          std::uint64_t elapsed) noexcept {
  const std::uint64_t wanted = begins * kLookEvery / (elapsed + 1);
  return std::clamp(wanted, std::uint64_t{1}, std::min(period * 2, kMostPerLook));
}

Verdict verdict(const Work &present, const Work &other, std::size_t turn) noexcept {
  if (turn + 1 < kMostTurns && present.commits + other.commits < kFewest)
    return Verdict::open;
  const std::size_t bound = std::min(turn, kTurns - 1);
  if (is_decisive(other, present, bound))
    return Verdict::change;
  return turn + 1 >= kTurns || is_decisive(present, other, bound) ? Verdict::keep : Verdict::open;
}

namespace {

// The caller has the word, and nobody runs.
void set_algorithm(Algorithm algorithm) noexcept {
  settings.algorithm.store(algorithm, std::memory_order_relaxed);
  hardware::adopt_settings();
  change_count.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

bool change_to(Algorithm algorithm, bool may_wait) noexcept {
  if (may_wait && settings.algorithm == Algorithm::serial) {
    serial::acquire(nullptr);
    set_algorithm(algorithm);
    serial::release();
    return true;
  }
  if (!serial::try_word())
    return false;
  std::uint32_t rounds = 0;
  const std::size_t end = marks_end.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < end && rounds < kPatience; ++i)
    for (; marks[i].value.load(std::memory_order_acquire) != 0 && rounds < kPatience; ++rounds)
      sync::pause();
  // Short sections (transaction/short.h) have no mark.
  for (; (sync::global_clock.now.load(std::memory_order_acquire) & 1) != 0 && rounds < kPatience;
       ++rounds)
    sync::pause();
  const bool changes =
      rounds < kPatience && (guarded_by::looks_at_words(algorithm) || !guarded_by::in_use());
  if (changes)
    set_algorithm(algorithm);
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

// Counts from now on, for as long as the window lasts where a thread makes a transaction in `each`.
void count(std::uint64_t time, std::uint64_t each) noexcept {
  trial.settled = true;
  trial.since = time;
  trial.commits_before = commits();
  const std::uint64_t window = kWindow[std::min(trial.window / 2, kTurns - 1)];
  deadline.store(time + std::max(window, kPerWindow * each), std::memory_order_relaxed);
}

// After a change all threads begin at the same time, and none ends for a while.
void open_window(std::uint64_t time, std::uint64_t each) noexcept {
  tell_comparing(true);
  put_off = 0;
  trial.since = time;
  trial.settled = false;
  if (each < kLookEvery)
    return count(time, each);
  deadline.store(time + each, std::memory_order_relaxed);
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
  trial = {};
  left = 0;
  stay = changed ? kShortestStay : std::min(stay * 2, kLongestStay);
  changed = false;
  deadline.store(time + stay, std::memory_order_relaxed);
}

// What who looks knows.
struct Seen {
  std::uint64_t time;
  std::uint64_t each; // nanoseconds that it takes for a transaction, with what is between them
  bool fit;           // its transactions do, into the hardware
  bool may_wait;      // it may, for the others (change_to)
};

// The next trial of the round, whose first window is one of the present algorithm; or the round has
// ended.
void go_on(const Seen &seen) noexcept {
  while (left != 0) {
    const Algorithm other = next_to_try(left, seen.each > kLong);
    left &= ~only(other);
    if (!may_run(other))
      continue;
    trial = {.algorithms = {settings.algorithm.load(std::memory_order_relaxed), other}};
    return open_window(seen.time, seen.each);
  }
  rest(seen.time);
}

void begin_round(const Seen &seen) noexcept {
  if (seen.each > kTooLong)
    return rest(seen.time);
  left = 0;
  for (std::size_t i = 0; i < kAlgorithmCount; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    if (sit_out[i].rounds != 0)
      --sit_out[i].rounds;
    else if (may_run(algorithm))
      left |= only(algorithm);
  }
  left &= ~only(settings.algorithm.load(std::memory_order_relaxed));
  if (seen.each > kLong) // they meet at the locks of all that they have read, or are few
    left &= ~only(Algorithm::two_phase);
  go_on(seen);
}

// The trial has ended with the one that was there before.
void remember_slower() noexcept {
  SitOut &other = sit_out[static_cast<std::size_t>(trial.algorithms[1])];
  other.last = is_decisive(trial.work[0], trial.work[1], 1)
                   ? std::min(static_cast<std::uint8_t>(2 * other.last + 1), kMostSatOut)
                   : std::uint8_t{0};
  other.rounds = other.last;
}

// The program's sections have held locks in the window: what it has measured says nothing. What an
// earlier trial has found holds for another stay; where there was none yet, the trial begins again.
void resume(const Seen &seen) noexcept {
  const bool other_runs = trial.window % 2 != 0;
  if (other_runs &&
      !(may_run(trial.algorithms[0]) && change_to(trial.algorithms[0], seen.may_wait)))
    concluded = !may_run(trial.algorithms[0]);
  if (concluded)
    return rest(seen.time);
  left |= only(trial.algorithms[0]) | only(trial.algorithms[1]);
  left &= ~only(settings.algorithm.load(std::memory_order_relaxed));
  go_on(seen);
}

// Who runs serially makes the others wait, whatever they do: it has to be faster by more.
Work fair(const Work &work, Algorithm algorithm) noexcept {
  return {algorithm == Algorithm::serial ? work.commits * 4 / 5 : work.commits, work.ns};
}

// The deadline has passed.
void step(const Seen &seen) noexcept {
  const Algorithm present = settings.algorithm.load(std::memory_order_relaxed);
  const std::uint32_t lock_phases =
      _TANDEM_colours_shared.lock_phases.load(std::memory_order_relaxed);
  if (lock_phases != lock_phases_seen) {
    lock_phases_seen = lock_phases;
    if (trial.since != 0)
      return resume(seen);
    if (concluded && ++put_off <= kMostPutOff)
      return deadline.store(seen.time + kSettled, std::memory_order_relaxed);
  }
  // Hardware is most often the better one by far, once the program's memory is there.
  if (present == Algorithm::htm && !begun) {
    if (deadline.load(std::memory_order_relaxed) == 0)
      return deadline.store(seen.time + kWarmUp, std::memory_order_relaxed);
    begun = true;
    if (seen.fit)
      return rest(seen.time);
  }
  begun = true;
  if (trial.since == 0)
    return begin_round(seen);
  if (!may_run(trial.algorithms[0])) {
    concluded = true; // there is no way back; the others are compared with what runs now
    changed = true;
    return go_on(seen);
  }
  if (!trial.settled)
    return count(seen.time, seen.each);
  close_window(seen.time);
  const bool other_runs = trial.window % 2 != 0;
  const Verdict found = other_runs
                            ? verdict(fair(trial.work[0], trial.algorithms[0]),
                                      fair(trial.work[1], trial.algorithms[1]), trial.window / 2)
                            : Verdict::open;
  if (found == Verdict::change) { // it runs already
    concluded = true;
    changed = true;
    return go_on(seen);
  }
  if (!change_to(trial.algorithms[other_runs ? 0 : 1], seen.may_wait)) {
    // Where the other one runs, for one more window: it may not be what is to stay.
    if (other_runs || ++trial.given_up < kMostGivenUp)
      return open_window(seen.time, seen.each);
    return rest(seen.time);
  }
  if (found == Verdict::keep) {
    concluded = true;
    remember_slower();
    return go_on(seen);
  }
  ++trial.window;
  open_window(seen.time, seen.each);
}

} // namespace

void prepare(Thread &thread) noexcept {
  thread.looked = 0;
  thread.looked_after = thread.transactions.load();
  thread.look_period = kFirstLook;
  thread.look_at = thread.looked_after + kFirstLook;
  thread.hardware_fails = false;
}

void look(Thread &thread, const tandem_section *section, bool may_wait) noexcept {
  const std::uint64_t time = now();
  const bool first = thread.looked == 0;
  const std::uint64_t elapsed = time - thread.looked;
  const std::uint64_t begins =
      std::max(thread.transactions.load() - thread.looked_after, std::uint64_t{1});
  thread.look_period = first ? kFewPerLook : next_period(thread.look_period, begins, elapsed);
  thread.looked = time;
  thread.looked_after = thread.transactions.load();
  thread.look_at = thread.looked_after + thread.look_period;
  if (section != nullptr && section->kind == TANDEM_KIND_LOCK_REGION)
    found_section_of_lock();
  const bool must_leave = settings.algorithm == Algorithm::serial && !may_run(Algorithm::serial);
  if ((first || time < deadline.load(std::memory_order_relaxed)) && !must_leave)
    return;
  if (measuring.exchange(true, std::memory_order_acquire))
    return;
  if (!must_leave)
    step({time, elapsed / begins, !thread.hardware_fails, may_wait});
  else if (change_to(Algorithm::norec, may_wait))
    rest(time);
  measuring.store(false, std::memory_order_release);
}

void look_soon(Thread &thread) noexcept {
  thread.hardware_fails = true;
  if (thread.look_period > kFewPerLook) {
    thread.look_at = 0;
    thread.look_period = kFewPerLook;
  }
}

void forget_other_threads() noexcept { measuring.store(false, std::memory_order_relaxed); }

std::uint64_t changes() noexcept { return change_count.load(std::memory_order_relaxed); }

} // namespace tandem::automatic
