// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algorithm changes while transactions run, at the test's word and by what is measured. Runs
// under `auto` (runtime/CMakeLists.txt).
#include "runtime/algorithms/automatic.h"

#include "runtime/abi/itm.h"
#include "runtime/algorithms/hardware.h"
#include "runtime/irrevocable/colours.h"
#include "runtime/irrevocable/test_output.h"
#include "runtime/settings/settings.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/guarded_by.h"
#include "runtime/transaction/short.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include <tandem/transaction.h>

extern "C" {
void _ITM_commitTransaction();
int _TANDEM_guarded_by_enter(const void *lock) noexcept;
}

namespace tandem {
namespace {

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

Mode mode_of_a_transaction() {
  Mode mode = Mode::idle;
  atomically([&] { mode = current_thread->mode; });
  return mode;
}

// Calls `body` at least once, and until `threads` others, which all do `other`, have ended.
void beside(int threads, const std::function<void(int)> &other, const std::function<void()> &body) {
  std::atomic<int> left = threads;
  std::vector<std::thread> others;
  for (int i = 0; i < threads; ++i)
    others.emplace_back([&, i] {
      other(i);
      --left;
    });
  do {
    body();
  } while (left != 0);
  for (std::thread &thread : others)
    thread.join();
}

// Who is slower by far loses at once; who is slower by little, when all has been measured; and the
// present one stays where they are alike.
TEST(automatic, judges_by_what_is_done_in_the_same_time) {
  using automatic::Verdict;
  using automatic::verdict;
  using automatic::Work;
  const Work present = {.commits = 10'000, .ns = 1'000'000};
  const auto other = [](std::uint64_t per_cent) { return Work{100 * per_cent, 1'000'000}; };
  EXPECT_EQ(verdict(present, other(20), 0), Verdict::keep);
  EXPECT_EQ(verdict(present, other(60), 0), Verdict::open);
  EXPECT_EQ(verdict(present, other(190), 0), Verdict::open);
  EXPECT_EQ(verdict(present, other(300), 0), Verdict::change);
  EXPECT_EQ(verdict(present, other(60), 1), Verdict::keep);
  EXPECT_EQ(verdict(present, other(120), 1), Verdict::open);
  EXPECT_EQ(verdict(present, other(190), 1), Verdict::change);
  const std::size_t last = automatic::kTurns - 1;
  EXPECT_EQ(verdict(present, other(99), last), Verdict::keep);
  EXPECT_EQ(verdict(present, other(105), last), Verdict::keep);
  EXPECT_EQ(verdict(present, other(120), last), Verdict::change);
  // A window that lasted longer.
  EXPECT_EQ(verdict(present, {20'000, 4'000'000}, 1), Verdict::keep);
  // A handful says nothing before the end.
  EXPECT_EQ(verdict({5, 1'000'000}, {20, 1'000'000}, 0), Verdict::open);
  EXPECT_EQ(verdict({10, 1'000'000}, {40, 1'000'000}, 0), Verdict::change);
  EXPECT_EQ(verdict({10, 1'000'000}, {40, 1'000'000}, last), Verdict::change);
  EXPECT_EQ(verdict({5, 1'000'000}, {20, 1'000'000}, last), Verdict::open);
  EXPECT_EQ(verdict({5, 1'000'000}, {20, 1'000'000}, automatic::kMostTurns - 1), Verdict::change);
  EXPECT_EQ(verdict({0, 1'000'000}, {0, 1'000'000}, automatic::kMostTurns - 1), Verdict::keep);
}

TEST(automatic, tries_one_after_the_other) {
  using automatic::next_to_try;
  using automatic::only;
  const automatic::Algorithms all = only(Algorithm::norec) | only(Algorithm::two_phase) |
                                    only(Algorithm::htm) | only(Algorithm::serial);
  EXPECT_EQ(next_to_try(all, true), Algorithm::serial);
  EXPECT_EQ(next_to_try(all, false), Algorithm::norec);
  EXPECT_EQ(next_to_try(only(Algorithm::htm) | only(Algorithm::serial), false), Algorithm::htm);
  EXPECT_EQ(next_to_try(only(Algorithm::htm), true), Algorithm::htm);
  EXPECT_EQ(next_to_try(only(Algorithm::serial), false), Algorithm::serial);
}

// Long transactions are looked at one by one, short ones seldom; and from the one to the other it
// does not take for ever.
TEST(automatic, looks_as_often_as_its_windows_need) {
  using automatic::kMostPerLook;
  using automatic::next_period;
  EXPECT_EQ(next_period(kMostPerLook, kMostPerLook, 10'000'000'000), 1U);
  EXPECT_EQ(next_period(1, 1, 1'000'000), 1U);
  EXPECT_EQ(next_period(1, 1, 10), 2U);
  EXPECT_EQ(next_period(8, 100'000, 1'000'000), 16U); // most of them were in hardware
  EXPECT_EQ(next_period(200, 200, 10), kMostPerLook);
  EXPECT_EQ(next_period(kMostPerLook, kMostPerLook, 0), kMostPerLook);
  const std::uint64_t period = next_period(100, 100, 1'000'000); // 10 us each
  EXPECT_GT(period * 10'000, 100'000U);
  EXPECT_LT(period * 10'000, 1'000'000U); // less than the shortest window
}

// A few transactions only: what is measured changes nothing before many more.
TEST(automatic, changes_what_transactions_run_by) {
  std::atomic<bool> enough = false;
  std::thread other([&] {
    while (!enough)
      std::this_thread::yield();
  });
  EXPECT_TRUE(automatic::change_to(Algorithm::two_phase, false));
  EXPECT_EQ(mode_of_a_transaction(), Mode::two_phase);
  EXPECT_TRUE(automatic::change_to(Algorithm::serial, false));
  EXPECT_EQ(mode_of_a_transaction(), Mode::undo); // it may be cancelled
  EXPECT_TRUE(automatic::change_to(Algorithm::norec, false));
  EXPECT_EQ(mode_of_a_transaction(), Mode::norec);
  enough = true;
  other.join();
}

// Transfers keep the sum, and whoever adds up sees that, while the algorithm changes all the time.
TEST(automatic, changes_beside_transactions_lose_nothing) {
  std::array<Cell, 8> accounts{};
  std::atomic<int> wrong;
  std::atomic<int> by_norec;
  std::atomic<int> by_two_phase;
  std::atomic<int> serial;
  std::atomic<int> in_hardware;
  const auto all_have_run = [&] {
    return by_norec != 0 && by_two_phase != 0 && serial != 0 &&
           (!settings.hardware || in_hardware != 0);
  };
  const std::uint64_t before = automatic::changes();
  beside(
      3,
      [&](int number) {
        // On busy cores a change may have to wait for long.
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        for (std::size_t i = 0;
             i < 20'000 || (!all_have_run() && std::chrono::steady_clock::now() < end); ++i) {
          const std::size_t from = (i * 7 + static_cast<std::size_t>(number)) % accounts.size();
          const std::size_t to = (i * 3 + 1) % accounts.size();
          if (i % 2 == 0)
            atomically([] {}); // the next one, by NOrec, joins at its first read
          atomically([&] {
            add(accounts[from], static_cast<std::uint64_t>(-1));
            add(accounts[to], 1);
          });
          Mode mode = Mode::idle;
          std::uint64_t sum = 0;
          atomically([&] {
            mode = current_thread->mode;
            sum = 0;
            for (const Cell &account : accounts)
              sum += tandem_read_u64(&account.value);
          });
          wrong += sum == 0 ? 0 : 1;
          by_norec += mode == Mode::norec ? 1 : 0;
          by_two_phase += mode == Mode::two_phase ? 1 : 0;
          serial += mode == Mode::undo ? 1 : 0;
          in_hardware += mode == Mode::hardware ? 1 : 0;
        }
      },
      [] {
        for (const Algorithm algorithm :
             {Algorithm::two_phase, Algorithm::norec, Algorithm::serial, Algorithm::htm}) {
          if (algorithm == Algorithm::htm && !settings.hardware)
            continue;
          automatic::change_to(algorithm, false);
          std::this_thread::yield();
        }
      });
  // All that have begun by software, beside hardware, have ended.
  EXPECT_EQ(hardware::state.software, 0U);
  EXPECT_TRUE(automatic::change_to(Algorithm::norec, false));
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(by_norec, 0);
  EXPECT_GT(by_two_phase, 0);
  EXPECT_GT(serial, 0);
  EXPECT_EQ(in_hardware > 0, settings.hardware);
  EXPECT_GT(automatic::changes(), before);
  for (const Cell &account : accounts)
    accounts[0].value += &account == accounts.data() ? 0 : account.value;
  EXPECT_EQ(accounts[0].value, 0U);
}

// A transaction may wait for what the changing thread does next.
TEST(automatic, gives_up_where_a_transaction_does_not_end) {
  static std::atomic<int> step;
  step = 0;
  static Cell cell;
  std::thread other([] {
    atomically([] {
      add(cell, 1); // under NOrec one that has accessed nothing is in nobody's way
      step = 1;
      while (step != 2)
        std::this_thread::yield();
    });
  });
  while (step != 1)
    std::this_thread::yield();
  const Algorithm present = settings.algorithm;
  const Algorithm wanted = present == Algorithm::norec ? Algorithm::two_phase : Algorithm::norec;
  EXPECT_FALSE(automatic::change_to(wanted, false));
  EXPECT_EQ(settings.algorithm, present);
  step = 2;
  other.join();
  EXPECT_TRUE(automatic::change_to(wanted, false));
}

// What is measured says which one stays; here only that both are tried, and nothing is lost.
TEST(automatic, tries_both) {
  static std::array<Cell, 2> cells;
  const std::uint64_t before = automatic::changes();
  const auto work = [](Cell &cell) {
    for (int i = 0; i < 1000; ++i)
      atomically([&] { add(cell, 1); });
  };
  static std::atomic<bool> enough;
  enough = false;
  std::uint64_t own = 0;
  std::uint64_t others = 0;
  std::thread other([&] {
    for (; !enough; others += 1000)
      work(cells[1]);
  });
  for (; automatic::changes() < before + 2; own += 1000)
    work(cells[0]);
  enough = true;
  other.join();
  EXPECT_EQ(cells[0].value, own);
  EXPECT_EQ(cells[1].value, others);
}

// What a window measures while sections held locks says nothing of algorithms: nothing is concluded
// from it, and the algorithm is the one from before.
TEST(automatic, phases_of_locks_interrupt_a_trial) {
  mode_of_a_transaction(); // the thread has had one
  colours::Shared &shared = _TANDEM_colours_shared;
  const auto compares = [&] { return shared.comparisons % 2 != 0; };
  const auto look_after_a_window = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (int i = 0; i < 1000; ++i)
      ++current_thread->transactions; // so many have ended, none of which has looked
    automatic::look(*current_thread, nullptr, true);
  };
  const auto look_until = [&](bool comparing) {
    while (compares() != comparing)
      look_after_a_window();
  };
  look_until(true);
  look_until(false); // a trial has ended
  const Algorithm first = settings.algorithm;
  const std::uint64_t before = automatic::changes();
  look_until(true); // once it has rested
  EXPECT_EQ(automatic::changes(), before);
  ++shared.lock_phases; // in the window of the first one
  look_after_a_window();
  EXPECT_FALSE(compares()); // an earlier trial has found the first one
  EXPECT_EQ(automatic::changes(), before);
  while (automatic::changes() == before)
    look_after_a_window();
  EXPECT_NE(settings.algorithm.load(), first);
  ++shared.lock_phases; // in the window of the other one
  look_after_a_window();
  EXPECT_EQ(settings.algorithm.load(), first);
  EXPECT_FALSE(compares());
  // Nor does it rest for ever where phases of locks come again and again.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!compares() && std::chrono::steady_clock::now() < end) {
    ++shared.lock_phases;
    look_after_a_window();
  }
  EXPECT_TRUE(compares());
}

// Nested transactions are counted too, so that the counts of outermost ones may all be odd.
TEST(automatic, tries_both_where_transactions_nest) {
  static Cell cell;
  std::atomic<bool> enough = false;
  std::thread other([&] {
    while (!enough)
      std::this_thread::yield();
  });
  const std::uint64_t before = automatic::changes();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (automatic::changes() < before + 2 && std::chrono::steady_clock::now() < end)
    for (int i = 0; i < 1000; ++i)
      atomically([] { atomically([] { add(cell, 1); }); });
  EXPECT_GE(automatic::changes(), before + 2);
  enough = true;
  other.join();
}

// However long the others are, and whatever they do between: who leaves `serial` waits for its
// turn.
TEST(automatic, leaves_one_at_a_time) {
  std::atomic<bool> enough = false;
  std::atomic<int> inside = 0;
  std::vector<std::thread> others;
  ASSERT_TRUE(automatic::change_to(Algorithm::serial, true));
  for (int i = 0; i < 4; ++i)
    others.emplace_back([&] {
      while (!enough)
        atomically([&] {
          ++inside;
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        });
    });
  while (inside < 8)
    std::this_thread::yield();
  EXPECT_TRUE(automatic::change_to(Algorithm::norec, true));
  EXPECT_EQ(settings.algorithm, Algorithm::norec);
  enough = true;
  for (std::thread &other : others)
    other.join();
}

// Sections that were a lock's may wait for what others do inside theirs.
TEST(automatic, sections_of_locks_do_not_run_one_at_a_time) {
  mode_of_a_transaction();
  const Algorithm first = settings.algorithm;
  ASSERT_TRUE(automatic::change_to(Algorithm::serial, false));
  tandem_section section{};
  section.kind = TANDEM_KIND_LOCK_REGION;
  automatic::look(*current_thread, &section, true);
  EXPECT_EQ(settings.algorithm, Algorithm::norec);
  automatic::sections_of_locks = false;
  EXPECT_TRUE(automatic::change_to(first, false));
}

// So do those of locks that guard their data, whichever way they begin: also before any of them has
// been under an algorithm that looks at the words of the locks.
TEST(automatic, sections_of_locks_that_stay_guarded_by_do_not_either) {
  static const int lock = 0;
  TestOutput output("automatic", 0);
  std::thread([] {}).join(); // from now on nothing runs as the only thread
  mode_of_a_transaction();
  const Algorithm first = settings.algorithm;
  const std::function<void()> ways[] = {
      [] {
        std::uint32_t skipped = 0;
        EXPECT_EQ(_TANDEM_short_begin_guarded_by(&skipped, &lock), 0U);
      },
      [] { atomically([] { _TANDEM_guarded_by_enter(&lock); }); },
      [&] {
        _TANDEM_begin(itm::kInstrumentedCode | itm::kHasGuardedByCode | itm::kHasNoAbort,
                      &output.pure("section"));
        _ITM_commitTransaction();
      },
  };
  for (const std::function<void()> &way : ways) {
    ASSERT_TRUE(automatic::change_to(Algorithm::serial, false));
    way();
    EXPECT_TRUE(automatic::sections_of_locks);
    automatic::look(*current_thread, nullptr, true);
    EXPECT_EQ(settings.algorithm, Algorithm::norec);
    automatic::sections_of_locks = false;
  }
  EXPECT_TRUE(automatic::change_to(first, false));
}

} // namespace
} // namespace tandem
