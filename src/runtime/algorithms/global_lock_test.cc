// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/abi/inline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <latch>
#include <ostream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tandem {
namespace {

tandem_colour_table table = {
    TANDEM_ABI_VERSION, sizeof(tandem_colour_table), 0, 0, 2, 0, "test", nullptr, nullptr};

constexpr tandem_section section_named(const char *name) {
  return {TANDEM_ABI_VERSION,
          sizeof(tandem_section),
          TANDEM_KIND_FUNCTION,
          TANDEM_CLASS_PURE,
          TANDEM_IRREVOCABLE_NEVER,
          0,
          0,
          7,
          0,
          name,
          "test.c",
          nullptr,
          nullptr,
          &table};
}

const tandem_section outer = section_named("outer");
const tandem_section inner = section_named("inner");

// The two doors to the lock, which programs may mix.
struct Calls {
  const char *name;
  void (*enter)(const tandem_section *);
  void (*leave)(const tandem_section *);
};
const Calls library = {"library", _TANDEM_global_lock_enter, _TANDEM_global_lock_leave};
const Calls inlined = {"inlined", _TANDEM_inline_global_lock_enter,
                       _TANDEM_inline_global_lock_leave};

void PrintTo(const Calls &calls, std::ostream *out) { *out << calls.name; }

class GlobalLock : public testing::TestWithParam<Calls> {
protected:
  void enter(const tandem_section &section) { GetParam().enter(&section); }
  void leave(const tandem_section &section) { GetParam().leave(&section); }
};
INSTANTIATE_TEST_SUITE_P(Doors, GlobalLock, testing::Values(library, inlined),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(GlobalLock, LosesNoIncrement) {
  constexpr int kThreads = 4;
  constexpr int kIncrements = 20000;
  long counter = 0; // not atomic: the lock is what keeps it right
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (int n = 0; n < kIncrements; ++n) {
        enter(outer);
        enter(inner);
        ++counter;
        leave(inner);
        ++counter;
        leave(outer);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(counter, 2L * kThreads * kIncrements);
}

TEST_P(GlobalLock, IsHeldUntilTheOutermostSectionIsLeft) {
  std::atomic<bool> entered = false;
  enter(outer);
  enter(inner);
  std::latch started(1);
  std::thread other([&] {
    started.count_down();
    enter(inner);
    entered = true;
    leave(inner);
  });
  started.wait();
  EXPECT_FALSE(entered);
  leave(inner); // does not let the other thread in
  EXPECT_EQ(_TANDEM_global_lock_depth, 1u);
  EXPECT_FALSE(entered);
  leave(outer);
  other.join();
  EXPECT_TRUE(entered);
  EXPECT_EQ(_TANDEM_global_lock_depth, 0u);
}

TEST_P(GlobalLock, CountsSectionsOfBothDoors) {
  enter(outer);
  library.enter(&inner);
  inlined.enter(&inner);
  EXPECT_EQ(_TANDEM_global_lock_depth, 3u);
  library.leave(&inner);
  inlined.leave(&inner);
  EXPECT_EQ(_TANDEM_global_lock_depth, 1u);
  leave(outer);
  EXPECT_EQ(_TANDEM_global_lock_depth, 0u);
}

int status_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

// Forks while other threads are in sections all the time. The child sees the two halves of the
// invariant equal and can enter sections itself, with threads of its own.
TEST_P(GlobalLock, ForksBetweenSections) {
  static long left = 0;
  static long right = 0;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!stop) {
        enter(outer);
        ++left;
        ++right;
        leave(outer);
      }
    });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(60); // a child that blocks dies of SIGALRM, which the parent reports
      enter(outer);
      const bool consistent = left == right;
      leave(outer);
      ::_exit(consistent ? 0 : 1);
    }
    EXPECT_EQ(status_of(child), 0);
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(left, right);
}

TEST_P(GlobalLock, ForksInsideASection) {
  enter(outer);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);
    const bool inside = _TANDEM_global_lock_depth == 1;
    leave(outer);
    enter(inner);
    leave(inner);
    ::_exit(inside ? 0 : 1);
  }
  EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(_TANDEM_global_lock_depth, 1u);
  leave(outer);
}

TEST_P(GlobalLock, LetsThreadsThatUsedItExit) {
  std::thread([&] {
    enter(outer);
    leave(outer);
  }).join();
  enter(outer);
  leave(outer);
}

using GlobalLockDeathTest = GlobalLock;
INSTANTIATE_TEST_SUITE_P(Doors, GlobalLockDeathTest, testing::Values(library, inlined),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(GlobalLockDeathTest, RefusesDescriptorsOfAnotherVersion) {
  tandem_section newer = outer;
  newer.abi_version = TANDEM_ABI_VERSION + 1;
  EXPECT_EXIT(
      enter(newer), testing::ExitedWithCode(2),
      "^libtandem: error: the program was compiled for version 2 of the runtime's ABI, this "
      "libtandem.so has version 1; use .*\n$");
}

TEST_P(GlobalLockDeathTest, AbortsWhenASectionIsLeftThatWasNotEntered) {
  EXPECT_EXIT(leave(outer), testing::KilledBySignal(SIGABRT),
              "'outer' \\(test.c:7\\) is left by a thread that is in none");
  EXPECT_EXIT((enter(outer), leave(inner)), testing::KilledBySignal(SIGABRT),
              "'inner' \\(test.c:7\\) is left, but 'outer' was entered");
}

TEST_P(GlobalLockDeathTest, AbortsWhenAThreadExitsInside) {
  const auto exit_inside = [&] { std::thread([&] { enter(outer); }).join(); };
  EXPECT_EXIT(exit_inside(), testing::KilledBySignal(SIGABRT),
              "a thread exits inside the atomic section 'outer' \\(test.c:7\\)");
}

} // namespace
} // namespace tandem
