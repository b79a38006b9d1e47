// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/bus/bus.h"

#include <gmock/gmock.h>

namespace tandem::machine {
namespace {

class Echo final : public Device {
public:
  bool load(std::uint64_t offset, unsigned size, std::uint64_t &value) override {
    value = offset << 8 | size;
    return size != 2;
  }
  bool store(std::uint64_t offset, unsigned /*size*/, std::uint64_t value) override {
    stored = value;
    return offset < 16;
  }
  std::uint64_t stored = 0;
};

class Observer final : public CodeObserver {
public:
  void code_written(std::uint64_t address, std::uint64_t size) override {
    seen.emplace_back(address, size);
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
};

TEST(machine_bus, finds_devices_and_nothing_else) {
  auto memory = std::move(Memory::create(0x1000, 0x1000)).value();
  Bus bus(*memory);
  Echo low;
  Echo high;
  ASSERT_TRUE(bus.attach("high", 0x9000, 0x100, high).ok());
  ASSERT_TRUE(bus.attach("low", 0x8000, 0x20, low).ok());
  std::uint64_t value = 0;
  EXPECT_TRUE(bus.device_load(0x9008, 4, value));
  EXPECT_EQ(value, 0x804U);
  EXPECT_FALSE(bus.device_load(0x9008, 2, value)); // the device refuses
  EXPECT_FALSE(bus.device_load(0x8020, 1, value)); // behind it
  EXPECT_FALSE(bus.device_load(0x801c, 8, value)); // half behind it
  EXPECT_FALSE(bus.device_load(0x7fff, 1, value));
  EXPECT_FALSE(bus.device_load(0, 1, value));
  EXPECT_TRUE(bus.device_store(0x8000, 8, 7));
  EXPECT_EQ(low.stored, 7U);
  EXPECT_FALSE(bus.device_store(0x8010, 8, 7));
}

TEST(machine_bus, refuses_what_overlaps) {
  auto memory = std::move(Memory::create(0x1000, 0x1000)).value();
  Bus bus(*memory);
  Echo device;
  ASSERT_TRUE(bus.attach("one", 0x8000, 0x100, device).ok());
  EXPECT_THAT(bus.attach("two", 0x80ff, 1, device).error().message,
              testing::HasSubstr("device two at 0x80ff: device one is there"));
  EXPECT_THAT(bus.attach("two", 0x1fff, 1, device).error().message,
              testing::HasSubstr("main memory is there"));
  EXPECT_FALSE(bus.attach("two", 0, 0, device).ok());
  EXPECT_FALSE(bus.attach("two", ~std::uint64_t{0}, 2, device).ok());
}

TEST(machine_memory, keeps_to_its_bounds) {
  auto memory = std::move(Memory::create(0x1000, 0x2000)).value();
  std::uint64_t value = 5;
  EXPECT_TRUE(memory->read_value(0x2ff8, value));
  EXPECT_EQ(value, 0U);
  EXPECT_FALSE(memory->read_value(0x2ff9, value));
  EXPECT_FALSE(memory->read_value(0xff8, value));
  EXPECT_FALSE(memory->write_value(~std::uint64_t{0}, value));
  EXPECT_TRUE(memory->write_value(0x1000, std::uint64_t{9}));
  EXPECT_TRUE(memory->read_value(0x1000, value));
  EXPECT_EQ(value, 9U);
}

TEST(machine_memory, tells_of_writes_to_code) {
  auto memory = std::move(Memory::create(0x1000, 0x3000)).value();
  Observer observer;
  memory->observe_code(&observer);
  memory->set_holds_code(0x2000, true);
  EXPECT_TRUE(memory->write_value(0x1ff0, std::uint64_t{1}));
  EXPECT_TRUE(observer.seen.empty());
  EXPECT_TRUE(memory->write_value(0x1ffc, std::uint64_t{1})); // into the page before, and it
  memory->code_changed();
  EXPECT_THAT(observer.seen,
              testing::ElementsAre(std::pair(0x2000UL, 4UL), std::pair(0x2000UL, 0x1000UL)));
}

} // namespace
} // namespace tandem::machine
