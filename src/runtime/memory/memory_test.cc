// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/cell.h"
#include "runtime/memory/log.h"
#include "runtime/memory/write_map.h"

#include "contention/backoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

namespace tandem::memory {
namespace {

TEST(log, grows_and_keeps_what_it_has) {
  Log<std::uint64_t> log{};
  EXPECT_TRUE(log.empty());
  for (std::uint64_t i = 0; i < 100'000; ++i)
    log.push(i);
  EXPECT_EQ(log.size(), 100'000U);
  for (std::uint64_t i = 0; i < 100'000; ++i)
    ASSERT_EQ(log[i], i);
  EXPECT_EQ(log.pop(), 99'999U);
  log.truncate(3);
  EXPECT_THAT(std::vector(log.begin(), log.end()), testing::ElementsAre(0, 1, 2));
  const std::size_t capacity = log.capacity();
  log.clear();
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(log.capacity(), capacity);
  log.release();
  EXPECT_EQ(log.capacity(), 0U);
  log.push(7);
  EXPECT_EQ(log.back(), 7U);
  log.release();
}

TEST(cell, restores_exactly_its_bytes) {
  alignas(8) std::array<std::uint8_t, 16> bytes{};
  const auto check = [&]<class U>(U, std::size_t at) {
    bytes.fill(0xee);
    auto *place = reinterpret_cast<U *>(bytes.data() + at);
    const CellValue saved = {Cell(place), load(place)};
    store(place, static_cast<U>(0x1122334455667788));
    EXPECT_EQ(saved.cell.address(), reinterpret_cast<std::uintptr_t>(place));
    std::array<std::uint8_t, 16> around = bytes;
    saved.cell.store(saved.value);
    EXPECT_THAT(bytes, testing::Each(0xee));
    around.fill(0);
    saved.cell.store(0);
    std::memset(around.data(), 0xee, around.size());
    std::memset(around.data() + at, 0, sizeof(U));
    EXPECT_EQ(bytes, around);
    EXPECT_EQ(saved.cell.load(), 0U);
  };
  check(std::uint8_t{}, 3);
  check(std::uint16_t{}, 6);
  check(std::uint32_t{}, 4);
  check(std::uint64_t{}, 8);
}

// Beside std::map, byte by byte: random writes, nested changes that are rolled back, transactions
// of very different sizes one after the other.
TEST(write_map, agrees_with_a_map_of_bytes) {
  contention::Xorshift random(20261121);
  auto memory = std::make_unique<std::array<std::uint64_t, 4096>>();
  memory->fill(0);
  WriteMap map{};
  map.prepare();
  const auto base = reinterpret_cast<std::uintptr_t>(memory->data());
  for (int transaction = 0; transaction < 300; ++transaction) {
    std::map<std::uintptr_t, std::uint8_t> model;
    const std::uint64_t writes = random() % (transaction % 10 == 0 ? 5000 : 40);
    const std::uint64_t span = 1 + random() % memory->size();
    const auto write = [&](bool journalled) {
      const std::uintptr_t word = base + 8 * (random() % span);
      std::uint64_t mask = 0;
      const std::uint64_t value = random() << 32 ^ random();
      for (unsigned byte = 0; byte < 8; ++byte)
        if (random() % 2 == 0) {
          mask |= std::uint64_t{0xff} << (8 * byte);
          model[word + byte] = static_cast<std::uint8_t>(value >> (8 * byte));
        }
      if (journalled || random() % 2 == 0 || !map.quick() || !map.put_quickly(word, value, mask))
        map.put(word, value, mask, journalled);
    };
    ASSERT_FALSE(map.quick());
    if (random() % 4 != 0)
      map.allow_quick();
    for (std::uint64_t i = 0; i < writes; ++i)
      write(false);
    const auto before = model;
    const std::size_t mark = map.journal_size();
    map.forbid_quick();
    for (std::uint64_t i = 0; i < writes / 4; ++i)
      write(true);
    if (random() % 2 == 0) {
      map.roll_back(mark);
      model = before;
    }
    map.forget_journal();
    for (std::uint64_t i = 0; i < span; ++i) {
      const WriteMap::Entry *entry = map.find(base + 8 * i);
      for (unsigned byte = 0; byte < 8; ++byte) {
        const auto found = model.find(base + 8 * i + byte);
        const bool written = entry != nullptr && ((entry->mask >> (8 * byte)) & 1) != 0;
        ASSERT_EQ(written, found != model.end());
        if (written) {
          ASSERT_EQ(static_cast<std::uint8_t>(entry->value >> (8 * byte)), found->second);
        }
      }
    }
    std::array<std::uint64_t, 4096> expected = *memory;
    for (const auto &[address, value] : model)
      std::memcpy(reinterpret_cast<char *>(expected.data()) + (address - base), &value, 1);
    map.write_back();
    ASSERT_EQ(*memory, expected);
    map.clear();
    ASSERT_TRUE(map.empty());
  }
}

} // namespace
} // namespace tandem::memory
