// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/uart16550.h"

#include "machine/devices/testing/guest_memory.h"

#include <gtest/gtest.h>
#include <random>

namespace tandem::machine {
namespace {

class Sink final : public ConsoleSink {
public:
  void output(std::uint8_t byte) override { text.push_back(static_cast<char>(byte)); }
  std::string text;
};

class UartTest : public ::testing::Test {
protected:
  void store(std::uint64_t offset, std::uint8_t value) {
    EXPECT_TRUE(uart.store(offset, 1, value));
  }
  std::uint64_t load(std::uint64_t offset) {
    std::uint64_t value = 0;
    EXPECT_TRUE(uart.load(offset, 1, value));
    return value;
  }
  [[nodiscard]] bool line() const { return lines.levels[10]; }

  Sink sink;
  testing::Lines lines;
  Uart16550 uart{sink, InterruptLine(lines, 10)};
};

TEST_F(UartTest, SendsAndIsAlwaysEmpty) {
  EXPECT_EQ(load(5) & 0x60, 0x60U);
  for (const char letter : std::string_view("hello"))
    store(0, static_cast<std::uint8_t>(letter));
  EXPECT_EQ(sink.text, "hello");
  EXPECT_EQ(load(5) & 0x60, 0x60U);
}

TEST_F(UartTest, DivisorLatchHidesData) {
  store(3, 0x83);
  store(0, 12);
  store(1, 1);
  EXPECT_EQ(load(0), 12U);
  EXPECT_EQ(load(1), 1U);
  store(3, 3);
  EXPECT_EQ(sink.text, "");
  EXPECT_EQ(load(1), 0U);
}

TEST_F(UartTest, ReceivedDataInterrupts) {
  EXPECT_FALSE(uart.listening());
  EXPECT_TRUE(uart.receive('a'));
  EXPECT_FALSE(line());
  store(1, 1);
  EXPECT_TRUE(uart.listening());
  EXPECT_TRUE(line());
  EXPECT_EQ(load(2), 4U);
  EXPECT_EQ(load(5) & 1, 1U);
  EXPECT_EQ(load(0), static_cast<std::uint64_t>('a'));
  EXPECT_FALSE(line());
  EXPECT_EQ(load(2), 1U);
}

TEST_F(UartTest, FifosHoldSixteen) {
  EXPECT_TRUE(uart.receive('a'));
  EXPECT_FALSE(uart.receive('b'));
  store(2, 0x81); // on, trigger at 8
  store(1, 1);
  EXPECT_EQ(load(2), 0xC1U); // turning them on empties them
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_TRUE(uart.receive(static_cast<std::uint8_t>('a' + i)));
    EXPECT_EQ(load(2), i + 1 < 8 ? 0xCCU : 0xC4U);
  }
  EXPECT_FALSE(uart.receive('z'));
  for (unsigned i = 0; i < 16; ++i)
    EXPECT_EQ(load(0), 'a' + i);
  EXPECT_EQ(load(0), 0U);
}

TEST_F(UartTest, TransmitterInterrupts) {
  store(1, 2);
  EXPECT_TRUE(line());
  EXPECT_EQ(load(2), 2U); // reading it takes the request away
  EXPECT_FALSE(line());
  EXPECT_EQ(load(2), 1U);
  store(0, 'x');
  EXPECT_TRUE(line());
  store(1, 0);
  EXPECT_FALSE(line());
}

TEST_F(UartTest, LoopsBack) {
  store(4, 0x1F);
  EXPECT_EQ(load(6), 0xF0U);
  store(0, 'q');
  EXPECT_EQ(sink.text, "");
  EXPECT_EQ(load(0), static_cast<std::uint64_t>('q'));
  store(4, 0);
  EXPECT_EQ(load(6), 0xB0U);
}

TEST_F(UartTest, OnlyBytes) {
  std::uint64_t value = 0;
  EXPECT_FALSE(uart.load(0, 4, value));
  EXPECT_FALSE(uart.store(0, 2, 1));
}

TEST_F(UartTest, RandomAccessesStayInside) {
  std::mt19937 random(1);
  for (unsigned i = 0; i < 100'000; ++i) {
    std::uint64_t value = 0;
    uart.store(random() % Uart16550::kSize, 1, random() % 256);
    uart.load(random() % Uart16550::kSize, 1, value);
    uart.receive(static_cast<std::uint8_t>(random()));
  }
}

} // namespace
} // namespace tandem::machine
