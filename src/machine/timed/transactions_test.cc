// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/timed/block_store.h"
#include "machine/timed/transactions.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace tandem::machine {
namespace {

TEST(Transactions, AgreeWithAMap) {
  Transactions<int> table;
  std::map<std::uint64_t, int> oracle;
  std::mt19937_64 random(4);
  for (int step = 0; step < 200'000; ++step) {
    const std::uint64_t block = random() % 300 * 64;
    const std::uint32_t at = table.find(block);
    ASSERT_EQ(at != table.kNone, oracle.count(block) == 1);
    if (at == table.kNone) {
      table[table.insert(block, 0)].tbe = oracle[block] = step;
    } else {
      ASSERT_EQ(table[at].tbe, oracle[block]);
      if (random() % 2 == 0) {
        table.erase(at);
        oracle.erase(block);
      }
    }
    ASSERT_EQ(table.size(), oracle.size());
  }
  std::size_t seen = 0;
  table.for_each([&](const auto &entry) {
    ++seen;
    EXPECT_EQ(entry.tbe, oracle.at(entry.block));
  });
  EXPECT_EQ(seen, oracle.size());
}

TEST(ParkedList, TakesInOrderAndLeavesTheRestInOrder) {
  ParkedList list;
  const auto park = [&](std::uint64_t block, std::uint8_t event) {
    Parked parked;
    parked.block = block;
    parked.event = event;
    list.push(parked);
  };
  for (std::uint8_t i = 0; i < 9; ++i)
    park(i % 3, i);
  std::vector<Parked> taken;
  list.take(taken, [](const Parked &parked) { return parked.block == 1; });
  park(2, 9);
  list.take(taken, [](const Parked &parked) { return parked.block == 2; });
  std::vector<int> events;
  for (const Parked &parked : taken)
    events.push_back(parked.event);
  EXPECT_EQ(events, (std::vector<int>{1, 4, 7, 2, 5, 8, 9}));
  EXPECT_EQ(list.size(), 3u);
  park(0, 10);
  taken.clear();
  list.take(taken, [](const Parked &) { return true; });
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(taken.size(), 4u);
  EXPECT_EQ(taken.back().event, 10);
}

TEST(BlockStore, KeepsRecordsAndGivesFreshOnes) {
  BlockStore<std::uint64_t> store(7);
  std::map<std::uint64_t, std::uint64_t> oracle;
  std::mt19937_64 random(5);
  for (int step = 0; step < 100'000; ++step) {
    const std::uint64_t block = random() % 10 == 0 ? random() : random() % 500'000;
    std::uint64_t &record = store.at(block);
    const auto known = oracle.find(block);
    ASSERT_EQ(record, known == oracle.end() ? 7 : known->second);
    record = oracle[block] = random();
  }
}

} // namespace
} // namespace tandem::machine
