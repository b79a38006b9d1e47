// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/phases/trial.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace tandem::phases {
namespace {

// A window in which transactions were so many times slower than locks, as in the part before, is
// the trial's last.
constexpr double kHopelessWindow = 2;

template <std::size_t N>
bool is_slower(const double (&bounds)[N], std::size_t which, double transactions,
               double locks) noexcept {
  return transactions * bounds[std::min(which, N - 1)] < locks;
}

// Processor time of a section between two moments; 0: not known.
double cost_between(const Progress &from, const Progress &to) noexcept {
  return from.processor == 0 || to.entered == from.entered
             ? 0
             : static_cast<double>(to.processor - from.processor) /
                   static_cast<double>(to.entered - from.entered);
}

} // namespace

bool hopeless(std::size_t which, bool before, double transactions, double locks) noexcept {
  constexpr double kFirst[] = {4, 2, 1.5};
  constexpr double kLater[] = {3, 1.5};
  return before ? is_slower(kLater, which, transactions, locks)
                : is_slower(kFirst, which, transactions, locks);
}

std::int64_t next_backoff(std::int64_t last, bool was_hopeless) noexcept {
  return std::min(last * (was_hopeless ? 4 : 2), kMostBackoffNs);
}

void Trial::begin_window(const Progress &progress, std::int64_t shortest) noexcept {
  began_ = progress;
  due_ = progress.time + shortest;
}

double Trial::rate(const Progress &progress) const noexcept {
  return static_cast<double>(progress.entered - began_.entered) /
         static_cast<double>(progress.time - began_.time);
}

// `sections`: how many the window stands for.
bool Trial::is_over(const Progress &progress, double sections) const noexcept {
  return progress.time >= due_ &&
         (sections >= static_cast<double>(kFewest) || progress.time - began_.time >= kLongestNs);
}

// What is disturbed for that long is measured all the same.
bool Trial::is_disturbed(const Progress &progress) const noexcept {
  const bool compared = progress.comparisons % 2 != 0 || progress.comparisons != began_.comparisons;
  return compared && progress.time - phase_began_ < kComparingNs;
}

bool Trial::knows_cost(const Progress &progress) const noexcept {
  return progress.processor == 0 || lock_cost_ > 0 || progress.time - cost_began_.time >= kCostNs;
}

void Trial::begin_phase(const Progress &progress, bool of_locks, bool asked_for) noexcept {
  if (!of_locks && asked_for && cost_began_.processor != 0 &&
      progress.time - cost_began_.time >= kCostNs)
    lock_cost_ = cost_between(cost_began_, progress);
  cost_began_ = progress;
  if (!asked_for) {
    // Transactions that could not be left are judged again soon, however rare trials are.
    next_trial_ = progress.time + (of_locks ? backoff_ : kBackoffNs);
    step_ = Step::warm_up;
  }
  phase_began_ = progress.time;
  count_ = 0;
  // Without a warm-up the first window has none before it, and is not hopeless by itself.
  part_rate_ = step_ == Step::measuring ? std::numeric_limits<double>::infinity() : 0;
  waited_ = false;
  begin_window(progress, of_locks || step_ != Step::warm_up ? kWindowNs : kPartNs);
}

bool Trial::ends_window(const Progress &progress) const noexcept {
  return is_over(progress, static_cast<double>(progress.entered - began_.entered));
}

Advice Trial::judge_locks(const Progress &progress, std::int64_t waited) noexcept {
  // A long window tells of times without waiting.
  if (cost_began_.processor == 0)
    cost_began_ = progress;
  const bool worth = waited * kWaitedShare > progress.time - began_.time;
  const bool again = worth && waited_;
  const double before = lock_rate_;
  const double present = rate(progress);
  lock_rate_ = again ? std::max(present, before) : present;
  waited_ = worth;
  begin_window(progress, kWindowNs);
  const bool checking = step_ == Step::checking;
  step_ = Step::warm_up;
  if (checking && worth && trial_rate_ > (before + present) / 2) {
    step_ = Step::measuring;
    next_trial_ = progress.time;
    return Advice::transactions;
  }
  if (!again || progress.time < next_trial_ || !knows_cost(progress))
    return Advice::stay;
  checked_ = false;
  return Advice::transactions;
}

// Until the next trial, unless the check says otherwise.
Advice Trial::fail(std::int64_t time, bool was_hopeless) noexcept {
  next_trial_ = time + backoff_;
  backoff_ = next_backoff(backoff_, was_hopeless);
  step_ = was_hopeless || checked_ ? Step::warm_up : Step::checking;
  checked_ = true;
  return Advice::locks;
}

Advice Trial::judge_part(const Progress &progress) noexcept {
  const double present = rate(progress);
  // By time: a part of long sections may be all of the warm-up.
  const auto which = static_cast<std::size_t>((progress.time - phase_began_) / kPartNs - 1);
  if (!is_disturbed(progress) &&
      hopeless(which, backoff_ > kBackoffNs, std::max(present, part_rate_), lock_rate_))
    return fail(progress.time, true);
  part_rate_ = present;
  if (progress.time - phase_began_ < kWarmUpNs || is_disturbed(progress)) {
    begin_window(progress, kPartNs);
    return Advice::stay;
  }
  step_ = Step::measuring;
  begin_window(progress, kWindowNs);
  return Advice::stay;
}

Advice Trial::judge_window(const Progress &progress) noexcept {
  const double present = rate(progress);
  if (present > lock_rate_) {
    step_ = Step::staying;
    cost_began_ = progress;
    if (lock_cost_ > 0 && !judged_) {
      due_ = progress.time + kFirstStayNs;
    } else {
      backoff_ = kBackoffNs;
      due_ = phase_began_ + kStayNs;
    }
    return Advice::stay;
  }
  if (!is_disturbed(progress)) {
    if (std::max(present, part_rate_) * kHopelessWindow < lock_rate_)
      return fail(progress.time, true);
    trial_rate_ = count_ == 0 ? present : std::max(trial_rate_, present);
    part_rate_ = present;
    if (++count_ == kWindows)
      return fail(progress.time, false);
  }
  begin_window(progress, kWindowNs);
  return Advice::stay;
}

// They were faster until now; how fast they are now is measured beside locks.
Advice Trial::judge_stay(const Progress &progress) noexcept {
  checked_ = false;
  if (cost_between(cost_began_, progress) > kMostCost * lock_cost_ && lock_cost_ > 0) {
    // Nothing that a window could tell would change that.
    judged_ = false;
    checked_ = true;
    backoff_ = kMostBackoffNs;
    return fail(progress.time, false);
  }
  if (lock_cost_ > 0 && !judged_) {
    judged_ = true;
    backoff_ = kBackoffNs;
    cost_began_ = progress;
    due_ = std::max(phase_began_ + kStayNs, progress.time);
    return Advice::stay;
  }
  step_ = Step::checking;
  trial_rate_ = std::numeric_limits<double>::infinity();
  return Advice::locks;
}

Advice Trial::judge_transactions(const Progress &progress) noexcept {
  // The next trial is in the future only where a change to locks was given up.
  // `checking`: the change to locks has been asked for.
  if (progress.time < next_trial_ || progress.time < due_ || step_ == Step::checking)
    return Advice::stay;
  if (step_ == Step::staying)
    return judge_stay(progress);
  const auto elapsed = static_cast<double>(progress.time - began_.time);
  if (!is_over(progress, elapsed * lock_rate_))
    return Advice::stay;
  return step_ == Step::measuring ? judge_window(progress) : judge_part(progress);
}

} // namespace tandem::phases
