// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which phase a program should be in, from how many sections it gets done in each. Knows no clock
// and no thread: who uses it says what time it is, and calls it from one thread at a time.
//
//     locks       two windows in a row whose waiting is worth a trial -> warm-up
//     warm-up     parts; transactions are hopeless -> locks
//     measuring   windows; one in which they were faster -> staying; none of kWindows -> checking
//     checking    locks for a window; slower than transactions, counting what they did before the
//                 trial as well -> measuring, else locks
//     staying     for kStayNs -> checking; they take more processor time a section than locks ->
//     locks
//
// Programs change while they run, so that what locks did before a trial may be unfair to it: hence
// the check after it. What disturbs a measurement (another process, an interrupt) makes it worse
// and never better: hence the better one of two parts, or windows, of locks as of transactions.
//
// More sections in the same time may be dearer ones: two threads that undo each other's work take
// two processors. Where processor time counts, transactions whose sections take more of it than
// with locks are given up for as long as after the worst trial.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::phases {

// Nanoseconds.
inline constexpr std::int64_t kWindowNs = 10'000'000; // over which sections are counted, at least
// Before transactions are measured: their tables are cold, and what algorithm they run by is tried
// first.
inline constexpr std::int64_t kWarmUpNs = 20'000'000;
inline constexpr std::int64_t kPartNs = kWarmUpNs / 4;
// Of a phase: for so long transactions are not judged while their algorithms are compared.
inline constexpr std::int64_t kComparingNs = kWarmUpNs + 2 * kPartNs;
// A window or part goes on until locks would have got kFewest sections done, but not beyond that.
inline constexpr std::int64_t kLongestNs = 100'000'000;
inline constexpr std::uint64_t kFewest = 64;
inline constexpr std::size_t kWindows = 2;              // of a trial that is not hopeless, at most
inline constexpr std::int64_t kStayNs = 1'000'000'000;  // before locks are tried again
inline constexpr std::int64_t kBackoffNs = 100'000'000; // until the next trial; more after failures
inline constexpr std::int64_t kMostBackoffNs = 30'000'000'000;
// Waiting that makes transactions worth a trial: half of one thread's time.
inline constexpr std::int64_t kWaitedShare = 2;

// Whether a trial of transactions ends after part `which` of its warm-up, the first being 0: by
// sections a nanosecond of the transactions, in this part or the one before, and of locks before
// the trial. `before`: the trial before this one has failed, so that their tables and their
// algorithm are there already.
bool hopeless(std::size_t which, bool before, double transactions, double locks) noexcept;

// Nanoseconds from a trial that has failed to the one after the next, which comes after `last`.
// `was_hopeless`: it did not get as far as being measured.
std::int64_t next_backoff(std::int64_t last, bool was_hopeless) noexcept;

// Processor time is known to a tick of the kernel for each thread that runs: it is measured for
// longer than sections are counted.
inline constexpr std::int64_t kCostNs = 100'000'000; // of locks, before the first trial
inline constexpr std::int64_t kFirstStayNs =
    200'000'000;                          // of transactions that were not judged by it
inline constexpr double kMostCost = 1.05; // of a section, that of locks being 1

// What is counted at a moment.
struct Progress {
  std::int64_t time;
  std::uint64_t entered;      // sections of all threads
  std::uint32_t comparisons;  // of algorithms (colours::Shared): what transactions get done
                              // meanwhile is partly that of the wrong one
  std::int64_t processor = 0; // nanoseconds of it that the process has taken; 0: does not count
};

enum class Advice { stay, transactions, locks };

class Trial {
public:
  // A phase of locks or transactions has begun. `asked_for`: it is the one that was wanted; else
  // the change was given up.
  void begin_phase(const Progress &progress, bool of_locks, bool asked_for) noexcept;

  // There is nothing to judge before that.
  [[nodiscard]] std::int64_t due() const noexcept { return due_; }

  // In the phase of locks: whether a window ends here, and if so, what follows from the nanoseconds
  // that threads have waited in it.
  [[nodiscard]] bool ends_window(const Progress &progress) const noexcept;
  Advice judge_locks(const Progress &progress, std::int64_t waited) noexcept;

  Advice judge_transactions(const Progress &progress) noexcept;

private:
  enum class Step { warm_up, measuring, checking, staying };

  void begin_window(const Progress &progress, std::int64_t shortest) noexcept;
  [[nodiscard]] double rate(const Progress &progress) const noexcept;
  [[nodiscard]] bool knows_cost(const Progress &progress) const noexcept;
  [[nodiscard]] bool is_over(const Progress &progress, double sections) const noexcept;
  [[nodiscard]] bool is_disturbed(const Progress &progress) const noexcept;
  Advice fail(std::int64_t time, bool was_hopeless) noexcept;
  Advice judge_part(const Progress &progress) noexcept;
  Advice judge_window(const Progress &progress) noexcept;
  Advice judge_stay(const Progress &progress) noexcept;

  Step step_ = Step::warm_up; // of the next trial, in the phase of locks
  std::int64_t phase_began_ = 0;
  Progress began_{}; // the window or part
  std::int64_t due_ = 0;
  double lock_rate_ = 0;  // sections a nanosecond, when locks were there last
  bool waited_ = false;   // in the last window of locks, so much that a trial is worth it
  double part_rate_ = 0;  // of transactions, in the part before
  double trial_rate_ = 0; // the best of the trial's windows
  std::size_t count_ = 0; // of the trial's windows
  bool checked_ = false;  // in this trial
  Progress cost_began_{}; // where it is measured from: in a phase of locks, or a stay
  double lock_cost_ = 0;  // processor time of a section; 0: not known
  bool judged_ = false;   // transactions, by that, since they were given up last
  std::int64_t next_trial_ = 0;
  std::int64_t backoff_ = kBackoffNs; // more than that: the last trial has failed
};

} // namespace tandem::phases
