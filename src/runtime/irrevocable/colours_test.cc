// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colours without an engine: what a program of the enforcement `locks` has.
#include "runtime/irrevocable/colours.h"

#include "runtime/irrevocable/test_output.h"
#include "runtime/phases/inline.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <latch>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tandem {
namespace {

class Inside {
public:
  explicit Inside(const tandem_section &section) : section_(section) {
    _TANDEM_colours_enter(&section_);
  }
  Inside(const Inside &) = delete;
  Inside &operator=(const Inside &) = delete;
  ~Inside() { _TANDEM_colours_leave(&section_); }

private:
  const tandem_section &section_;
};

void in_threads(int count, const auto &body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(body, i);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Colours, LoseNoIncrement) {
  TestOutput output("test", {"A", "B"});
  const tandem_section &outer = output.exclusive("outer", {0, 1});
  const tandem_section &inner = output.exclusive("inner", {1});
  long counter = 0; // not atomic: the colours keep it right
  in_threads(4, [&](int) {
    for (int i = 0; i < 5000; ++i) {
      const Inside first(outer);
      ++counter;
      const Inside second(inner);
      ++counter;
    }
  });
  EXPECT_EQ(counter, 40000);
  EXPECT_EQ(colours::depth(), 0U);
}

TEST(Colours, ThatDifferRunBesideEachOther) {
  TestOutput output("test", {"A", "B"});
  const tandem_section *sections[] = {&output.exclusive("a", {0}), &output.exclusive("b", {1})};
  std::latch both(2); // is passed only while both are inside
  in_threads(2, [&](int number) {
    const Inside inside(*sections[number]);
    both.arrive_and_wait();
  });
}

TEST(Colours, AreHeldToTheOutermostLeave) {
  TestOutput output("test", {"A"});
  const tandem_section &section = output.exclusive("a", {0});
  std::atomic<bool> entered = false;
  _TANDEM_colours_enter(&section);
  _TANDEM_colours_enter(&section);
  std::latch started(1);
  std::thread other([&] {
    started.count_down();
    const Inside inside(section);
    entered = true;
  });
  started.wait();
  _TANDEM_colours_leave(&section);
  EXPECT_EQ(colours::depth(), 1U);
  EXPECT_FALSE(entered);
  _TANDEM_colours_leave(&section);
  other.join();
  EXPECT_TRUE(entered);
}

// Every pair of colours, in rings: any order but one deadlocks.
void take_in_one_order(void (*enter)(const tandem_section *),
                       void (*leave)(const tandem_section *)) {
  constexpr std::uint32_t kColours = 5;
  TestOutput output("test", {"A", "B", "C", "D", "E"});
  std::vector<const tandem_section *> sections;
  std::vector<std::array<std::uint32_t, 2>> pairs;
  for (std::uint32_t a = 0; a < kColours; ++a)
    for (std::uint32_t b = 0; b < kColours; ++b)
      if (a != b) {
        pairs.push_back({a, b});
        sections.push_back(&output.exclusive("pair", {a, b}));
      }
  std::array<long, kColours> counters{};
  in_threads(4, [&](int number) {
    for (std::size_t i = 0; i < 4000; ++i) {
      const std::size_t pair = (i * 7 + static_cast<std::size_t>(number) * 5) % pairs.size();
      enter(sections[pair]);
      ++counters[pairs[pair][0]];
      ++counters[pairs[pair][1]];
      leave(sections[pair]);
    }
  });
  long sum = 0;
  for (const long counter : counters)
    sum += counter;
  EXPECT_EQ(sum, 2 * 4 * 4000);
}

TEST(Colours, AreTakenInOneOrder) {
  take_in_one_order(_TANDEM_colours_enter, _TANDEM_colours_leave);
}

TEST(Colours, AreTakenInOneOrderInThePhaseOfLocks) {
  take_in_one_order(_TANDEM_phase_hold, _TANDEM_phase_release);
}

TEST(Colours, MayBeManyMoreThanABitSetsWord) {
  TestOutput output("test", 200U);
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < 200; ++i)
    all.push_back(i);
  const tandem_section &everything = output.exclusive("everything", all);
  std::vector<const tandem_section *> some;
  for (std::uint32_t i = 0; i < 200; ++i)
    some.push_back(&output.exclusive("one", {i}));
  std::array<long, 200> counters{};
  in_threads(4, [&](int number) {
    for (std::size_t i = 0; i < 2000; ++i) {
      if (number == 0 && i % 50 == 0) {
        const Inside inside(everything);
        for (long &counter : counters)
          ++counter;
      } else {
        const std::size_t colour = (i * 13 + static_cast<std::size_t>(number)) % 200;
        const Inside inside(*some[colour]);
        ++counters[colour];
      }
    }
  });
  long sum = 0;
  for (const long counter : counters)
    sum += counter;
  EXPECT_EQ(sum, 4 * 2000 - 40 + 40 * 200);
}

TEST(Colours, OfTheProcessAreEqualByName) {
  TestOutput program("program", {"tandem.x*", "tandem.y*", "A"});
  TestOutput plugin("plugin", {"tandem.y*", "A"});
  const tandem_section *sections[] = {&program.exclusive("a", {1, 2}),
                                      &plugin.exclusive("b", {0, 1})};
  long counter = 0;
  in_threads(4, [&](int number) {
    for (int i = 0; i < 5000; ++i) {
      const Inside inside(*sections[number % 2]);
      ++counter;
    }
  });
  EXPECT_EQ(counter, 20000);
  // An output's own colours are not: both "A" are held at the same time.
  const tandem_section *own[] = {&program.exclusive("c", {2}), &plugin.exclusive("d", {1})};
  std::latch both(2);
  in_threads(2, [&](int number) {
    const Inside inside(*own[number]);
    both.arrive_and_wait();
  });
}

TEST(Colours, MayBeNone) {
  TestOutput output("test", std::initializer_list<const char *>{});
  const tandem_section &section = output.exclusive("none", {});
  std::latch both(2);
  in_threads(2, [&](int) {
    const Inside inside(section);
    both.arrive_and_wait();
  });
}

TEST(Colours, WorkInThousandsOfThreads) {
  TestOutput output("test", {"A"});
  const tandem_section &section = output.exclusive("a", {0});
  long counter = 0;
  for (int batch = 0; batch < 30; ++batch)
    in_threads(100, [&](int) {
      const Inside inside(section);
      ++counter;
    });
  EXPECT_EQ(counter, 3000);
}

int status_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Colours, AreWholeInAChild) {
  TestOutput output("test", {"tandem.z*", "A", "B"});
  TestOutput other("other", {"tandem.z*", "A"});
  const tandem_section *sections[] = {&output.exclusive("ab", {0, 1, 2}),
                                      &other.exclusive("a", {1})};
  long pairs[2][2] = {};
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int number = 0; number < 2; ++number)
    threads.emplace_back([&, number] {
      while (!stop) {
        const Inside inside(*sections[number]);
        ++pairs[number][0];
        ++pairs[number][1];
      }
    });
  for (int i = 0; i < 40; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      bool whole = true;
      for (int number = 0; number < 2; ++number) {
        const Inside inside(*sections[number]);
        whole = whole && pairs[number][0] == pairs[number][1];
      }
      ::_exit(whole ? 0 : 1);
    }
    EXPECT_EQ(status_of(child), 0);
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Colours, StayHeldInAChildThatWasForkedInside) {
  TestOutput output("test", {"A", "B"});
  const tandem_section &a = output.exclusive("a", {0});
  const tandem_section &b = output.exclusive("b", {1});
  std::latch held(1);
  std::latch done(1);
  std::thread other([&] {
    const Inside inside(b);
    held.count_down();
    done.wait();
  });
  held.wait();
  _TANDEM_colours_enter(&a);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    if (colours::depth() != 1)
      ::_exit(1);
    _TANDEM_colours_leave(&a);
    const Inside again(a);
    ::_exit(0);
  }
  _TANDEM_colours_leave(&a);
  EXPECT_EQ(status_of(child), 0);
  done.count_down();
  other.join();
  // The other thread's colour is free in a child of the section `a`.
  _TANDEM_colours_enter(&a);
  const pid_t second = ::fork();
  if (second == 0) {
    ::alarm(20);
    _TANDEM_colours_leave(&a);
    const Inside inside(b);
    ::_exit(0);
  }
  _TANDEM_colours_leave(&a);
  EXPECT_EQ(status_of(second), 0);
}

using ColoursDeath = testing::Test;

TEST(ColoursDeath, LeavingWithoutEntering) {
  TestOutput output("test", {"A"});
  const tandem_section &section = output.exclusive("a", {0});
  EXPECT_DEATH(
      _TANDEM_colours_leave(&section),
      "^libtandem: error: the atomic section 'a' \\(test.c:7\\) is left by a thread that is "
      "in none\n$");
}

TEST(ColoursDeath, LeavingAnotherOne) {
  TestOutput output("test", {"A"});
  const tandem_section &a = output.exclusive("a", {0});
  const tandem_section &b = output.exclusive("b", {0});
  EXPECT_DEATH(
      {
        _TANDEM_colours_enter(&a);
        _TANDEM_colours_leave(&b);
      },
      "'b' \\(test.c:7\\) is left, but 'a' was entered");
}

TEST(ColoursDeath, AThreadThatExitsInside) {
  TestOutput output("test", {"A"});
  const tandem_section &a = output.exclusive("a", {0});
  EXPECT_DEATH(std::thread([&] { _TANDEM_colours_enter(&a); }).join(),
               "a thread exits inside the atomic section 'a'");
}

TEST(ColoursDeath, AnotherVersion) {
  TestOutput output("test", {"A"});
  tandem_section section = output.exclusive("a", {0});
  section.abi_version = TANDEM_ABI_VERSION + 1;
  EXPECT_EXIT(_TANDEM_colours_enter(&section), testing::ExitedWithCode(2),
              "compiled for version 2");
}

TEST(ColoursDeath, ColoursOfTheProcessBehindOthers) {
  TestOutput output("test", {"A", "tandem.x*"});
  const tandem_section &a = output.exclusive("a", {0});
  EXPECT_DEATH(_TANDEM_colours_enter(&a), "'tandem.x' comes after 'A'");
}

TEST(ColoursDeath, AnIndexBeyondTheTable) {
  TestOutput output("test", {"A"});
  tandem_section section = output.exclusive("a", {0});
  section.index = 256;
  EXPECT_DEATH(_TANDEM_colours_enter(&section), "is number 256 of the 256");
}

} // namespace
} // namespace tandem
