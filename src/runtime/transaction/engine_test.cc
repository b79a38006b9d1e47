// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engine by way of its ABI, without gcc: what sanitizer builds can run. One process has one
// algorithm, so ctest runs this program once for each (runtime/CMakeLists.txt).
#include "contention/backoff.h"
#include "runtime/abi/itm.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/clock.h"
#include "runtime/sync/futex.h"
#include "runtime/sync/readers_writer.h"
#include "runtime/thread/thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include <tandem/transaction.h>

extern "C" {
std::uint32_t _ITM_beginTransaction(std::uint32_t properties, ...) __attribute__((returns_twice));
void _ITM_commitTransaction();
[[noreturn]] void _ITM_abortTransaction(std::uint32_t reason);
void _ITM_changeTransactionMode(std::uint32_t state);
std::uint32_t _ITM_inTransaction();
std::uint64_t _ITM_RU8(const std::uint64_t *address);
void _ITM_WU8(std::uint64_t *address, std::uint64_t value);
void _ITM_memcpyRtWt(void *to, const void *from, std::size_t bytes);
void _ITM_memsetW(void *to, int value, std::size_t bytes);
void *_ITM_malloc(std::size_t bytes);
void _ITM_free(void *memory);
}

namespace tandem {
namespace {

using Cells = std::array<std::uint64_t, 64>;

// False if the body cancelled it. The body's locals are in a frame below the begin, as gcc's are.
template <class Body> [[gnu::noinline]] bool atomically(const Body &body, bool may_cancel = false) {
  const std::uint32_t actions =
      _ITM_beginTransaction(itm::kInstrumentedCode | (may_cancel ? 0 : itm::kHasNoAbort));
  if ((actions & itm::kAbort) != 0)
    return false;
  body();
  _ITM_commitTransaction();
  return true;
}

[[gnu::noinline]] void add(std::uint64_t &cell, std::uint64_t by) {
  _ITM_WU8(&cell, _ITM_RU8(&cell) + by);
}

void in_threads(int count, const auto &body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    threads.emplace_back(body, i);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(engine, counts) {
  static std::uint64_t counter;
  counter = 0;
  in_threads(4, [](int) {
    for (int i = 0; i < 500; ++i)
      atomically([] { add(counter, 1); });
  });
  EXPECT_EQ(counter, 2000U);
}

// Money moves between accounts; who adds up sees all of it, also inside transactions that restart.
TEST(engine, transfers_keep_the_sum) {
  static Cells accounts;
  accounts.fill(100);
  static std::atomic<int> wrong;
  wrong = 0;
  in_threads(4, [](int number) {
    contention::Xorshift random(static_cast<std::uint64_t>(number) + 1);
    for (int i = 0; i < 300; ++i) {
      const std::size_t from = random() % accounts.size();
      const std::size_t to = random() % accounts.size();
      atomically([&] {
        add(accounts[from], static_cast<std::uint64_t>(-1));
        add(accounts[to], 1);
      });
      if (i % 10 == 0)
        atomically([&] {
          std::uint64_t sum = 0;
          for (const std::uint64_t &account : accounts)
            sum += _ITM_RU8(&account);
          if (sum != 6400)
            ++wrong;
        });
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::accumulate(accounts.begin(), accounts.end(), std::uint64_t{0}), 6400U);
}

TEST(engine, cancels_inside_and_outside) {
  static Cells cells;
  in_threads(2, [](int number) {
    for (int i = 0; i < 100; ++i) {
      const std::size_t own = static_cast<std::size_t>(number) * 8;
      EXPECT_FALSE(atomically(
          [&] {
            add(cells[own], 5);
            _ITM_abortTransaction(itm::kUserAbort);
          },
          true));
      bool inner = true;
      EXPECT_TRUE(atomically(
          [&] {
            add(cells[own], 1);
            inner = atomically(
                [&] {
                  add(cells[own], 100);
                  add(cells[own + 1], 100);
                  _ITM_abortTransaction(itm::kUserAbort);
                },
                true);
            add(cells[own + 1], 2);
          },
          true));
      EXPECT_FALSE(inner);
    }
  });
  EXPECT_EQ(cells[0], 100U);
  EXPECT_EQ(cells[1], 200U);
  EXPECT_EQ(cells[8], 100U);
  EXPECT_EQ(cells[9], 200U);
}

TEST(engine, becomes_irrevocable_in_the_middle) {
  static std::uint64_t counter;
  static int effects; // plain: nobody else is in a transaction meanwhile
  counter = 0;
  effects = 0;
  in_threads(4, [](int) {
    for (int i = 0; i < 50; ++i)
      atomically([] {
        add(counter, 1);
        _ITM_changeTransactionMode(0);
        ++effects;
        EXPECT_EQ(_ITM_inTransaction(), itm::kIrrevocable);
        add(counter, 1);
      });
  });
  EXPECT_EQ(counter, 400U);
  EXPECT_EQ(effects, 200);
}

TEST(engine, memory_comes_and_goes) {
  static std::uint64_t *block;
  block = nullptr;
  in_threads(3, [](int) {
    for (int i = 0; i < 200; ++i)
      atomically([] {
        auto *place = reinterpret_cast<std::uint64_t *>(&block);
        auto *old = reinterpret_cast<std::uint64_t *>(_ITM_RU8(place));
        if (old != nullptr) {
          EXPECT_EQ(_ITM_RU8(old), 42U);
          _ITM_free(old);
        }
        auto *fresh = static_cast<std::uint64_t *>(_ITM_malloc(sizeof(std::uint64_t)));
        _ITM_WU8(fresh, 42);
        _ITM_WU8(place, reinterpret_cast<std::uintptr_t>(fresh));
      });
  });
  EXPECT_EQ(*block, 42U);
  std::free(block);
}

// Whole blocks in memory that the transaction has allocated are not logged; what is beside it is,
// and what a nested transaction may have to restore.
TEST(engine, blocks_in_fresh_memory) {
  static std::array<std::uint8_t, 4096> source;
  static std::uint8_t *block;
  std::iota(source.begin(), source.end(), std::uint8_t{1});
  in_threads(2, [](int index) {
    atomically([&] {
      auto *fresh = static_cast<std::uint8_t *>(_ITM_malloc(3 * source.size()));
      Thread &thread = *current_thread;
      const std::size_t before = thread.undo.size() + thread.writes.size() + thread.owned.size();
      _ITM_memsetW(fresh, 7, 3 * source.size());
      _ITM_memcpyRtWt(fresh + source.size(), source.data(), source.size());
      EXPECT_EQ(thread.undo.size() + thread.writes.size() + thread.owned.size(), before);
      EXPECT_EQ(fresh[0], 7);
      EXPECT_EQ(std::memcmp(fresh + source.size(), source.data(), source.size()), 0);
      EXPECT_EQ(fresh[2 * source.size()], 7);
      EXPECT_FALSE(atomically(
          [&] {
            _ITM_memsetW(fresh, 8, source.size());
            _ITM_abortTransaction(itm::kUserAbort);
          },
          true));
      EXPECT_EQ(fresh[0], 7);
      EXPECT_EQ(fresh[source.size() - 1], 7);
      if (index == 0)
        _ITM_WU8(reinterpret_cast<std::uint64_t *>(&block),
                 reinterpret_cast<std::uintptr_t>(fresh));
      else
        _ITM_free(fresh);
    });
  });
  std::free(block);
}

// A transaction whose sets outgrow every log's first memory.
struct Chosen {
  contention::Policy policy;
  contention::Backoff backoff;
  std::uint32_t serialise_after;
  bool operator==(const Chosen &) const = default;
};

// Of a transaction, by the begin of gcc's code; with options, by the library's interface.
Chosen chosen(const tandem_options *options = nullptr) {
  static Chosen seen;
  const auto look = [](void *) {
    seen = {current_thread->policy, current_thread->backoff, current_thread->serialise_after};
  };
  if (options != nullptr)
    tandem_run(look, nullptr, options);
  else
    atomically([&] { look(nullptr); });
  return seen;
}

TEST(engine, a_thread_chooses_for_what_it_begins) {
  using contention::Backoff;
  using contention::Policy;
  const Chosen process = chosen();
  const tandem_options mine = {TANDEM_POLICY_POLKA, TANDEM_BACKOFF_RANDOM, 7, 0};
  const tandem_options before = tandem_choose(&mine);
  EXPECT_EQ(before.policy, TANDEM_POLICY_DEFAULT);
  EXPECT_EQ(chosen(), (Chosen{Policy::polka, Backoff::random, 7}));
  const tandem_options section = {TANDEM_POLICY_TIMESTAMP, TANDEM_BACKOFF_DEFAULT, 0, 0};
  EXPECT_EQ(chosen(&section), (Chosen{Policy::timestamp, Backoff::random, 7}));
  EXPECT_EQ(chosen(), (Chosen{Policy::polka, Backoff::random, 7}));
  std::thread([&] { EXPECT_EQ(chosen(), process); }).join();
  EXPECT_EQ(tandem_choose(nullptr).policy, TANDEM_POLICY_POLKA);
  EXPECT_EQ(chosen(), process);
}

TEST(engine, large_sets) {
  static std::vector<std::uint64_t> cells(100'000);
  in_threads(2, [](int) {
    for (int i = 0; i < 2; ++i)
      atomically([] {
        for (std::uint64_t &cell : cells)
          add(cell, 1);
      });
  });
  EXPECT_THAT(cells, testing::Each(4U));
}

// The last of them has no bit in two-phase's locks; the first one's is that of the lowest number.
TEST(engine, threads_beyond_the_bits_of_readers_meet_the_first) {
  static std::uint64_t cell;
  static std::atomic<int> left;
  constexpr int kThreads = 62;
  cell = 0;
  left = kThreads + 1;
  const auto body = [](int) {
    atomically([] {}); // makes current_thread
    for (--left; left != 0;)
      std::this_thread::yield();
    for (int i = 0; i < 3; ++i) {
      atomically([] {
        _ITM_RU8(&cell);
        if (current_thread->identity == 0)
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
      });
      atomically([] { add(cell, 1); });
    }
  };
  std::thread others([&] { in_threads(kThreads, body); });
  body(0);
  others.join();
  EXPECT_EQ(cell, 3U * (kThreads + 1));
}

// Every transaction that is not serial is among the readers, for as long as it runs.
TEST(engine, readers_of_the_global_lock_leave_it) {
  static std::uint64_t cell;
  static std::atomic<std::uint64_t> most;
  most = 0;
  in_threads(2, [](int) {
    for (int i = 0; i < 100; ++i) {
      atomically([] {
        add(cell, 1);
        most = std::max(most.load(), readers_writer::word.readers.load());
      });
      atomically(
          [] {
            add(cell, 1);
            _ITM_abortTransaction(itm::kUserAbort);
          },
          true);
      atomically([] {
        add(cell, 1);
        _ITM_changeTransactionMode(0);
      });
    }
  });
  EXPECT_EQ(cell, 400U);
  // Only what ends by software takes it; `auto` may have changed meanwhile.
  const bool adapts = (settings.special & kSpecialAdapt) != 0;
  if (!adapts && settings.algorithm != Algorithm::htm)
    EXPECT_EQ(most > 0, readers_writer::in_use() && settings.algorithm != Algorithm::serial);
  else
    EXPECT_TRUE(most == 0 || readers_writer::in_use());
  EXPECT_EQ(readers_writer::word.readers.load(), 0U);
}

// A transaction that is asked for a new snapshot wakes who sleeps until it has one. That sleep has
// no end here, so that a missing wake is one that is not there: the test does not end.
TEST(engine, who_waits_for_a_snapshot_is_woken) {
  // CMakeLists.txt leaves it out for algorithms that have no snapshots or may change to such.
  ASSERT_THAT(settings.algorithm.load(),
              testing::AnyOf(Algorithm::norec, Algorithm::eager, Algorithm::lazy));
  ASSERT_EQ(settings.special & kSpecialAdapt, 0U);
  static Cells cells;
  for (int round = 0; round < 50; ++round) {
    std::atomic<Thread *> asked{nullptr};
    std::atomic<bool> sleeps{false};
    std::atomic<bool> awake{false};
    std::thread reader([&] {
      atomically([&] {
        _ITM_RU8(cells.data());
        asked = current_thread;
        while (!sleeps)
          std::this_thread::yield();
        while (!awake)
          _ITM_RU8(cells.data());
      });
    });
    while (asked == nullptr)
      std::this_thread::yield();
    sync::global_clock.now.fetch_add(2); // as behind a commit
    std::atomic<std::uint32_t> &signals = asked.load()->signals;
    const std::uint32_t bits = kSignalPublish | kSignalWake;
    const std::uint32_t expected = signals.fetch_or(bits) | bits;
    sleeps = true;
    sync::wait_on(signals, expected);
    EXPECT_EQ(signals.load() & bits, 0U);
    awake = true;
    reader.join();
  }
}

// Writers wait for readers, readers for nobody that is idle: after the last commit everything is
// quiesced.
TEST(engine, everything_is_quiesced_in_the_end) {
  static std::uint64_t cell;
  in_threads(3, [](int) {
    for (int i = 0; i < 100; ++i)
      atomically([] { add(cell, 1); });
  });
  EXPECT_EQ(cell, 300U);
  const bool changes = (settings.special & kSpecialAdapt) != 0; // it may have run by two-phase
  if (!changes &&
      (settings.algorithm == Algorithm::serial || settings.algorithm == Algorithm::two_phase)) {
    EXPECT_EQ(sync::global_clock.quiesced.load(), 0U) << "it has no use for the clock";
    return;
  }
  EXPECT_LE(sync::global_clock.quiesced.load(), sync::global_clock.now.load());
  if (!changes)
    EXPECT_GT(sync::global_clock.quiesced.load(), 0U);
}

} // namespace
} // namespace tandem
