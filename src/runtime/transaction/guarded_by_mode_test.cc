// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mode::guarded_by: transactions that come to no locks but those that guard their data, in place
// and with an undo log; and how they begin again as others. Runs once for each algorithm
// (runtime/CMakeLists.txt).
#include "runtime/abi/itm.h"
#include "runtime/irrevocable/test_output.h"
#include "runtime/settings/settings.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/guarded_by.h"
#include "runtime/transaction/pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <tandem/library.h>
#include <tandem/transaction.h>

extern "C" {
void _ITM_commitTransaction();
void _ITM_LB(const void *address, std::size_t bytes);
void *_ITM_malloc(std::size_t bytes);
void _ITM_free(void *memory);
int _TANDEM_guarded_by_enter(const void *lock) noexcept;
int _TANDEM_guarded_by_join(const void *) noexcept;
// abi/inline_barriers.cc.
void _TANDEM_inline_LU1(const std::uint8_t *address, void *thread);
void _TANDEM_inline_LU2(const std::uint16_t *address, void *thread);
void _TANDEM_inline_LU4(const std::uint32_t *address, void *thread);
void _TANDEM_inline_LU8(const std::uint64_t *address, void *thread);
}

namespace tandem {
namespace {

bool holds_words() {
  return settings.algorithm != Algorithm::serial && settings.algorithm != Algorithm::htm;
}

// As the compiler's wrapper: the body is told whether it runs in place. False: cancelled.
template <class Body>
[[gnu::noinline]] bool in_place(const tandem_section &section, const Body &body,
                                bool may_cancel = false) {
  const std::uint32_t actions =
      _TANDEM_begin(itm::kInstrumentedCode | itm::kBeginsGuardedBy | itm::kHasGuardedByCode |
                        (may_cancel ? 0 : itm::kHasNoAbort),
                    &section);
  if ((actions & itm::kAbort) != 0)
    return false;
  body((actions & itm::kRunGuardedBy) != 0);
  _ITM_commitTransaction();
  return true;
}

// As the code for such a transaction does.
template <class T> void log(const T &place) {
  if constexpr (sizeof(T) == 1)
    _TANDEM_inline_LU1(reinterpret_cast<const std::uint8_t *>(&place), current_thread);
  else if constexpr (sizeof(T) == 2)
    _TANDEM_inline_LU2(reinterpret_cast<const std::uint16_t *>(&place), current_thread);
  else if constexpr (sizeof(T) == 4)
    _TANDEM_inline_LU4(reinterpret_cast<const std::uint32_t *>(&place), current_thread);
  else
    _TANDEM_inline_LU8(reinterpret_cast<const std::uint64_t *>(&place), current_thread);
}
template <class T> [[gnu::noinline]] void put(T &place, T value) {
  log(place);
  place = value;
}

void enter(const Pair &pair) { EXPECT_EQ(_TANDEM_guarded_by_enter(&pair.lock), 0); }

bool is_free(const Pair &pair) {
  const std::uint64_t value = guarded_by::word_of(&pair.lock).value.load();
  return value == guarded_by::kFree || value == guarded_by::kUnused;
}

// Moves by `amount`, in either way.
void move_by(Pair &pair, std::int64_t amount, bool here) {
  if (here) {
    put(pair.left, pair.left + amount);
    put(pair.right, pair.right - amount);
  } else {
    add(pair.left, amount);
    add(pair.right, -amount);
  }
}
void move(const tandem_section &section, Pair &pair) {
  in_place(section, [&](bool here) {
    enter(pair);
    move_by(pair, 1, here);
  });
}

// Not the first transaction of the process's only thread, and as if none had led away yet.
class GuardedByMode : public testing::Test {
protected:
  GuardedByMode() {
    std::thread([] {}).join();
    move(section_, pair_);
    std::ranges::fill(current_thread->guarded_by_skip, std::uint8_t{0});
  }
  TestOutput output_{"guarded_by", 0U};
  const tandem_section &section_ = output_.pure("section");
  Pair pair_;
};

TEST_F(GuardedByMode, RunsInPlaceUnderEveryAlgorithmButSerial) {
  in_place(section_, [&](bool here) {
    EXPECT_EQ(here, holds_words());
    enter(pair_);
    EXPECT_EQ(is_free(pair_), !holds_words());
    move_by(pair_, 1, here);
    if (here)
      EXPECT_EQ(std::atomic_ref(pair_.left).load(), 2);
  });
  EXPECT_EQ(pair_.left, 2);
  EXPECT_EQ(pair_.right, -2);
  EXPECT_TRUE(is_free(pair_));
}

// What it did in any way is undone, and it is tried again after a while.
TEST_F(GuardedByMode, BeginsAgainWhereItComesToAnotherLock) {
  struct Object {
    std::uint8_t one = 1;
    std::uint16_t two = 2;
    std::uint32_t four = 4;
    std::uint64_t eight = 8;
    std::array<char, 100> bytes{};
  } object;
  object.bytes.fill('a');
  void *freed = std::malloc(16);
  std::memset(freed, 'f', 16);
  int attempts = 0; // lives outside
  const auto body = [&](bool here) {
    ++attempts;
    EXPECT_EQ(object.one, 1);
    EXPECT_EQ(object.two, 2);
    EXPECT_EQ(object.four, 4U);
    EXPECT_EQ(object.eight, 8U);
    EXPECT_TRUE(std::ranges::all_of(object.bytes, [](char byte) { return byte == 'a'; }));
    EXPECT_EQ(std::memcmp(freed, "ffffffffffffffff", 16), 0);
    EXPECT_EQ(is_free(pair_), true);
    enter(pair_);
    if (here) {
      put(object.one, std::uint8_t{10});
      put(object.two, std::uint16_t{20});
      put(object.two, std::uint16_t{21});
      put(object.four, std::uint32_t{40});
      put(object.eight, std::uint64_t{80});
      _ITM_LB(object.bytes.data() + 3, 90);
      std::memset(object.bytes.data() + 3, 'b', 90);
      EXPECT_NE(_ITM_malloc(24), nullptr); // freed by the abort, or reported as a leak
      _ITM_free(freed);
    }
    _TANDEM_guarded_by_join(nullptr);
    EXPECT_FALSE(here);
  };
  in_place(section_, body);
  EXPECT_EQ(attempts, holds_words() ? 2 : 1);
  EXPECT_TRUE(is_free(pair_));
  int others = 0;
  for (bool here = false; !here && holds_words(); ++others) {
    in_place(section_, [&](bool now) { here = now; });
    ASSERT_LT(others, 100);
  }
  if (holds_words())
    EXPECT_GT(others, 1);
  std::free(freed);
}

TEST_F(GuardedByMode, LogsNothingOfWhatItHasAllocated) {
  in_place(section_, [&](bool here) {
    void *memory = _ITM_malloc(1 << 20);
    if (here) {
      _ITM_LB(memory, 1 << 20);
      std::memset(memory, 1, 1 << 20);
      EXPECT_TRUE(current_thread->undo.empty());
    }
    _ITM_free(memory);
  });
}

// What it writes again and again is logged once or a few times, and becomes what it was.
TEST_F(GuardedByMode, UndoesALongLoopFromAShortLog) {
  union Cells {
    std::array<std::uint64_t, 300> eight;
    std::array<std::uint32_t, 600> four;
    std::array<std::uint8_t, 2400> one;
  };
  static Cells cells;
  for (std::size_t i = 0; i < cells.eight.size(); ++i)
    cells.eight[i] = i * 0x0101'0101'0101'0101;
  const Cells before = cells;
  std::uint64_t draw = 1;
  std::size_t capacity = 0;
  in_place(section_, [&](bool here) {
    EXPECT_EQ(std::memcmp(&cells, &before, sizeof cells), 0);
    for (int i = 0; i < 300'000 && here; ++i) {
      draw = draw * 6364136223846793005 + 1442695040888963407;
      const std::size_t at = draw >> 33;
      if (draw % 4 == 0)
        put(cells.one[at % cells.one.size()], static_cast<std::uint8_t>(i));
      else if (draw % 4 == 1)
        put(cells.four[at % cells.four.size()], static_cast<std::uint32_t>(i));
      else
        put(cells.eight[at % 8], static_cast<std::uint64_t>(i));
    }
    capacity = std::max(capacity, current_thread->undo.capacity());
    _TANDEM_guarded_by_join(nullptr);
  });
  EXPECT_LE(capacity, 16'384U);
}

TEST_F(GuardedByMode, IsCancelledWithAllThatItWrote) {
  int ended = 0;
  EXPECT_FALSE(in_place(
      section_,
      [&](bool here) {
        enter(pair_);
        move_by(pair_, 100, here);
        ++ended;
        tandem_cancel();
      },
      /*may_cancel=*/true));
  EXPECT_TRUE(ended == 1 || (ended == 0 && settings.hardware)); // which undoes that as well
  EXPECT_EQ(pair_.left, 1);
  EXPECT_EQ(pair_.right, -1);
  EXPECT_TRUE(is_free(pair_));
}

// Nothing says what it has read.
TEST_F(GuardedByMode, WaitsForAChangeAsAnother) {
  Other other([&] { move(section_, pair_); });
  int attempts = 0;
  bool was_here = false;
  const auto body = [&](bool here) {
    if (++attempts == 1)
      was_here = here;
    enter(pair_);
    other.tell();
    if ((here ? pair_.left : read(pair_.left)) < 2)
      tandem_retry();
    move_by(pair_, 1, here);
  };
  in_place(section_, body, /*may_cancel=*/true);
  EXPECT_EQ(was_here, holds_words());
  EXPECT_GE(attempts, 2);
  EXPECT_EQ(pair_.left, 3);
  EXPECT_EQ(pair_.right, -3);
}

TEST_F(GuardedByMode, BecomesIrrevocableAsAnother) {
  Pair second;
  std::atomic<bool> stop = false;
  Other other([&] {
    while (!stop)
      move(section_, second);
  });
  other.tell();
  for (int i = 0; i < 200; ++i)
    in_place(output_.pure("irrevocable"), [&](bool here) {
      enter(pair_);
      move_by(pair_, 1, here);
      tandem_become_irrevocable();
      EXPECT_EQ(second.left, -second.right);
    });
  stop = true;
  EXPECT_EQ(pair_.left, 201);
  EXPECT_EQ(pair_.right, -201);
  EXPECT_TRUE(is_free(pair_));
}

TEST_F(GuardedByMode, NestsAsAnother) {
  int attempts = 0;
  in_place(section_, [&](bool here) {
    ++attempts;
    enter(pair_);
    move_by(pair_, 1, here);
    run([&] { add(pair_.left, 5); });
    EXPECT_FALSE(here);
    add(pair_.right, -5);
  });
  EXPECT_EQ(attempts, holds_words() ? 2 : 1);
  EXPECT_EQ(pair_.left, 7);
  EXPECT_EQ(pair_.right, -7);
}

// Two hold two locks in both orders: neither waits for ever.
TEST_F(GuardedByMode, GivesUpALockThatItWaitsFor) {
  Pair second;
  constexpr int kMoves = 2000;
  const auto both = [&](Pair &first, Pair &then) {
    for (int i = 0; i < kMoves; ++i)
      in_place(section_, [&](bool here) {
        enter(first);
        move_by(first, 1, here);
        if (i % 64 == 0)
          std::this_thread::yield();
        enter(then);
        move_by(then, 1, here);
      });
  };
  Other other([&] { both(second, pair_); });
  other.tell();
  both(pair_, second);
  other.wait();
  EXPECT_EQ(pair_.left, 2 * kMoves + 1);
  EXPECT_EQ(pair_.right, -2 * kMoves - 1);
  EXPECT_EQ(second.left, 2 * kMoves);
  EXPECT_EQ(second.right, -2 * kMoves);
}

// Who commits does not wait for it, and it does not look at others' commits.
TEST_F(GuardedByMode, RunsBesideAllClocks) {
  Pair second;
  Other writer([&] {
    run([&] { write(second.left, 1); });
    run([&] { write(second.right, -1); });
  });
  int attempts = 0;
  in_place(section_, [&](bool here) {
    enter(pair_);
    move_by(pair_, 1, here);
    if (++attempts == 1 && here) {
      writer.tell();
      writer.wait();
    }
  });
  writer.tell();
  EXPECT_EQ(attempts, 1);
}

TEST_F(GuardedByMode, WhoIsAloneWaitsForIt) {
  std::atomic<bool> inside = false;
  std::atomic<bool> asked = false;
  Other other([&] {
    while (!inside)
      std::this_thread::yield();
    asked = true;
    serially([&] { EXPECT_EQ(pair_.left, -pair_.right); });
  });
  other.tell();
  in_place(section_, [&](bool here) {
    enter(pair_);
    if (here)
      put(pair_.left, pair_.left + 1);
    else
      add(pair_.left, 1);
    inside = true;
    while (!asked && here)
      std::this_thread::yield();
    for (int i = 0; i < 100; ++i)
      std::this_thread::yield();
    if (here)
      put(pair_.right, pair_.right - 1);
    else
      add(pair_.right, -1);
  });
}

// No lock guards the library's counters.
TEST_F(GuardedByMode, CountsBesideOthers) {
  static std::uint64_t counter;
  counter = 0;
  constexpr int kCounts = 2000;
  const tandem_section &counts = output_.pure("counts");
  Other other([&] {
    for (int i = 0; i < kCounts; ++i)
      run([&] { tandem_counter_add_u64(&counter, 1); });
  });
  other.tell();
  for (int i = 0; i < kCounts; ++i)
    in_place(counts, [&](bool here) {
      enter(pair_);
      move_by(pair_, 1, here);
      tandem_counter_add_u64(&counter, 1);
    });
  other.wait();
  EXPECT_EQ(counter, 2U * kCounts);
  EXPECT_EQ(pair_.left, kCounts + 1);
}

TEST_F(GuardedByMode, AChildProcessGoesOn) {
  const pid_t child = fork();
  if (child == 0) {
    move(section_, pair_);
    bool good = pair_.left == 2 && pair_.right == -2 && is_free(pair_);
    serially([&] { good = good && pair_.left == -pair_.right; });
    _exit(good ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Beside others that come to the same locks, to more, and to all.
TEST_F(GuardedByMode, IsAtomicBesideAllOthers) {
  std::array<Pair, 4> pairs{};
  constexpr int kMoves = 20'000;
  std::latch start(algorithm_changes() ? 7 : 6);
  std::atomic<int> left = 4;
  std::vector<std::thread> threads;
  std::int64_t counted = 0;
  const tandem_section &moves = output_.pure("moves");
  const tandem_section &joins = output_.pure("joins");
  const auto pair_of = [&](int n) -> Pair & { return pairs[static_cast<std::size_t>(n) % 4]; };
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      for (int n = 0; n < kMoves; ++n) {
        Pair &pair = pair_of(n + i);
        if (n % 10 != 3) {
          in_place(moves, [&](bool here) {
            enter(pair);
            move_by(pair, 1, here);
          });
          continue;
        }
        in_place(joins, [&](bool here) { // between two; some come to what no such lock guards
          Pair &to = pair_of(n * 7 + 1);
          enter(pair);
          move_by(pair, 1, here);
          if (n % 100 == 13) {
            _TANDEM_guarded_by_join(nullptr);
            add(counted, 1);
          }
          enter(to);
          move_by(pair, -3, here);
          if (n % 100 == 53)
            std::this_thread::yield();
          move_by(to, 3, here);
        });
      }
      --left;
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
  EXPECT_EQ(counted, kMoves / 10 + 4 * (kMoves / 100));
}

} // namespace
} // namespace tandem
