// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sections of locks that guard their data: short ones, transactions, and what is serial. Runs once
// for each algorithm (runtime/CMakeLists.txt); with the code that programs have inline.
#include "runtime/transaction/guarded_by.h"

#include "runtime/abi/itm.h"
#include "runtime/settings/settings.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/pairs.h"
#include "runtime/transaction/short.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <latch>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <tandem/transaction.h>

extern "C" {
int _TANDEM_guarded_by_enter(const void *lock) noexcept;
int _TANDEM_guarded_by_try_enter(const void *lock) noexcept;
int _TANDEM_guarded_by_only(const void *) noexcept;
int _TANDEM_guarded_by_join(const void *) noexcept;
// abi/inline_barriers.cc.
std::uint64_t _TANDEM_inline_short_begin_guarded_by(std::uint32_t *skipped, const void *lock);
void _TANDEM_inline_short_end_guarded_by(std::uint64_t how);
}

namespace tandem {
namespace {

// The lock is held to the end of the transaction.
void enter(const Pair &pair) { EXPECT_EQ(_TANDEM_guarded_by_enter(&pair.lock), 0); }

// As a section of such a lock does, before anything else.
void begin_guarded_by() {
  current_thread->properties |= itm::kBeginsGuardedBy;
  EXPECT_EQ(_TANDEM_guarded_by_only(nullptr), 0);
}

void move_in_transaction(Pair &pair) {
  run([&] {
    enter(pair);
    add(pair.left, 1);
    add(pair.right, -1);
  });
}

// As the compiler builds it. Result: whether it ran in place.
bool move_in_place(Pair &pair, std::uint32_t *skipped = nullptr, Way way = Way::straight) {
  const std::uint64_t how = _TANDEM_inline_short_begin_guarded_by(skipped, &pair.lock);
  if (how == 0)
    return false;
  const std::int64_t before = pair.left;
  pair.left += 1;
  if (way == Way::slow) // others come to wait for it
    std::this_thread::yield();
  if (way == Way::away) {
    pair.left = before;
    _TANDEM_short_undone_guarded_by(how, skipped);
    return false;
  }
  pair.right -= 1;
  _TANDEM_inline_short_end_guarded_by(how);
  return true;
}

void move(Pair &pair, std::uint32_t *skipped = nullptr, Way way = Way::straight) {
  if (!move_in_place(pair, skipped, way))
    move_in_transaction(pair);
}

bool is_free(const Pair &pair) {
  const std::uint64_t value = guarded_by::word_of(&pair.lock).value.load();
  return value == guarded_by::kFree || value == guarded_by::kUnused;
}

bool holds_words() { return settings.algorithm != Algorithm::serial; }

// Not the first transaction of the process's only thread.
class GuardedBy : public testing::Test {
protected:
  GuardedBy() {
    std::thread([] {}).join();
    move_in_transaction(pair_);
  }
  Pair pair_;
};

TEST_F(GuardedBy, ShortOnesRunInPlaceUnderEveryAlgorithmButSerial) {
  for (int i = 2; i < 5; ++i) { // the library's begin, then the one inline
    EXPECT_EQ(move_in_place(pair_), holds_words());
    if (holds_words()) {
      EXPECT_EQ(pair_.left, i);
      EXPECT_EQ(pair_.right, -i);
    }
  }
  EXPECT_TRUE(is_free(pair_));
}

TEST_F(GuardedBy, ShortOnesDoNotBeginInATransaction) {
  move(pair_);
  run([&] { EXPECT_EQ(_TANDEM_inline_short_begin_guarded_by(nullptr, &pair_.lock), 0U); });
}

TEST_F(GuardedBy, AreSkippedForAWhileAfterTheyLedAway) {
  std::uint32_t skipped = 0;
  move(pair_);
  EXPECT_FALSE(move_in_place(pair_, &skipped, Way::away));
  EXPECT_TRUE(is_free(pair_));
  EXPECT_EQ(skipped != 0, holds_words());
  int begins = 0;
  while (skipped != 0) {
    EXPECT_FALSE(move_in_place(pair_, &skipped));
    ASSERT_LT(++begins, 100);
  }
  EXPECT_EQ(move_in_place(pair_, &skipped), holds_words());
}

TEST_F(GuardedBy, ATransactionHoldsItsLockToItsEnd) {
  Other other([&] { EXPECT_FALSE(move_in_place(pair_)); });
  run([&] {
    enter(pair_);
    enter(pair_); // a second region of the same lock
    other.tell();
    other.wait();
  });
  EXPECT_EQ(move_in_place(pair_), holds_words());
}

TEST_F(GuardedBy, ACancelledTransactionHoldsNothing) {
  int ended = 0;
  run([&] {
    enter(pair_);
    write(pair_.left, 100);
    ++ended;
    tandem_cancel();
  });
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(pair_.left, 1);
  EXPECT_TRUE(is_free(pair_));
}

TEST_F(GuardedBy, ATransactionWaitsForAShortOne) {
  std::atomic<bool> inside = false;
  std::atomic<bool> leaves = false;
  Other other([&] {
    const std::uint64_t how = _TANDEM_inline_short_begin_guarded_by(nullptr, &pair_.lock);
    inside = true;
    if (how == 0)
      return;
    pair_.left += 1;
    while (!leaves)
      std::this_thread::yield();
    pair_.right -= 1;
    _TANDEM_inline_short_end_guarded_by(how);
  });
  other.tell();
  while (!inside)
    std::this_thread::yield();
  // The attempts live outside of it: it is undone while it waits.
  static std::atomic<int> attempts;
  attempts = 0;
  run([&] {
    if (++attempts == 3)
      leaves = true;
    if (!holds_words())
      leaves = true;
    enter(pair_);
    EXPECT_EQ(read(pair_.left), -read(pair_.right));
  });
  leaves = true;
  EXPECT_EQ(attempts >= 3, holds_words());
}

// Who will be serial waits for a short section that is under way, and one that begins sees it.
TEST_F(GuardedBy, WhoIsAloneIsAlone) {
  std::atomic<bool> is_serial = false;
  std::atomic<bool> tried = false;
  Other other([&] {
    while (!is_serial)
      std::this_thread::yield();
    EXPECT_FALSE(move_in_place(pair_));
    tried = true;
  });
  other.tell();
  serially([&] {
    is_serial = true;
    while (!tried)
      std::this_thread::yield();
  });
}

// A transaction that has read `left` before another one writes it must not enter what that one
// guards by the lock: it is not given up before everybody has seen the commit.
TEST_F(GuardedBy, WhatItReadsIsOfOneTime) {
  Pair second;
  Other writer([&] {
    run([&] {
      write(pair_.left, 7);
      enter(second);
      add(second.left, 1);
    });
  });
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  int attempts = 0;
  run([&] {
    const std::int64_t left = read(pair_.left);
    if (++attempts == 1) {
      writer.tell();
      while (std::atomic_ref(second.left).load() == 0)
        std::this_thread::yield();
    }
    enter(second);
    const std::int64_t there = second.left; // no algorithm looks
    seen.emplace_back(left, there);         // also of an attempt that goes on wrongly
  });
  EXPECT_EQ(seen, (std::vector<std::pair<std::int64_t, std::int64_t>>{{7, 1}}));
}

// One that has been in no other section does not look at others' commits, until it joins them.
TEST_F(GuardedBy, ATransactionOfOnlySuchLocksRunsBesideTheClock) {
  Pair second;
  Pair third;
  Other writer([&] {
    run([&] { write(second.left, 1); });
    run([&] { write(second.right, -1); });
  });
  int attempts = 0;
  run([&] {
    begin_guarded_by();
    enter(pair_);
    add(pair_.left, 1);
    if (++attempts == 1) {
      writer.tell();
      writer.wait(); // also for this one, were it not beside the clock
    }
    enter(third);
    add(third.left, 1);
    add(pair_.right, -1);
    add(third.right, -1);
    _TANDEM_guarded_by_join(nullptr);
    EXPECT_EQ(read(second.left), -read(second.right));
  });
  EXPECT_EQ(attempts, 1);
  EXPECT_EQ(pair_.left, -pair_.right);
  EXPECT_EQ(third.left, -third.right);
  EXPECT_EQ(pair_.left, 2);
  EXPECT_TRUE(is_free(pair_) && is_free(third));
}

// A section of another lock calls one of such a lock before it has touched anything.
TEST_F(GuardedBy, ASectionOfAnotherLockDoesNotRunBesideTheClock) {
  Pair second;
  Other writer([&] { run([&] { write(second.left, 1); }); });
  int attempts = 0;
  run([&] {
    _TANDEM_guarded_by_only(nullptr);
    enter(pair_);
    const std::int64_t left = read(second.left);
    if (++attempts == 1) {
      writer.tell();
      while (std::atomic_ref(second.left).load() == 0)
        std::this_thread::yield();
    }
    EXPECT_EQ(left, read(second.left));
  });
  EXPECT_EQ(attempts, 2);
}

TEST_F(GuardedBy, ATryFailsWhereAnotherThreadIsInside) {
  Other other([&] {
    run([&] {
      const int status = _TANDEM_guarded_by_try_enter(&pair_.lock);
      EXPECT_EQ(status, holds_words() ? EBUSY : 0);
    });
  });
  run([&] {
    EXPECT_EQ(_TANDEM_guarded_by_try_enter(&pair_.lock), 0);
    EXPECT_EQ(_TANDEM_guarded_by_try_enter(&pair_.lock), 0); // its own
    other.tell();
    other.wait();
  });
  EXPECT_TRUE(is_free(pair_));
}

TEST_F(GuardedBy, BecomesIrrevocableWithItsLock) {
  Pair second;
  std::atomic<bool> stop = false;
  Other other([&] {
    while (!stop)
      move(second);
  });
  other.tell();
  for (int i = 0; i < 200; ++i)
    run([&] {
      enter(pair_);
      add(pair_.left, 1);
      tandem_become_irrevocable();
      EXPECT_EQ(second.left, -second.right);
      pair_.right -= 1;
    });
  stop = true;
  EXPECT_EQ(pair_.left, 201);
  EXPECT_EQ(pair_.right, -201);
  EXPECT_TRUE(is_free(pair_));
}

TEST_F(GuardedBy, AChildProcessHasFreeLocks) {
  std::array<Pair, 16> pairs{};
  std::atomic<bool> stop = false;
  Other other([&] {
    for (std::size_t i = 0; !stop; ++i)
      move(pairs[i % pairs.size()]);
  });
  other.tell();
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      bool good = true;
      for (Pair &pair : pairs) {
        good = good && is_free(pair) && pair.left == -pair.right;
        good = good && move_in_place(pair) == holds_words();
      }
      serially([&] { good = good && pairs[0].left == -pairs[0].right; });
      _exit(good ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
}

// Short sections and transactions of four threads, transactions that check or hold several locks in
// any order, and one that is serial now and then.
TEST_F(GuardedBy, IsAtomicBesideAllOthers) {
  std::array<Pair, 4> pairs{};
  constexpr int kMoves = 20'000;
  std::latch start(algorithm_changes() ? 8 : 7);
  std::atomic<int> left = 4;
  std::vector<std::thread> threads;
  std::int64_t counted = 0;
  const auto pair_of = [&](int n) -> Pair & { return pairs[static_cast<std::size_t>(n) % 4]; };
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      std::uint32_t skipped = 0;
      start.arrive_and_wait();
      for (int n = 0; n < kMoves; ++n)
        move(pair_of(n + i), &skipped,
             n % 100 == 0   ? Way::away
             : n % 50 == 11 ? Way::slow
                            : Way::straight);
      --left;
    });
  threads.emplace_back([&] { // from one to the other
    start.arrive_and_wait();
    for (int n = 0; n < kMoves / 10; ++n)
      run([&] {
        Pair &from = pair_of(n);
        Pair &to = pair_of(n * 7 + 1);
        if (n % 2 == 0)
          begin_guarded_by();
        enter(from);
        add(from.left, -1);
        enter(to);
        add(to.left, 1);
        add(from.right, 1);
        add(to.right, -1);
        if (n % 4 == 0) { // what no such lock guards
          _TANDEM_guarded_by_join(nullptr);
          add(counted, 1);
        }
      });
  });
  threads.emplace_back([&] {
    start.arrive_and_wait();
    for (int n = 0; n < kMoves / 10; ++n)
      run([&] {
        add(counted, 1);
        for (const Pair &pair : pairs) {
          enter(pair);
          const std::int64_t right = read(pair.right);
          EXPECT_EQ(-read(pair.left), right);
        }
      });
  });
  add_disturbers(threads, start, pairs, kMoves / 50, left);
  for (std::thread &thread : threads)
    thread.join();
  for (const Pair &pair : pairs)
    EXPECT_TRUE(is_free(pair));
  EXPECT_EQ(moves_of(pairs), 4 * kMoves + 4 * (kMoves / 50));
  EXPECT_EQ(counted, kMoves / 10 / 4 + kMoves / 10);
}

} // namespace
} // namespace tandem
