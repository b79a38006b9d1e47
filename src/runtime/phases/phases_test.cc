// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sections of the two phases never run at the same time, whoever changes the phase and whenever.
// The test's sections hold one mutex in the phase of locks and another one, which stands for
// transactions, else: only the phases keep the two apart.
#include "runtime/phases/phases.h"

#include "runtime/irrevocable/barrier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <pthread.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tandem::phases {
namespace {

constexpr tandem_section kSection = {TANDEM_ABI_VERSION,
                                     sizeof(tandem_section),
                                     TANDEM_KIND_BLOCK,
                                     TANDEM_CLASS_PURE,
                                     TANDEM_IRREVOCABLE_NEVER,
                                     0,
                                     0,
                                     1,
                                     0,
                                     "section",
                                     "file.c",
                                     nullptr,
                                     nullptr,
                                     nullptr};

std::uint32_t current() { return __atomic_load_n(&_TANDEM_phase[0], __ATOMIC_ACQUIRE); }

std::uint32_t enter() { return _TANDEM_inline_phase_enter(&kSection, 0); }
void leave() { _TANDEM_inline_phase_leave(&kSection); }

// Changes to `wanted`, from a thread that is outside.
void change_to(std::uint32_t wanted) {
  while (current() != wanted) {
    request(wanted, 0);
    enter();
    leave();
  }
}

class Phases : public testing::Test {
protected:
  void SetUp() override {
    set_adapting(false);
    change_to(TANDEM_PHASE_LOCKS);
  }
  void TearDown() override { barrier::kernel = barrier::Kernel::unknown; }
};

TEST_F(Phases, SectionsHoldLocksFirst) {
  EXPECT_EQ(enter(), 1U);
  leave();
}

TEST_F(Phases, ChangeOnRequestAndBack) {
  change_to(TANDEM_PHASE_TRANSACTIONS);
  EXPECT_EQ(enter(), 0U);
  leave();
  change_to(TANDEM_PHASE_LOCKS);
  EXPECT_EQ(enter(), 1U);
  leave();
}

TEST_F(Phases, NestedSectionIsInThePhaseOfTheOutermost) {
  EXPECT_EQ(enter(), 1U);
  request(TANDEM_PHASE_TRANSACTIONS, 0);
  EXPECT_EQ(enter(), 1U);
  leave();
  EXPECT_EQ(enter(), 1U);
  leave();
  leave();
  EXPECT_EQ(enter(), 0U); // changed on the way in
  EXPECT_EQ(enter(), 0U);
  leave();
  leave();
}

TEST_F(Phases, ChangeWaitsForASection) {
  std::atomic<bool> inside{false};
  std::atomic<bool> finish{false};
  std::atomic<bool> over{false};
  std::thread other([&] {
    EXPECT_EQ(enter(), 1U);
    inside = true;
    while (!finish)
      std::this_thread::yield();
    over = true;
    leave();
  });
  while (!inside)
    std::this_thread::yield();
  request(TANDEM_PHASE_TRANSACTIONS, 0);
  // It does not end while the other one is inside: given up.
  EXPECT_EQ(enter(), 1U);
  leave();
  EXPECT_EQ(current(), std::uint32_t{TANDEM_PHASE_LOCKS});
  finish = true;
  change_to(TANDEM_PHASE_TRANSACTIONS);
  EXPECT_TRUE(over);
  other.join();
}

// Sections of `threads` threads while the phase changes `changes` times.
void exclude(unsigned threads, unsigned changes) {
  pthread_mutex_t by_locks = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t by_transactions = PTHREAD_MUTEX_INITIALIZER;
  long count = 0; // not atomic
  std::atomic<bool> stop{false};
  std::atomic<long> sections{0};
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i)
    all.emplace_back([&] {
      long own = 0;
      for (; !stop; ++own) {
        pthread_mutex_t &mutex = enter() != 0 ? by_locks : by_transactions;
        EXPECT_EQ(_TANDEM_inline_phase_lock(&mutex), 0);
        count = count + 1;
        pthread_mutex_unlock(&mutex);
        leave();
      }
      sections += own;
    });
  for (unsigned i = 0; i < changes; ++i) {
    const std::uint32_t wanted = i % 2 == 0 ? TANDEM_PHASE_TRANSACTIONS : TANDEM_PHASE_LOCKS;
    while (current() != wanted) {
      request(wanted, 0);
      std::this_thread::yield();
    }
  }
  stop = true;
  for (std::thread &thread : all)
    thread.join();
  EXPECT_EQ(count, sections.load());
}

TEST_F(Phases, NeverOverlap) { exclude(4, 200); }

TEST_F(Phases, NeverOverlapWithoutMembarrier) {
  barrier::kernel = barrier::Kernel::unable;
  exclude(2, 20);
}

std::int64_t processor_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Whether or not waits are timed.
TEST_F(Phases, WaitingForALockSleeps) {
  for (const bool adapting : {false, true}) {
    set_adapting(adapting);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    std::int64_t used = 0;
    std::thread waiting([&] {
      EXPECT_EQ(enter(), 1U);
      const std::int64_t before = processor_ns();
      EXPECT_EQ(_TANDEM_inline_phase_lock(&mutex), 0);
      used = processor_ns() - before;
      pthread_mutex_unlock(&mutex);
      leave();
    });
    ::usleep(100'000);
    pthread_mutex_unlock(&mutex);
    waiting.join();
    set_adapting(false);
    EXPECT_LT(used, 50'000'000);
  }
}

// What a mutex of each kind answers to its owner, and after a thread that exited with it, is what
// pthread_mutex_lock would; also in a process that has had one thread only.
TEST_F(Phases, MutexesOfEveryKindAnswerAsTheLibrary) {
  const auto make = [](int type, int protocol, int robust) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutex_t mutex;
    EXPECT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
    return mutex;
  };
  for (const bool adapting : {false, true})
    for (const int protocol : {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT})
      for (const int robust : {PTHREAD_MUTEX_STALLED, PTHREAD_MUTEX_ROBUST}) {
        set_adapting(adapting);
        __libc_single_threaded = adapting ? 0 : 1; // until another thread begins
        pthread_mutex_t recursive = make(PTHREAD_MUTEX_RECURSIVE, protocol, robust);
        pthread_mutex_t checked = make(PTHREAD_MUTEX_ERRORCHECK, protocol, robust);
        EXPECT_EQ(enter(), 1U);
        for (pthread_mutex_t *mutex : {&recursive, &checked})
          EXPECT_EQ(_TANDEM_inline_phase_lock(mutex), 0);
        EXPECT_EQ(_TANDEM_inline_phase_lock(&recursive), 0);
        EXPECT_EQ(_TANDEM_inline_phase_lock(&checked), EDEADLK);
        for (pthread_mutex_t *mutex : {&recursive, &recursive, &checked})
          EXPECT_EQ(pthread_mutex_unlock(mutex), 0);
        EXPECT_EQ(pthread_mutex_unlock(&checked), EPERM);
        if (robust == PTHREAD_MUTEX_ROBUST) {
          std::thread([&] { pthread_mutex_lock(&checked); }).join();
          EXPECT_EQ(_TANDEM_inline_phase_lock(&checked), EOWNERDEAD);
          EXPECT_EQ(pthread_mutex_consistent(&checked), 0);
          EXPECT_EQ(pthread_mutex_unlock(&checked), 0);
        }
        leave();
      }
  set_adapting(false);
}

// Sections that wait for each other in the phase of locks only.
TEST_F(Phases, ContendedLocksLeadToTransactions) {
  set_adapting(true);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<bool> stop{false};
  std::vector<std::thread> all;
  for (unsigned i = 0; i < 3; ++i)
    all.emplace_back([&] {
      while (!stop) {
        const bool plain = enter() != 0;
        if (plain)
          _TANDEM_inline_phase_lock(&mutex);
        ::usleep(200);
        if (plain)
          pthread_mutex_unlock(&mutex);
        else
          stop = true;
        leave();
      }
    });
  for (std::thread &thread : all)
    thread.join();
  set_adapting(false);
  EXPECT_TRUE(stop);
}

// Waits so short that nobody looks at the clock for them.
TEST_F(Phases, TicksAddUp) {
  using std::chrono::seconds;
  using std::chrono::steady_clock;
  set_adapting(true);
  ASSERT_EQ(enter(), 1U);
  const auto end = steady_clock::now() + seconds(20);
  std::uint64_t since = ticks();
  while (_TANDEM_phase[0] == TANDEM_PHASE_LOCKS && steady_clock::now() < end) {
    const std::uint64_t present = ticks();
    has_waited(present - since);
    since = present;
  }
  EXPECT_EQ(_TANDEM_phase[0], static_cast<std::uint32_t>(TANDEM_PHASE_TO_TRANSACTIONS));
  leave();
  set_adapting(false);
}

// One that always waits, for moments of which none is worth telling by itself.
TEST_F(Phases, ShortWaitsAddUp) {
  using std::chrono::seconds;
  using std::chrono::steady_clock;
  set_adapting(true);
  ASSERT_EQ(enter(), 1U);
  const auto end = steady_clock::now() + seconds(20);
  std::int64_t since = begin_waiting();
  while (_TANDEM_phase[0] == TANDEM_PHASE_LOCKS && steady_clock::now() < end)
    since = keep_waiting(since);
  EXPECT_EQ(_TANDEM_phase[0], static_cast<std::uint32_t>(TANDEM_PHASE_TO_TRANSACTIONS));
  leave();
  set_adapting(false);
}

TEST_F(Phases, SlowTransactionsAreGivenUp) {
  set_adapting(true);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<int> transactions{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> all;
  for (unsigned i = 0; i < 2; ++i)
    all.emplace_back([&] {
      while (!stop) {
        const bool plain = enter() != 0;
        if (plain)
          _TANDEM_inline_phase_lock(&mutex);
        ::usleep(plain ? 200 : 5'000);
        if (plain)
          pthread_mutex_unlock(&mutex);
        transactions += plain ? 0 : 1;
        if (plain && transactions != 0)
          stop = true;
        leave();
      }
    });
  for (std::thread &thread : all)
    thread.join();
  set_adapting(false);
  EXPECT_GT(transactions, 0);
}

// --- sections that hold their colours in the phase of locks

constexpr tandem_colour kColours[] = {{"A", 0, 0}, {"B", 0, 0}};
tandem_colour_table table = {
    TANDEM_ABI_VERSION, sizeof(tandem_colour_table), 2, 1, 4, 0, "program", kColours, nullptr};
constexpr std::uint64_t kSets[] = {0b01, 0b10, 0b11, 0b00};

tandem_section coloured(std::uint32_t index) {
  tandem_section section = kSection;
  section.index = index;
  section.colours = section.guard = &kSets[index];
  section.table = &table;
  return section;
}

const tandem_section by_a = coloured(0);
const tandem_section by_b = coloured(1);
const tandem_section by_both = coloured(2);
const tandem_section by_none = coloured(3);

TEST_F(Phases, SectionsWithOneColourInCommonExcludeEachOther) {
  constexpr unsigned kRounds = 30'000; // of each of three threads; a third of them by each section
  long under_a = 0;                    // none of them atomic
  long under_b = 0;
  std::vector<std::thread> all;
  for (unsigned i = 0; i < 3; ++i)
    all.emplace_back([&, i] {
      for (unsigned round = 0; round < kRounds; ++round) {
        const unsigned which = (i + round) % 3;
        const tandem_section &section = which == 0 ? by_a : which == 1 ? by_b : by_both;
        ASSERT_EQ(_TANDEM_inline_phase_enter_colours(&section, 0), 1U);
        if (which != 1)
          ++under_a;
        if (which != 0)
          ++under_b;
        _TANDEM_inline_phase_leave_colours(&section);
      }
    });
  for (std::thread &thread : all)
    thread.join();
  EXPECT_EQ(under_a, 2L * kRounds);
  EXPECT_EQ(under_b, 2L * kRounds);
}

TEST_F(Phases, OtherColoursAreFree) {
  ASSERT_EQ(_TANDEM_inline_phase_enter_colours(&by_a, 0), 1U);
  std::thread([] {
    for (const tandem_section *section : {&by_b, &by_none}) {
      EXPECT_EQ(_TANDEM_inline_phase_enter_colours(section, 0), 1U);
      _TANDEM_inline_phase_leave_colours(section);
    }
  }).join();
  _TANDEM_inline_phase_leave_colours(&by_a);
}

TEST_F(Phases, ColoursOfTheOutermostAreHeldToItsEnd) {
  std::atomic<bool> left{false};
  ASSERT_EQ(_TANDEM_inline_phase_enter_colours(&by_both, 0), 1U);
  ASSERT_EQ(_TANDEM_inline_phase_enter_colours(&by_a, 0), 1U);
  _TANDEM_inline_phase_leave_colours(&by_a);
  std::thread other([&] {
    EXPECT_EQ(_TANDEM_inline_phase_enter_colours(&by_a, 0), 1U);
    EXPECT_TRUE(left);
    _TANDEM_inline_phase_leave_colours(&by_a);
  });
  ::usleep(2000); // a thread that is not kept out is in by now
  left = true;
  _TANDEM_inline_phase_leave_colours(&by_both);
  other.join();
}

TEST_F(Phases, EnforcedSectionsHoldNoColours) {
  change_to(TANDEM_PHASE_TRANSACTIONS);
  ASSERT_EQ(_TANDEM_inline_phase_enter_colours(&by_a, 0), 0U);
  std::thread([] {
    EXPECT_EQ(_TANDEM_inline_phase_enter_colours(&by_a, 0), 0U);
    _TANDEM_inline_phase_leave_colours(&by_a);
  }).join();
  _TANDEM_inline_phase_leave_colours(&by_a);
}

TEST_F(Phases, ContendedColoursLeadToTransactions) {
  set_adapting(true);
  std::atomic<bool> stop{false};
  std::vector<std::thread> all;
  for (unsigned i = 0; i < 3; ++i)
    all.emplace_back([&] {
      while (!stop) {
        const bool plain = _TANDEM_inline_phase_enter_colours(&by_a, 0) != 0;
        ::usleep(200);
        stop = stop || !plain;
        _TANDEM_inline_phase_leave_colours(&by_a);
      }
    });
  for (std::thread &thread : all)
    thread.join();
  set_adapting(false);
  EXPECT_TRUE(stop);
}

// Transactions are slower than the locks were, and one that does not end keeps the phase.
TEST_F(Phases, ChangeThatDoesNotEndIsRarelyTried) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  set_adapting(true);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<bool> inside{false};
  std::atomic<bool> finish{false};
  std::vector<std::thread> all;
  for (unsigned i = 0; i < 3; ++i)
    all.emplace_back([&] {
      while (!inside) {
        const bool plain = enter() != 0;
        if (plain) {
          _TANDEM_inline_phase_lock(&mutex);
          ::usleep(200);
          pthread_mutex_unlock(&mutex);
        } else if (!inside.exchange(true)) {
          while (!finish)
            ::usleep(1000);
        }
        leave();
      }
    });
  while (!inside)
    ::usleep(1000);
  unsigned waited = 0;
  const auto end = steady_clock::now() + milliseconds(600);
  while (steady_clock::now() < end) {
    const auto before = steady_clock::now();
    EXPECT_EQ(enter(), 0U);
    waited += steady_clock::now() - before > milliseconds(15) ? 1 : 0;
    leave();
    ::usleep(300);
  }
  finish = true;
  for (std::thread &thread : all)
    thread.join();
  set_adapting(false);
  EXPECT_LE(waited, 6U);
}

// Who has waited for a lock does not wait for the thread that waits for it to leave.
TEST_F(Phases, ChangeBesideOneThatHasWaited) {
  barrier::everywhere(); // the first one takes long
  set_adapting(true);
  // A loaded machine may make one attempt last longer than the patience of a change.
  for (int attempt = 0; attempt < 5 && current() != TANDEM_PHASE_TRANSACTIONS; ++attempt) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    std::atomic<bool> inside{false};
    std::thread other([&] {
      EXPECT_EQ(enter(), 1U);
      inside = true;
      _TANDEM_inline_phase_lock(&mutex);
      pthread_mutex_unlock(&mutex);
      leave();
    });
    while (!inside)
      std::this_thread::yield();
    ::usleep(15'000); // a window
    request(TANDEM_PHASE_TRANSACTIONS, 0);
    std::thread changing([] {
      enter();
      leave();
    });
    while (current() == TANDEM_PHASE_TO_TRANSACTIONS)
      std::this_thread::yield();
    ::usleep(4'000); // it waits for the other one
    pthread_mutex_unlock(&mutex);
    changing.join();
    other.join();
  }
  set_adapting(false);
  EXPECT_EQ(current(), std::uint32_t{TANDEM_PHASE_TRANSACTIONS});
}

std::uint32_t enter_part(std::uint32_t part) { return _TANDEM_inline_phase_enter(&kSection, part); }

// Who is in a section of one part does not keep another part from changing.
TEST_F(Phases, PartsChangeByThemselves) {
  std::atomic<bool> inside{false};
  std::atomic<bool> finish{false};
  std::thread other([&] {
    EXPECT_EQ(enter_part(0), 1U);
    inside = true;
    while (!finish)
      std::this_thread::yield();
    leave();
  });
  while (!inside)
    std::this_thread::yield();
  request(TANDEM_PHASE_TRANSACTIONS, 1);
  EXPECT_EQ(enter_part(1), 0U);
  EXPECT_EQ(enter_part(0), 0U); // in the phase of the outermost one
  leave();
  leave();
  EXPECT_EQ(enter_part(2), 1U);
  leave();
  EXPECT_EQ(current(), std::uint32_t{TANDEM_PHASE_LOCKS});
  finish = true;
  other.join();
  request(TANDEM_PHASE_LOCKS, 1);
  EXPECT_EQ(enter_part(1), 1U);
  leave();
}

// Sections of one part that change, beside threads that go from part to part.
// Threads go from part to part, each of which has its own phases and its own data.
TEST_F(Phases, PartsNeverOverlap) {
  struct Data {
    pthread_mutex_t by_locks = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t by_transactions = PTHREAD_MUTEX_INITIALIZER;
    long count = 0; // not atomic
    std::atomic<long> sections{0};
  };
  Data data[3];
  std::atomic<bool> stop{false};
  std::vector<std::thread> all;
  for (std::uint32_t first = 0; first < 3; ++first)
    all.emplace_back([&, first] {
      for (std::uint32_t part = first; !stop; part = (part + 1) % 3) {
        Data &of = data[part];
        pthread_mutex_t &mutex = enter_part(part) != 0 ? of.by_locks : of.by_transactions;
        EXPECT_EQ(_TANDEM_inline_phase_lock(&mutex), 0);
        of.count = of.count + 1;
        pthread_mutex_unlock(&mutex);
        leave();
        ++of.sections;
      }
    });
  for (unsigned i = 0; i < 200; ++i) {
    const std::uint32_t part = i % 2; // the third stays in its first phase
    const std::uint32_t wanted = i / 2 % 2 == 0 ? TANDEM_PHASE_TRANSACTIONS : TANDEM_PHASE_LOCKS;
    while (__atomic_load_n(&_TANDEM_phase[part], __ATOMIC_RELAXED) != wanted) {
      request(wanted, part);
      std::this_thread::yield();
    }
  }
  stop = true;
  for (std::thread &thread : all)
    thread.join();
  for (const Data &of : data)
    EXPECT_EQ(of.count, of.sections.load());
}

TEST_F(Phases, ThreadsThatExitedAreNotWaitedFor) {
  std::thread([] {
    EXPECT_EQ(enter(), 1U);
    leave();
  }).join();
  request(TANDEM_PHASE_TRANSACTIONS, 0);
  EXPECT_EQ(enter(), 0U);
  leave();
}

TEST_F(Phases, ChildBeginsInThePhaseOfItsParent) {
  change_to(TANDEM_PHASE_TRANSACTIONS);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool right = enter() == 0;
    leave();
    request(TANDEM_PHASE_LOCKS, 0);
    ::_exit(right && enter() == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Phases, ThreadThatExitsInsideEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(std::thread([] { enter(); }).join(), "a thread exits inside an atomic section");
}

TEST_F(Phases, LeavingAnotherSectionEndsTheProcess) {
  EXPECT_DEATH(
      {
        _TANDEM_inline_phase_enter_colours(&by_a, 0);
        _TANDEM_colours_leave(&by_b);
      },
      "'section' \\(file.c:1\\) is left, but 'section' was entered");
}

TEST_F(Phases, LeavingFromOutsideEndsTheProcess) {
  EXPECT_DEATH(leave(), "'section' \\(file.c:1\\) is left by a thread that is in none");
}

} // namespace
} // namespace tandem::phases
