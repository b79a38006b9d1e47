// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/event_queue.h"

#include <gtest/gtest.h>

namespace tandem::machine {
namespace {

class Log final : public EventClient {
public:
  void event(Cycle now, std::uint64_t argument) override { seen.emplace_back(now, argument); }
  std::vector<std::pair<Cycle, std::uint64_t>> seen;
};

TEST(EventQueue, InOrderOfTimeThenOfScheduling) {
  EventQueue queue;
  Log log;
  const unsigned client = queue.add(log);
  EXPECT_EQ(queue.next(), kNever);
  queue.schedule(20, client, 1);
  queue.schedule(10, client, 2);
  queue.schedule(20, client, 3);
  queue.schedule(10, client, 4);
  EXPECT_EQ(queue.next(), 10U);
  queue.run(9);
  EXPECT_TRUE(log.seen.empty());
  queue.run(25);
  const std::vector<std::pair<Cycle, std::uint64_t>> expected = {
      {25, 2}, {25, 4}, {25, 1}, {25, 3}};
  EXPECT_EQ(log.seen, expected);
  EXPECT_EQ(queue.next(), kNever);
}

TEST(EventQueue, CancelsOneClient) {
  EventQueue queue;
  Log a;
  Log b;
  const unsigned first = queue.add(a);
  const unsigned second = queue.add(b);
  queue.schedule(1, first, 0);
  queue.schedule(2, second, 0);
  queue.schedule(3, first, 0);
  queue.cancel(first);
  queue.run(10);
  EXPECT_TRUE(a.seen.empty());
  EXPECT_EQ(b.seen.size(), 1U);
}

TEST(EventQueue, SavedAndRestored) {
  EventQueue queue;
  Log log;
  const unsigned client = queue.add(log);
  for (unsigned i = 0; i < 20; ++i)
    queue.schedule(100 - i, client, i);
  std::string bytes;
  Archive out = Archive::writer(bytes);
  out(queue);
  EventQueue other;
  Log same;
  other.add(same);
  Archive in = Archive::reader(bytes);
  in(other);
  EXPECT_FALSE(in.failed());
  other.schedule(100, 0, 99);
  queue.schedule(100, client, 99);
  queue.run(200);
  other.run(200);
  EXPECT_EQ(log.seen, same.seen);
  EventQueue empty; // without the client
  Archive wrong = Archive::reader(bytes);
  wrong(empty);
  EXPECT_TRUE(wrong.failed());
}

} // namespace
} // namespace tandem::machine
