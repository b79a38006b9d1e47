// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bookkeeping of a window against arithmetic, and against a model that looks at everything
// again in every cycle.
#include "machine/timing/window.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <vector>

namespace tandem::machine {
namespace {

Entering computes(std::uint8_t result, std::uint8_t source, Cycle latency = 1) {
  return {.operands = {{source, kNoRegister, kNoRegister}, result}, .latency = latency};
}
Entering loads(std::uint8_t result, std::uint8_t address, std::uint64_t line,
               std::uint64_t bytes = 0xff) {
  return {.operands = {{address, kNoRegister, kNoRegister}, result},
          .unit = Unit::memory,
          .lines = 1,
          .line = {line, 0},
          .bytes = bytes};
}
Entering stores(std::uint8_t value, std::uint64_t line, std::uint64_t bytes = 0xff) {
  Entering store = loads(kNoRegister, value, line, bytes);
  store.store = true;
  return store;
}

TEST(Window, ResultsFollowTheirSources) {
  Window window;
  window.enter(10, computes(1, kNoRegister));
  window.enter(10, computes(2, 1, 3)); // begins at 11
  window.enter(10, computes(3, kNoRegister));
  window.enter(10, computes(4, 2)); // at 14
  window.retire(11);
  EXPECT_EQ(window.size(), 3U);
  EXPECT_EQ(window.oldest().done, 14U);
  window.retire(14);
  EXPECT_EQ(window.size(), 1U); // the third has waited for the second
  window.retire(15);
  EXPECT_TRUE(window.empty());
}

TEST(Window, UnitsTakeSoManyACycle) {
  Window window({.units = {2, 4, 4}});
  for (unsigned i = 0; i < 7; ++i)
    window.enter(5, computes(kNoRegister, kNoRegister));
  window.retire(8);
  EXPECT_EQ(window.size(), 1U);
  window.retire(9);
  EXPECT_TRUE(window.empty());
}

TEST(Window, AccessesAreSentWhenTheirAddressesAreThere) {
  Window window({.outstanding = 1});
  window.enter(0, loads(1, kNoRegister, 100));
  window.enter(0, loads(2, 1, 200));
  window.enter(0, loads(3, kNoRegister, 300));
  EXPECT_EQ(window.next_send(), 0U);
  const auto first = window.take_send(0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->line, 100U);
  window.misses();
  EXPECT_EQ(window.next_send(), kNever); // as many are out as may be
  window.answered(first->slot, 50, true);
  EXPECT_EQ(window.next_send(), 0U);
  EXPECT_EQ(window.take_send(50)->line, 300U);
  EXPECT_EQ(window.next_send(), 50U);
  EXPECT_FALSE(window.take_send(49));
  const auto second = window.take_send(50);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->line, 200U);
}

TEST(Window, LoadsTakeWhatOlderStoresHave) {
  Window window({.forward = 2});
  window.enter(0, computes(1, kNoRegister, 10));
  window.enter(0, stores(1, 100, 0xff00));
  EXPECT_TRUE(window.enter(1, loads(2, kNoRegister, 100, 0x0f00)));
  window.enter(1, computes(3, 2));
  EXPECT_FALSE(window.enter(1, loads(4, kNoRegister, 100, 0xff))); // another word
  EXPECT_EQ(window.take_send(1)->line, 100U);
  EXPECT_EQ(window.next_send(), 10U); // the store's
  const auto sent = window.take_send(10);
  ASSERT_TRUE(sent && sent->store);
  window.answered(sent->slot, 90, false);
  window.retire(90);
  EXPECT_EQ(window.oldest().done, kNever) << "the other word's load";
  // Of a word that a store has in part, a load waits for the store and is sent.
  Window partly;
  partly.enter(0, computes(1, kNoRegister, 10));
  partly.enter(0, stores(1, 100, 0x0f));
  EXPECT_FALSE(partly.enter(0, loads(2, kNoRegister, 100, 0xff)));
  EXPECT_TRUE(partly.take_send(10)->store);
  EXPECT_EQ(partly.next_send(), 11U);
}

// Chains of long operations plan far ahead of what begins now, and of each other: never more in a
// cycle than there are units. Operations that access nothing ask in the order in which they enter.
TEST(Window, UnitsAreTakenOnceHoweverFarAhead) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const WindowLimits limits{.instructions = 196, .units = {1 + seed % 3, 1, 1}};
    Window window(limits);
    std::array<std::map<Cycle, unsigned>, kUnits> begun;
    std::array<Cycle, 8> ready{}; // of each register
    std::vector<Cycle> done;
    std::size_t head = 0;
    for (Cycle now = 0; head < 1000; ++now) {
      window.retire(now);
      while (head < done.size() && done[head] <= now)
        ++head;
      ASSERT_EQ(window.size(), done.size() - head) << "seed " << seed << " cycle " << now;
      for (std::uint64_t width = random() % 4; width > 0 && !window.full(); --width) {
        // Each register is a chain, or begins anew; chains meet in the same cycles.
        const auto reg = static_cast<std::uint8_t>(random() % ready.size());
        const bool follows = random() % 16 != 0;
        Entering what = computes(reg, follows ? reg : kNoRegister, random() % 8 == 0 ? 1 : 64);
        what.unit = Unit(random() % kUnits);
        const auto kind = static_cast<std::size_t>(what.unit);
        Cycle start = follows ? std::max(now, ready[reg]) : now;
        while (begun[kind][start] == limits.units[kind])
          ++start;
        ++begun[kind][start];
        ready[reg] = start + what.latency;
        done.push_back(ready[reg]);
        window.enter(now, what);
      }
    }
  }
}

// Instructions at random, against a model without lists, heaps and plans.
TEST(Window, IsWhatAModelSays) {
  struct Modelled {
    Entering what{};
    Cycle entered = 0;
    std::vector<std::uint64_t> sources{}; // numbers of instructions
    Cycle start = kNever, ready = kNever, done = kNever;
  };
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    // With as many units as there are instructions, who asks first does not matter.
    Window window(
        {.instructions = 1 + static_cast<std::uint32_t>(random() % 40), .units = {63, 63, 63}});
    std::vector<Modelled> model;
    std::map<std::uint8_t, std::uint64_t> writers;
    std::size_t head = 0;
    struct Out {
      Cycle at;
      Window::Send send;
    };
    std::vector<Out> out;
    // What is known of those in flight, until that changes nothing any more.
    const auto settle = [&] {
      for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = head; i < model.size(); ++i) {
          Modelled &one = model[i];
          Cycle start = one.entered;
          for (const std::uint64_t source : one.sources)
            start = std::max(start, model[source].ready); // kNever: not known
          if (one.start != kNever || start == kNever)
            continue;
          one.start = start;
          if (one.what.lines == 0)
            one.ready = one.done = start + one.what.latency;
          changed = true;
        }
      }
    };
    for (Cycle now = 0; head < 300; ++now) {
      for (const Out &answer : out)
        if (answer.at == now) {
          window.answered(answer.send.slot, now, true);
          model[answer.send.line].ready = model[answer.send.line].done = now;
        }
      std::erase_if(out, [&](const Out &answer) { return answer.at == now; });
      window.retire(now);
      settle();
      while (head < model.size() && model[head].done <= now)
        ++head;
      ASSERT_EQ(window.size(), model.size() - head) << "seed " << seed << " cycle " << now;
      for (std::uint64_t width = random() % 4; width > 0 && !window.full(); --width) {
        const auto reg = [&] { return static_cast<std::uint8_t>(random() % 8); };
        const Entering what = random() % 3 == 0
                                  ? loads(reg(), reg(), model.size()) // each its own line
                                  : computes(reg(), reg(), 1 + random() % 5);
        Modelled one{.what = what, .entered = now};
        if (const auto writer = writers.find(what.operands.sources[0]); writer != writers.end())
          one.sources.push_back(writer->second);
        writers[what.operands.result] = model.size();
        model.push_back(one);
        window.enter(now, what);
      }
      settle();
      while (const auto send = window.take_send(now)) {
        ASSERT_EQ(model[send->line].start, now) << "seed " << seed;
        window.misses();
        out.push_back({now + 1 + random() % 30, *send});
      }
    }
  }
}

} // namespace
} // namespace tandem::machine
