// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short sections beside transactions, those that are serial among them. Runs once for each
// algorithm (runtime/CMakeLists.txt).
#include "runtime/transaction/short.h"

#include "runtime/settings/settings.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/pairs.h"
#include "runtime/transaction/transaction.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tandem {
namespace {

void move_in_transaction(Pair &pair) {
  run([&] {
    add(pair.left, 1);
    add(pair.right, -1);
  });
}

// As the compiler builds it. Result: whether it ran in place.
bool move(Pair &pair, std::uint32_t *skipped = nullptr, Way way = Way::straight) {
  const tandem_short_place place{&pair, sizeof pair};
  const std::uint64_t how = _TANDEM_short_begin(skipped, &place, 1);
  if (how != 0) {
    const std::int64_t before = pair.left;
    pair.left += 1;
    if (way == Way::slow) // others come to wait for it
      std::this_thread::yield();
    if (way != Way::away) {
      pair.right -= 1;
      _TANDEM_short_end(how);
      return true;
    }
    pair.left = before;
    _TANDEM_short_undone(how, skipped);
  }
  move_in_transaction(pair);
  return false;
}

bool has_shorts() {
  const Algorithm algorithm = settings.algorithm;
  return algorithm == Algorithm::norec || algorithm == Algorithm::two_phase;
}

// Not the first transaction of the process's only thread.
class Short : public testing::Test {
protected:
  Short() {
    std::thread([] {}).join();
    move_in_transaction(pair_);
  }
  Pair pair_;
};

TEST_F(Short, RunsInPlaceUnderNorecAndTwoPhase) {
  EXPECT_EQ(move(pair_), has_shorts());
  EXPECT_EQ(pair_.left, 2);
  EXPECT_EQ(pair_.right, -2);
}

TEST_F(Short, WithoutPlacesItTakesTheClock) {
  const std::uint64_t how = _TANDEM_short_begin(nullptr, nullptr, 0);
  EXPECT_EQ(how != 0, settings.algorithm == Algorithm::norec);
  if (how != 0)
    _TANDEM_short_end(how);
}

TEST_F(Short, DoesNotBeginInATransaction) {
  run([&] {
    const tandem_short_place place{&pair_, sizeof pair_};
    EXPECT_EQ(_TANDEM_short_begin(nullptr, &place, 1), 0U);
  });
}

TEST_F(Short, IsSkippedForAWhileAfterItLedAway) {
  std::uint32_t skipped = 0;
  EXPECT_FALSE(move(pair_, &skipped, Way::away));
  EXPECT_EQ(skipped != 0, has_shorts());
  int transactions = 0;
  while (skipped != 0) {
    EXPECT_FALSE(move(pair_, &skipped));
    ASSERT_LT(++transactions, 100);
  }
  EXPECT_EQ(move(pair_, &skipped), has_shorts());
  EXPECT_EQ(pair_.left, -pair_.right);
}

// A transaction that has read the place looks again.
TEST_F(Short, IsSeenByATransactionThatIsUnderWay) {
  Other other([&] { EXPECT_TRUE(move(pair_)); });
  int attempts = 0;
  run([&] {
    const std::int64_t left = read(pair_.left);
    if (++attempts == 1) {
      other.tell(); // it ends after this transaction
      while (std::atomic_ref(pair_.right).load() == -left)
        std::this_thread::yield();
    }
    EXPECT_EQ(left, -read(pair_.right));
  });
  EXPECT_EQ(attempts, 2);
}

// What a transaction has locked keeps it out.
TEST_F(Short, WaitsForNobodyWithLocks) {
  std::atomic<bool> tried = false;
  Other other([&] {
    const tandem_short_place place{&pair_, sizeof pair_};
    EXPECT_EQ(_TANDEM_short_begin(nullptr, &place, 1), 0U);
    tried = true;
  });
  run([&] {
    read(pair_.left);
    other.tell();
    while (!tried)
      std::this_thread::yield();
  });
}

// The child's only thread finds the clock and the locks free, whoever had them for a moment. _Fork
// calls no handlers: those before a fork would wait for the other thread.
TEST_F(Short, IsOverInTheChildOfAFork) {
  std::atomic<bool> inside = false;
  std::atomic<bool> enough = false;
  Other other([&] {
    const tandem_short_place place{&pair_, sizeof pair_};
    const std::uint64_t how = _TANDEM_short_begin(nullptr, &place, 1);
    EXPECT_EQ(how != 0, has_shorts());
    inside = true;
    while (!enough)
      std::this_thread::yield();
    if (how != 0)
      _TANDEM_short_end(how);
  });
  other.tell();
  while (!inside)
    std::this_thread::yield();
  const pid_t child = ::_Fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20); // where it waits for a thread that is not there
    transaction::after_fork_in_child();
    move_in_transaction(pair_);
    ::_exit(pair_.left == -pair_.right ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  enough = true;
}

// A transaction that has only written commits as a short section does, under NOrec: not beside one
// that is serial.
TEST_F(Short, OneThatHasOnlyWrittenStaysOutOfOneThatIsSerial) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> inside = false;
    Other other([&] {
      serially([&] {
        const std::int64_t left = std::atomic_ref(pair_.left).load();
        inside = true;
        for (int n = 0; n < 200; ++n)
          std::this_thread::yield();
        EXPECT_EQ(std::atomic_ref(pair_.left).load(), left);
      });
    });
    run([&] {
      write(pair_.left, round + 100);
      other.tell();
      for (int n = 0; n < 200 && !inside; ++n) // others than NOrec's keep it out
        std::this_thread::yield();
    });
    other.wait();
    EXPECT_EQ(pair_.left, round + 100);
  }
}

// Short sections of four threads, transactions that check, and one that is serial now and then.
TEST_F(Short, IsAtomicBesideAllOthers) {
  std::array<Pair, 4> pairs{};
  constexpr int kMoves = 20'000;
  std::latch start(algorithm_changes() ? 7 : 6);
  std::atomic<int> left = 4;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      std::uint32_t skipped = 0;
      start.arrive_and_wait();
      for (int n = 0; n < kMoves; ++n)
        move(pairs[static_cast<std::size_t>(n + i) % pairs.size()], &skipped,
             n % 100 == 0   ? Way::away
             : n % 50 == 11 ? Way::slow
                            : Way::straight);
      --left;
    });
  threads.emplace_back([&] {
    start.arrive_and_wait();
    for (int n = 0; n < kMoves / 10; ++n)
      run([&] {
        for (const Pair &pair : pairs) {
          const std::int64_t right = read(pair.right);
          EXPECT_EQ(-read(pair.left), right);
        }
      });
  });
  add_disturbers(threads, start, pairs, kMoves / 50, left);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(moves_of(pairs), 4 * kMoves + 4 * (kMoves / 50));
}

} // namespace
} // namespace tandem
