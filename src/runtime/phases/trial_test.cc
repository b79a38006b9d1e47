// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs whose sections run at given rates, in a time that passes by itself.
#include "runtime/phases/trial.h"

#include "runtime/phases/share.h"

#include <gtest/gtest.h>

namespace tandem::phases {
namespace {

constexpr std::int64_t kMs = 1'000'000;

class Program {
public:
  // In locks, all of one thread's time is waited.
  Program() { EXPECT_EQ(wait(0, 0), Advice::stay); }

  // Locks for `ms` at so many sections a millisecond; what is advised first, if anything.
  Advice locks(std::int64_t ms, double rate) { return run(ms, rate, true, 1); }
  Advice locks_without_waiting(std::int64_t ms, double rate) { return run(ms, rate, true, 0); }
  // Transactions.
  Advice transactions(std::int64_t ms, double rate) { return run(ms, rate, false, 0); }
  // From now on processor time counts: of a section, in nanoseconds.
  void costs(double ns) { cost_ = ns; }
  void compares_algorithms() { ++progress_.comparisons; } // and again: no more

  // The change that was advised; how long the program has been in the phase then.
  void change(bool to_locks) { trial_.begin_phase(progress_, to_locks, true); }
  void change_is_given_up(bool to_locks) { trial_.begin_phase(progress_, !to_locks, false); }

  // Nanoseconds of the last run until the advice.
  std::int64_t took = 0;

private:
  Advice wait(double waited, double entered) {
    entered_ += entered;
    progress_.entered = static_cast<std::uint64_t>(entered_);
    waited_ += waited;
    if (progress_.time < trial_.due() || !trial_.ends_window(progress_))
      return Advice::stay;
    const auto told = static_cast<std::int64_t>(waited_);
    waited_ = 0;
    return trial_.judge_locks(progress_, told);
  }

  Advice run(std::int64_t ms, double rate, bool of_locks, double waited) {
    constexpr std::int64_t kStep = kMs / 10;
    for (took = 0; took < ms * kMs;) {
      took += kStep;
      progress_.time += kStep;
      const double entered = rate / 10;
      progress_.processor += static_cast<std::int64_t>(cost_ * entered);
      Advice advice = Advice::stay;
      if (of_locks) {
        advice = wait(waited * kStep, entered);
      } else {
        waited_ = 0;
        entered_ += entered;
        progress_.entered = static_cast<std::uint64_t>(entered_);
        advice = trial_.judge_transactions(progress_);
      }
      if (advice != Advice::stay)
        return advice;
    }
    return Advice::stay;
  }

  Trial trial_;
  Progress progress_{1'000'000 * kMs, 0, 0};
  double entered_ = 0;
  double waited_ = 0;
  double cost_ = 0;
};

// A program in the first phase of transactions, where locks did 1,000 sections a millisecond.
Program in_a_trial() {
  Program program;
  EXPECT_EQ(program.locks(30, 1'000), Advice::transactions);
  program.change(false);
  return program;
}

TEST(Trial, EndsTheSoonerTheSlowerTransactionsAre) {
  EXPECT_TRUE(hopeless(0, false, 0.2, 1));
  EXPECT_FALSE(hopeless(0, false, 0.3, 1)); // tables are cold
  EXPECT_TRUE(hopeless(1, false, 0.4, 1));
  EXPECT_FALSE(hopeless(1, false, 0.6, 1));
  EXPECT_TRUE(hopeless(2, false, 0.6, 1));
  EXPECT_FALSE(hopeless(2, false, 0.7, 1)); // is measured
  EXPECT_TRUE(hopeless(5, false, 0.6, 1));  // it was disturbed until now
  EXPECT_FALSE(hopeless(5, false, 0.7, 1));
}

TEST(Trial, EndsSoonerAfterOneThatFailed) {
  EXPECT_TRUE(hopeless(0, true, 0.3, 1)); // tables are warm
  EXPECT_FALSE(hopeless(0, true, 0.4, 1));
  EXPECT_TRUE(hopeless(1, true, 0.6, 1));
  EXPECT_FALSE(hopeless(1, true, 0.7, 1));
  EXPECT_TRUE(hopeless(2, true, 0.6, 1));
}

TEST(Trial, IsTheRarerTheMoreHaveFailed) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  EXPECT_EQ(next_backoff(kSecond, false), 2 * kSecond);
  EXPECT_EQ(next_backoff(kSecond, true), 4 * kSecond);
  EXPECT_EQ(next_backoff(20 * kSecond, false), 30 * kSecond);
  EXPECT_EQ(next_backoff(30 * kSecond, true), 30 * kSecond);
}

TEST(Trial, BeginsWhereThreadsWait) {
  Program program;
  EXPECT_EQ(program.locks_without_waiting(500, 1'000), Advice::stay);
  EXPECT_EQ(program.locks(50, 1'000), Advice::transactions);
}

// The holder of a lock was not running, perhaps.
TEST(Trial, DoesNotBeginForOneWindow) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(program.locks_without_waiting(10, 1'000), Advice::stay);
    EXPECT_EQ(program.locks(10, 500), Advice::stay);
  }
}

TEST(Trial, ComparesWithTheBetterWindowOfLocks) {
  Program program;
  EXPECT_EQ(program.locks(10, 1'000), Advice::stay);
  EXPECT_EQ(program.locks(11, 500), Advice::transactions);
  program.change(false);
  EXPECT_EQ(program.transactions(100, 900), Advice::locks);
}

TEST(Trial, FasterTransactionsStayUntilTheyAreComparedAgain) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(2'000, 1'100), Advice::locks);
  EXPECT_GE(program.took, kStayNs - kMs);
  EXPECT_LE(program.took, kStayNs + kMs);
  program.change(true);
  EXPECT_EQ(program.locks(11, 1'000), Advice::transactions); // no waiting for the next trial
  program.change(false);
  EXPECT_EQ(program.transactions(2'000, 1'100), Advice::locks);
  EXPECT_GE(program.took, kStayNs - kMs);
  EXPECT_LE(program.took, kStayNs + kMs);
}

TEST(Trial, ComparedAgainTransactionsMayLose) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(2'000, 1'100), Advice::locks);
  program.change(true);
  EXPECT_EQ(program.locks(30, 2'000), Advice::transactions);
  program.change(false);
  EXPECT_EQ(program.transactions(100, 1'100), Advice::locks);
  program.change(true);
  EXPECT_EQ(program.locks(50, 2'000), Advice::stay);
}

TEST(Trial, ThoseComparedAgainAreNotTriedWhereNobodyWaits) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(2'000, 1'100), Advice::locks);
  program.change(true);
  EXPECT_EQ(program.locks_without_waiting(500, 900), Advice::stay);
}

TEST(Trial, HopelessTransactionsEndAtOnceAndAreNotChecked) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(100, 200), Advice::locks);
  EXPECT_LE(program.took, kPartNs + kMs);
  program.change(true);
  EXPECT_EQ(program.locks(90, 150), Advice::stay);
  EXPECT_EQ(program.locks(30, 150), Advice::transactions);
}

TEST(Trial, OnePartThatIsDisturbedDoesNotEndIt) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(5, 1'200), Advice::stay);
  EXPECT_EQ(program.transactions(5, 300), Advice::stay);
  EXPECT_EQ(program.transactions(5, 1'200), Advice::stay);
  EXPECT_EQ(program.transactions(5, 300), Advice::stay);
  EXPECT_EQ(program.transactions(500, 1'200), Advice::stay);
}

TEST(Trial, TwoSlowPartsEndIt) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(5, 300), Advice::stay);
  EXPECT_EQ(program.transactions(6, 300), Advice::locks);
}

TEST(Trial, OneWindowThatIsDisturbedDoesNotEndIt) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(20, 1'200), Advice::stay);
  EXPECT_EQ(program.transactions(10, 500), Advice::stay);
  EXPECT_EQ(program.transactions(500, 1'200), Advice::stay);
}

TEST(Trial, AHopelessPartAndWindowEndIt) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(16, 1'200), Advice::stay);
  EXPECT_EQ(program.transactions(15, 100), Advice::locks);
  program.change(true);
  EXPECT_EQ(program.locks(50, 50), Advice::stay); // nothing to check
}

TEST(Trial, WhatIsPartlyTheWrongAlgorithmsIsNotJudged) {
  Program program = in_a_trial();
  program.compares_algorithms();
  EXPECT_EQ(program.transactions(12, 50), Advice::stay);
  program.compares_algorithms();                        // has ended in this part,
  EXPECT_EQ(program.transactions(3, 50), Advice::stay); // which is none to judge
  EXPECT_EQ(program.transactions(500, 1'200), Advice::stay);
}

TEST(Trial, AComparisonThatDoesNotEndDoesNotStopIt) {
  Program program = in_a_trial();
  program.compares_algorithms();
  EXPECT_EQ(program.transactions(200, 500), Advice::locks);
  EXPECT_GE(program.took, kComparingNs);
}

// Locks have become slower meanwhile, with what the program does.
TEST(Trial, ThatWasLostIsCheckedAgainstLocksAfterIt) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(100, 900), Advice::locks);
  program.change(true);
  EXPECT_EQ(program.locks(30, 700), Advice::transactions);
  EXPECT_LE(program.took, kWindowNs + kMs);
  program.change(false);
  EXPECT_EQ(program.transactions(500, 900), Advice::stay);
}

TEST(Trial, IsCheckedOnce) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(100, 900), Advice::locks);
  program.change(true);
  EXPECT_EQ(program.locks(30, 700), Advice::transactions);
  program.change(false);
  EXPECT_EQ(program.transactions(100, 650), Advice::locks);
  program.change(true);
  EXPECT_EQ(program.locks(100, 600), Advice::stay);
}

TEST(Trial, ThatIsLostAfterTheCheckWaitsForTheNext) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(100, 900), Advice::locks);
  program.change(true);
  EXPECT_EQ(program.locks(95, 1'000), Advice::stay);
  EXPECT_EQ(program.locks(30, 1'000), Advice::transactions);
}

// With a section each millisecond a window of 10 ms would say nothing.
TEST(Trial, LongSectionsHaveLongWindows) {
  Program program;
  EXPECT_EQ(program.locks(500, 1), Advice::transactions);
  EXPECT_GE(program.took, static_cast<std::int64_t>(kFewest) * kMs);
  program.change(false);
  EXPECT_EQ(program.transactions(63, 0.6), Advice::stay);
  EXPECT_EQ(program.transactions(3, 0.6), Advice::locks);
}

TEST(Trial, AChangeThatIsGivenUpIsTriedLater) {
  Program program;
  EXPECT_EQ(program.locks(30, 1'000), Advice::transactions);
  program.change_is_given_up(false);
  EXPECT_EQ(program.locks(90, 1'000), Advice::stay);
  EXPECT_EQ(program.locks(30, 1'000), Advice::transactions);
}

TEST(Trial, TransactionsThatCannotBeLeftAreMeasuredLater) {
  Program program = in_a_trial();
  EXPECT_EQ(program.transactions(100, 200), Advice::locks);
  program.change_is_given_up(true);
  EXPECT_EQ(program.transactions(90, 100), Advice::stay);
  EXPECT_EQ(program.transactions(600, 100), Advice::locks);
}

// However rare trials are by now.
TEST(Trial, TransactionsThatCannotBeLeftAreMeasuredSoon) {
  Program program;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(program.locks(60'000, 1000), Advice::transactions);
    program.change(false);
    ASSERT_EQ(program.transactions(100, 100), Advice::locks);
    if (i < 4)
      program.change(true);
  }
  program.change_is_given_up(true);
  EXPECT_EQ(program.transactions(1000, 100), Advice::locks);
}

// There is no warm-up, and no part before the window.
TEST(Trial, ComparedAgainOneWindowThatIsDisturbedDoesNotEndIt) {
  Program program = in_a_trial();
  ASSERT_EQ(program.transactions(1500, 2000), Advice::locks);
  program.change(true);
  ASSERT_EQ(program.locks(30, 1000), Advice::transactions);
  program.change(false);
  EXPECT_EQ(program.transactions(11, 400), Advice::stay);
  EXPECT_EQ(program.transactions(200, 2000), Advice::stay);
}

// A program whose locks' sections take a microsecond of a processor each, in the stay behind its
// first trial, in which transactions did twice as many.
Program in_a_stay(double cost) {
  Program program;
  program.costs(1'000);
  EXPECT_EQ(program.locks(500, 1'000), Advice::transactions);
  EXPECT_GE(program.took, kCostNs - 10 * kMs);
  program.change(false);
  program.costs(cost);
  EXPECT_EQ(program.transactions(150, 2'000), Advice::stay);
  return program;
}

TEST(Trial, TransactionsThatTakeMoreProcessorTimeAreLeft) {
  Program program = in_a_stay(1'200);
  EXPECT_EQ(program.transactions(200, 2'000), Advice::locks);
  EXPECT_LT(program.took, kFirstStayNs);
  program.change(true);
  program.costs(1'000);
  EXPECT_EQ(program.locks(29'000, 1'000), Advice::stay);
  EXPECT_EQ(program.locks(2'000, 1'000), Advice::transactions);
}

TEST(Trial, TransactionsThatTakeAsMuchProcessorTimeStay) {
  Program program = in_a_stay(1'000);
  EXPECT_EQ(program.transactions(2'000, 2'000), Advice::locks); // to be compared again
  EXPECT_GE(program.took, kStayNs - 200 * kMs);
  program.change(true);
  EXPECT_EQ(program.locks(50, 1'000), Advice::transactions);
  program.change(false);
  program.costs(1'300);
  EXPECT_EQ(program.transactions(2'000, 2'000), Advice::locks);
  program.change(true);
  program.costs(1'000);
  EXPECT_EQ(program.locks(29'000, 1'000), Advice::stay);
}

TEST(Share, CountsByPhases) {
  Share share;
  share.begin({100, 1000, 0});
  share.end_phase({200, 1600, 0}, false);
  share.end_phase({300, 2000, 0}, true);
  EXPECT_EQ(share.entered(), 1000U);
  EXPECT_EQ(share.transactions(), 400U);
}

TEST(Share, CountsFromAMomentOn) {
  Share share;
  share.counts_from(250);
  share.begin({0, 0, 0});
  share.end_phase({200, 5000, 0}, true);
  EXPECT_EQ(share.entered(), 0U);
  share.end_phase({300, 6000, 0}, true); // half of it
  share.end_phase({400, 6200, 0}, false);
  EXPECT_EQ(share.entered(), 700U);
  EXPECT_EQ(share.transactions(), 500U);
}

} // namespace
} // namespace tandem::phases
