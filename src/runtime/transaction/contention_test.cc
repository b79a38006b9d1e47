// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conflicts whose course is fixed: transactions meet at agreed places in their first attempts, so
// who waits for whom does not depend on the scheduler. Runs under `eager`, with TANDEM_POLICY=stall
// and TANDEM_HOURGLASS=2 (runtime/CMakeLists.txt).
#include "runtime/settings/settings.h"
#include "runtime/sync/hourglass.h"
#include "runtime/thread/thread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include <tandem/transaction.h>

namespace tandem {
namespace {

// Each is alone in its stripe.
struct alignas(64) Cell {
  std::uint64_t value = 0;
};

void atomically(const std::function<void()> &body) {
  tandem_run([](void *given) { (*static_cast<const std::function<void()> *>(given))(); },
             const_cast<std::function<void()> *>(&body), nullptr);
}

void add(Cell &cell, std::uint64_t by) {
  tandem_write_u64(&cell.value, tandem_read_u64(&cell.value) + by);
}

void until(const auto &condition) {
  while (!condition())
    std::this_thread::yield();
}

std::uint64_t restarts() {
  tandem_statistics statistics;
  tandem_get_statistics(&statistics);
  return statistics.restarts;
}

TEST(contention, runs_as_it_was_asked_to) {
  ASSERT_EQ(settings.algorithm, Algorithm::eager);
  ASSERT_EQ(settings.policy, contention::Policy::stall);
  ASSERT_EQ(settings.hourglass_after, 2U);
}

// The holder goes on only when the other one waits for it, and nobody restarts.
TEST(contention, stall_waits_for_the_holder) {
  static Cell cell;
  static std::atomic<Thread *> waiting;
  static std::atomic<bool> held;
  waiting = nullptr;
  held = false;
  const std::uint64_t before = restarts();
  std::thread holder([] {
    atomically([] {
      tandem_write_u64(&cell.value, 1);
      held = true;
      until([] {
        const Thread *other = waiting;
        return other != nullptr && other->contender.waits_for.load() == current_thread;
      });
      EXPECT_EQ(tandem_read_u64(&cell.value), 1U);
    });
  });
  std::thread other([] {
    until([] { return held.load(); });
    atomically([] {
      waiting = current_thread;
      tandem_write_u64(&cell.value, 2);
    });
    EXPECT_EQ(current_thread->contender.waits_for.load(), nullptr);
  });
  holder.join();
  other.join();
  EXPECT_EQ(cell.value, 2U);
  EXPECT_EQ(restarts(), before);
}

// Each takes a cell of its own, and then the next one's: a cycle. They begin at the same time of
// the clock, so the one with the largest identity is the youngest, and the only one that restarts;
// without looking for cycles they would wait for ever.
class Cycle : public testing::TestWithParam<int> {};

TEST_P(Cycle, is_broken_by_its_youngest) {
  static std::array<Cell, 8> cells;
  static std::atomic<int> holding;
  static std::array<int, 8> attempts;
  static std::array<std::uint64_t, 8> identities;
  const int members = GetParam();
  cells = {};
  holding = 0;
  attempts = {};
  const auto member = [members](int number) {
    const auto at = static_cast<std::size_t>(number);
    identities[at] = this_thread().identity;
    atomically([members, number, at] {
      const bool first = ++attempts[at] == 1;
      add(cells[at], 1);
      if (first) {
        ++holding;
        until([members] { return holding == members; });
      }
      add(cells[static_cast<std::size_t>((number + 1) % members)], 1);
    });
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < members; ++i)
    threads.emplace_back(member, i);
  for (std::thread &thread : threads)
    thread.join();
  const auto end = identities.begin() + members;
  const auto youngest = std::max_element(identities.begin(), end) - identities.begin();
  for (int i = 0; i < members; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(cells[at].value, 2U);
    EXPECT_EQ(attempts[at] > 1, i == youngest) << i << " of " << members;
  }
}
INSTANTIATE_TEST_SUITE_P(contention, Cycle, testing::Values(2, 3, 5, 8));

// Reads on until somebody has changed the cell, which the transaction has read before.
[[noreturn]] void until_undone(const Cell &cell) {
  for (;;) {
    tandem_read_u64(&cell.value);
    std::this_thread::yield();
  }
}

// Undoes the first two attempts of a transaction that says in which it is.
void change_twice(Cell &cell, const std::atomic<int> &phase) {
  for (int round = 1; round <= 2; ++round) {
    until([&] { return phase == round; });
    atomically([&] { add(cell, 1); });
  }
}

// Its third attempt has closed the hourglass: the other thread does not begin before it has
// committed.
TEST(contention, the_hourglass_keeps_others_from_beginning) {
  static Cell cell;
  static std::atomic<int> phase;
  static std::atomic<bool> committed;
  static std::atomic<Thread *> late;
  phase = 0;
  committed = false;
  late = nullptr;
  std::thread unlucky([] {
    static int attempts;
    attempts = 0;
    atomically([] {
      tandem_read_u64(&cell.value);
      if (++attempts <= 2) {
        phase = attempts;
        until_undone(cell);
      } else if (attempts == 3) {
        phase = 3;
        until([] { return late.load() != nullptr; });
        for (int i = 0; i < 1000; ++i) { // it would begin by now
          std::this_thread::yield();
          ASSERT_EQ(late.load()->mark->load(), 0U);
        }
      }
      tandem_write_u64(&cell.value, 100);
    });
    committed = true;
    EXPECT_EQ(attempts, 3);
  });
  change_twice(cell, phase);
  std::thread waiter([] {
    Thread &own = this_thread();
    until([] { return phase == 3; });
    late = &own;
    atomically([] { EXPECT_EQ(tandem_read_u64(&cell.value), 100U); });
  });
  unlucky.join();
  waiter.join();
  EXPECT_TRUE(committed);
  EXPECT_EQ(cell.value, 100U);
}

// Who sleeps until something changes must not keep those out who would change it.
TEST(contention, a_sleeper_opens_the_hourglass) {
  static Cell cell;
  static Cell ready;
  static std::atomic<int> phase;
  phase = 0;
  std::thread sleeper([] {
    static int attempts;
    attempts = 0;
    atomically([] {
      tandem_read_u64(&cell.value);
      if (++attempts <= 2) {
        phase = attempts;
        until_undone(cell);
      } else if (tandem_read_u64(&ready.value) == 0) {
        phase = 3;
        tandem_retry();
      }
    });
  });
  change_twice(cell, phase);
  until([] { return phase == 3; });
  atomically([] { add(ready, 1); });
  sleeper.join();
  EXPECT_EQ(cell.value, 2U);
}

} // namespace
} // namespace tandem
