// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/event/wheel.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace tandem::machine {
namespace {

TEST(EventWheel, GivesEventsInTheOrderOfTheirCycles) {
  EventWheel<int> wheel;
  wheel.schedule(7, 1);
  wheel.schedule(3, 2);
  wheel.schedule(100'000, 3);
  wheel.schedule(3, 4);
  EXPECT_EQ(wheel.next_time(), 3u);
  EXPECT_EQ(wheel.pop(), 2);
  EXPECT_EQ(wheel.pop(), 4);
  EXPECT_EQ(wheel.pop(), 1);
  EXPECT_EQ(wheel.now(), 7u);
  EXPECT_EQ(wheel.pop(), 3);
  EXPECT_EQ(wheel.now(), 100'000u);
  EXPECT_EQ(wheel.next_time(), kNever);
}

TEST(EventWheel, KeepsTheOrderOfSchedulingBetweenFarAndNear) {
  EventWheel<int> wheel;
  wheel.schedule(5000, 1); // too far for a slot
  wheel.schedule(2000, 0);
  EXPECT_EQ(wheel.pop(), 0);
  wheel.schedule(5000, 2); // the same cycle, now near
  EXPECT_EQ(wheel.pop(), 1);
  EXPECT_EQ(wheel.pop(), 2);
}

// Against a sorted list: random delays of all magnitudes, events scheduled while others run.
TEST(EventWheel, AgreesWithASortedList) {
  std::mt19937_64 random(20261121);
  EventWheel<int> wheel;
  struct Entry {
    Cycle at;
    int id;
  };
  std::vector<Entry> oracle;
  int next = 0;
  const auto schedule = [&] {
    const Cycle delay = random() % (std::uint64_t{1} << (random() % 15));
    wheel.schedule(wheel.now() + delay, next);
    const Cycle at = wheel.now() + delay;
    const auto place = std::upper_bound(oracle.begin(), oracle.end(), at,
                                        [](Cycle left, const Entry &e) { return left < e.at; });
    oracle.insert(place, {at, next++});
  };
  for (int step = 0; step < 200'000; ++step) {
    if (wheel.empty() || (wheel.pending() < 300 && random() % 2 == 0)) {
      schedule();
      continue;
    }
    ASSERT_EQ(wheel.next_time(), oracle.front().at);
    ASSERT_EQ(wheel.pop(), oracle.front().id);
    ASSERT_EQ(wheel.now(), oracle.front().at);
    oracle.erase(oracle.begin());
  }
}

TEST(EventWheel, ItsPoolDoesNotGrowInASteadyState) {
  EventWheel<int> wheel;
  for (int i = 0; i < 64; ++i)
    wheel.schedule(static_cast<Cycle>(i), i);
  for (int step = 0; step < 10'000; ++step) {
    const int event = wheel.pop();
    wheel.schedule(wheel.now() + static_cast<Cycle>(event % 7) * 1000, event);
  }
  EXPECT_EQ(wheel.pool_size(), 64u);
}

} // namespace
} // namespace tandem::machine
