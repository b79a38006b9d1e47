// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The virtio devices as a driver sees them, and as a wrong or hostile one does.
#include "machine/devices/testing/driver.h"
#include "machine/devices/virtio_block.h"
#include "machine/devices/virtio_console.h"
#include "machine/devices/virtio_net.h"

#include <cstdio>
#include <cstdlib>
#include <random>

namespace tandem::machine {
namespace {

using testing::Driver;
using testing::GuestMemory;
using testing::Lines;

constexpr std::uint64_t kPlace = GuestMemory::kBase;
constexpr std::uint64_t kOther = GuestMemory::kBase + 0x8'0000;
constexpr Cycle kLatency = 1000;

std::string header(std::uint32_t type, std::uint64_t sector) {
  std::string bytes(16, '\0');
  std::memcpy(bytes.data(), &type, 4);
  std::memcpy(bytes.data() + 8, &sector, 8);
  return bytes;
}

class BlockTest : public ::testing::Test {
protected:
  BlockTest() {
    image = std::move(DiskImage::blank(64 * 512)).value();
    block = std::make_unique<VirtioBlock>(*image, kLatency, "serial", events, now, memory,
                                          InterruptLine(lines, 1));
    driver = std::make_unique<Driver>(*block, memory, 0, kPlace);
    Driver::start(*block, kVirtioCommon);
    driver->set_up();
    Driver::run(*block);
  }
  void pass(Cycle cycles) {
    now += cycles;
    events.run(now);
  }
  // The status byte of a request.
  int request(const std::vector<std::string> &readable, const std::vector<std::uint32_t> &writable,
              bool indirect = false) {
    last = driver->add(readable, writable, indirect);
    driver->notify();
    pass(kLatency);
    const auto used = driver->take();
    return used ? driver->text(last.back() + writable.back() - 1, 1)[0] : -1;
  }

  GuestMemory memory{1 << 20};
  Lines lines;
  EventQueue events;
  Cycle now = 0;
  std::unique_ptr<DiskImage> image;
  std::unique_ptr<VirtioBlock> block;
  std::unique_ptr<Driver> driver;
  std::vector<std::uint64_t> last;
};

TEST_F(BlockTest, Identifies) {
  EXPECT_EQ(Driver::get(*block, 0x000), 0x74726976U);
  EXPECT_EQ(Driver::get(*block, 0x004), 2U);
  EXPECT_EQ(Driver::get(*block, 0x008), 2U);
  EXPECT_EQ(Driver::get(*block, 0x100), 64U); // sectors
  EXPECT_EQ(request({header(8, 0)}, {20, 1}), 0);
  EXPECT_EQ(driver->text(last[0], 6), "serial");
}

TEST_F(BlockTest, WritesAndReadsBack) {
  const std::string data = std::string(512, 'a') + std::string(512, 'b');
  EXPECT_EQ(request({header(1, 3), data}, {1}), 0);
  EXPECT_TRUE(lines.levels[1]);
  EXPECT_EQ(Driver::get(*block, 0x060), 1U);
  Driver::set(*block, 0x064, 1);
  EXPECT_FALSE(lines.levels[1]);
  EXPECT_EQ(request({header(0, 3)}, {512, 512, 1}), 0);
  EXPECT_EQ(driver->text(last[0], 512) + driver->text(last[1], 512), data);
  EXPECT_EQ(request({header(0, 4)}, {512, 1}, true), 0); // by an indirect table
  EXPECT_EQ(driver->text(last[0], 512), std::string(512, 'b'));
  EXPECT_EQ(block->statistics().bytes_written, 1024U);
  EXPECT_EQ(block->statistics().bytes_read, 1536U);
}

TEST_F(BlockTest, TakesItsTime) {
  driver->add({header(4, 0)}, {1});
  driver->notify();
  pass(kLatency - 1);
  EXPECT_FALSE(driver->take());
  pass(1);
  EXPECT_TRUE(driver->take());
}

TEST_F(BlockTest, RefusesWhatIsOutside) {
  EXPECT_EQ(request({header(0, 64)}, {512, 1}), 1);
  EXPECT_EQ(request({header(0, 63)}, {1024, 1}), 1);
  EXPECT_EQ(request({header(0, ~0ULL)}, {512, 1}), 1);
  EXPECT_EQ(request({header(0, 0)}, {100, 1}), 1); // no whole sector
  EXPECT_EQ(request({header(77, 0)}, {512, 1}), 2);
  EXPECT_EQ(block->statistics().failed, 5U);
}

TEST_F(BlockTest, WithoutEventIndexFlagsDecide) {
  Driver::set(*block, 0x70, 0);
  Driver::start(*block, kVirtioVersion1);
  Driver plain(*block, memory, 0, kOther);
  plain.set_up();
  Driver::run(*block);
  plain.add({header(4, 0)}, {1});
  plain.notify();
  pass(kLatency);
  EXPECT_TRUE(lines.levels[1]);
  Driver::set(*block, 0x064, 1);
  EXPECT_TRUE(memory.put(plain.available(), std::uint16_t{1})); // no interrupts, please
  plain.add({header(4, 0)}, {1});
  plain.notify();
  pass(kLatency);
  EXPECT_FALSE(lines.levels[1]);
}

TEST_F(BlockTest, EventIndexSavesInterrupts) {
  EXPECT_TRUE(memory.put(driver->available() + 4 + 2ULL * Driver::kSize, std::uint16_t{1}));
  driver->add({header(4, 0)}, {1});
  driver->notify();
  pass(kLatency);
  EXPECT_FALSE(lines.levels[1]); // asked for after the second
  driver->add({header(4, 0)}, {1});
  driver->notify();
  pass(kLatency);
  EXPECT_TRUE(lines.levels[1]);
}

TEST_F(BlockTest, UnknownFeaturesAreNotAccepted) {
  Driver::set(*block, 0x70, 0);
  Driver::set(*block, 0x70, 3);
  Driver::set(*block, 0x24, 1);
  Driver::set(*block, 0x20, 1U << 5 | 1);
  Driver::set(*block, 0x70, 11);
  EXPECT_EQ(Driver::get(*block, 0x70) & 8, 0U);
}

// A driver's mistakes end in a device that asks for its reset, and works after it.
// A memory side whose traffic takes until somebody says so.
class SlowMemory final : public DmaPort {
public:
  explicit SlowMemory(GuestMemory &memory) : memory_(&memory) {}
  bool read(std::uint64_t address, std::span<std::byte> to) override {
    return memory_->read(address, to);
  }
  bool write(std::uint64_t address, std::span<const std::byte> from) override {
    return memory_->write(address, from);
  }
  bool when_done(unsigned /*client*/, std::uint64_t argument) override {
    arguments.push_back(argument);
    return true;
  }
  std::vector<std::uint64_t> arguments;

private:
  GuestMemory *memory_;
};

TEST_F(BlockTest, ARequestEndsWhenItHasBeenTransferred) {
  SlowMemory slow(memory);
  VirtioBlock other(*image, kLatency, "serial", events, now, slow, InterruptLine(lines, 2));
  Driver waits(other, memory, 0, kOther);
  Driver::start(other, kVirtioCommon);
  waits.set_up();
  Driver::run(other);
  const auto step = [&](std::size_t number) { other.event(now, slow.arguments.at(number)); };
  waits.add({header(0, 1)}, {512, 1});
  waits.add({header(0, 2)}, {512, 1});
  waits.notify();
  pass(kLatency);
  ASSERT_EQ(slow.arguments.size(), 2U); // the data of both
  EXPECT_FALSE(waits.take());
  step(0);
  EXPECT_TRUE(waits.take());
  EXPECT_FALSE(waits.take());
  EXPECT_FALSE(lines.levels[2]); // the ring is on its way
  ASSERT_EQ(slow.arguments.size(), 3U);
  step(2);
  EXPECT_TRUE(lines.levels[2]);
  // A reset: a request that ends after it raises no interrupt.
  Driver::set(other, 0x70, 0);
  EXPECT_FALSE(lines.levels[2]);
  step(1);
  step(2);
  EXPECT_FALSE(lines.levels[2]);
  EXPECT_FALSE(waits.take());
}

class BrokenTest : public BlockTest {
protected:
  void expect_broken() {
    driver->notify();
    pass(kLatency);
    EXPECT_EQ(Driver::get(*block, 0x70) & 64, 64U);
    EXPECT_EQ(Driver::get(*block, 0x60) & 2, 2U);
    EXPECT_FALSE(driver->take());
    Driver::set(*block, 0x70, 0);
    Driver::start(*block, kVirtioCommon);
    Driver again(*block, memory, 0, kOther);
    again.set_up();
    Driver::run(*block);
    again.add({header(4, 0)}, {1});
    again.notify();
    pass(kLatency);
    EXPECT_TRUE(again.take());
  }
};

TEST_F(BrokenTest, ALoop) {
  driver->put(0, {kPlace + 0x2000, 16, 1, 0});
  driver->make_available(0);
  expect_broken();
}
TEST_F(BrokenTest, AHeadThatIsTooLarge) {
  driver->make_available(8);
  expect_broken();
}
TEST_F(BrokenTest, ANextThatIsTooLarge) {
  driver->put(0, {kPlace + 0x2000, 16, 1, 9});
  driver->make_available(0);
  expect_broken();
}
TEST_F(BrokenTest, AnIndexThatRunsAway) {
  EXPECT_TRUE(memory.put(driver->available() + 2, std::uint16_t{100}));
  expect_broken();
}
TEST_F(BrokenTest, ATableInATable) {
  EXPECT_TRUE(memory.put(kPlace + 0x2000, Driver::Descriptor{kPlace + 0x3000, 16, 4, 0}));
  driver->put(0, {kPlace + 0x2000, 16, 4, 0});
  driver->make_available(0);
  expect_broken();
}
TEST_F(BrokenTest, ATableOfNoWholeEntries) {
  driver->put(0, {kPlace + 0x2000, 20, 4, 0});
  driver->make_available(0);
  expect_broken();
}
TEST_F(BrokenTest, WhatIsReadBehindWhatIsWritten) {
  driver->put(0, {kPlace + 0x2000, 16, 3, 1});
  driver->put(1, {kPlace + 0x3000, 16, 0, 0});
  driver->make_available(0);
  expect_broken();
}
TEST_F(BrokenTest, NoRoomForAnAnswer) {
  driver->put(0, {kPlace + 0x2000, 16, 0, 0});
  driver->make_available(0);
  expect_broken();
}
TEST_F(BrokenTest, BuffersOutsideOfMemory) {
  driver->put(0, {0x1000, 16, 1, 1});
  driver->put(1, {kPlace + 0x3000, 1, 2, 0});
  driver->make_available(0);
  expect_broken();
}

// Random registers and memory: nothing but the device's own mistakes could end this program.
TEST_F(BlockTest, RandomDriversHarmNothing) {
  const unsigned seed = 20'260'101;
  std::mt19937_64 random(seed);
  SCOPED_TRACE(seed);
  constexpr std::uint32_t kRegisters[] = {0x14, 0x20, 0x24, 0x30, 0x38, 0x44, 0x50, 0x64,
                                          0x70, 0x80, 0x84, 0x90, 0x94, 0xA0, 0xA4};
  for (unsigned round = 0; round < 400; ++round) {
    Driver::set(*block, 0x70, 0);
    Driver::start(*block, kVirtioCommon);
    driver->set_up();
    Driver::run(*block);
    for (std::size_t place = 0; place < 0x1000; place += 2) {
      // Mostly small numbers, so that some chains are almost right.
      const auto value = static_cast<std::uint16_t>(random() % 4 == 0 ? random() : random() % 12);
      EXPECT_TRUE(memory.put(kPlace + place, value));
    }
    for (unsigned step = 0; step < 20; ++step) {
      if (random() % 4 == 0)
        block->store(kRegisters[random() % std::size(kRegisters)], 4,
                     random() % 3 == 0 ? random() : random() % 16);
      driver->notify();
      pass(kLatency);
    }
  }
}

TEST_F(BlockTest, SavedAndRestored) {
  EXPECT_EQ(request({header(1, 5), std::string(512, 'x')}, {1}), 0);
  driver->add({header(0, 5)}, {512, 1});
  driver->notify(); // under way
  std::string bytes;
  Archive out = Archive::writer(bytes);
  out(events, *block);
  auto fresh = std::move(DiskImage::blank(64 * 512)).value();
  EventQueue queue;
  VirtioBlock other(*fresh, kLatency, "serial", queue, now, memory, InterruptLine(lines, 1));
  Archive in = Archive::reader(bytes);
  in(queue, other);
  EXPECT_FALSE(in.failed());
  EXPECT_EQ(std::to_integer<char>(fresh->read(5 * 512, 1)[0]), 'x');
  now += kLatency;
  queue.run(now);
  const auto used = driver->take();
  ASSERT_TRUE(used);
  EXPECT_EQ(used->written, 513U);
  auto larger = std::move(DiskImage::blank(65 * 512)).value();
  EventQueue another;
  VirtioBlock wrong(*larger, kLatency, "serial", another, now, memory, InterruptLine(lines, 1));
  Archive bad = Archive::reader(bytes);
  bad(another, wrong);
  EXPECT_TRUE(bad.failed());
}

TEST(DiskImage, IsNeverWrittenToTheFile) {
  char path[] = "/tmp/tandem-disk-XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_GE(file, 0);
  const std::string bytes(1024, 'o');
  ASSERT_EQ(::write(file, bytes.data(), bytes.size()), 1024);
  {
    const auto image = DiskImage::open(path, false);
    ASSERT_TRUE(image.ok());
    (*image)->write(0, 512)[0] = std::byte{'n'};
    EXPECT_EQ(std::to_integer<char>((*image)->read(0, 1)[0]), 'n');
  }
  char first = 0;
  EXPECT_EQ(::pread(file, &first, 1, 0), 1);
  EXPECT_EQ(first, 'o');
  ASSERT_EQ(::ftruncate(file, 1000), 0);
  const auto odd = DiskImage::open(path, false);
  ASSERT_FALSE(odd.ok());
  EXPECT_NE(odd.error().message.find("1000 bytes"), std::string::npos);
  ASSERT_EQ(::ftruncate(file, 0), 0);
  EXPECT_FALSE(DiskImage::open(path, false).ok());
  ::close(file);
  ::unlink(path);
  EXPECT_FALSE(DiskImage::open(path, false).ok());
  EXPECT_FALSE(DiskImage::open("/tmp", false).ok());
}

class Peer final : public NetworkPeer {
public:
  void receive(std::span<const std::byte> frame) override {
    frames.emplace_back(reinterpret_cast<const char *>(frame.data()), frame.size());
  }
  std::vector<std::string> frames;
};

class NetTest : public ::testing::Test {
protected:
  NetTest() {
    net.connect(peer);
    Driver::start(net, kVirtioCommon);
    receive.set_up();
    transmit.set_up();
    Driver::run(net);
  }
  void pass(Cycle cycles) {
    now += cycles;
    events.run(now);
  }
  static std::span<const std::byte> frame(const std::string &text) {
    return std::as_bytes(std::span(text));
  }

  GuestMemory memory{1 << 21};
  Lines lines;
  EventQueue events;
  Cycle now = 0;
  VirtioNet net{{2, 3, 4, 5, 6, 7}, events, now, memory, InterruptLine(lines, 2)};
  Peer peer;
  Driver receive{net, memory, 0, kPlace};
  Driver transmit{net, memory, 1, kPlace + 0x10'0000};
};

TEST_F(NetTest, HasAnAddress) {
  EXPECT_EQ(Driver::get(net, 0x008), 1U);
  EXPECT_EQ(Driver::get(net, 0x100), 0x05040302U);
}

TEST_F(NetTest, SendsAtTheSpeedOfTheWire) {
  const std::string data(100, 'f');
  transmit.add({std::string(12, '\0'), data}, {});
  transmit.notify();
  EXPECT_TRUE(transmit.take()); // the driver has its buffers back at once
  pass(VirtioNet::kLatency + VirtioNet::kCyclesPerByte * 100 - 1);
  EXPECT_TRUE(peer.frames.empty());
  pass(1);
  ASSERT_EQ(peer.frames.size(), 1U);
  EXPECT_EQ(peer.frames[0], data);
}

TEST_F(NetTest, FramesQueueOnTheWire) {
  for (unsigned i = 0; i < 3; ++i)
    transmit.add({std::string(12, '\0') + std::string(1000, 'f')}, {});
  transmit.notify();
  pass(VirtioNet::kLatency + 8000);
  EXPECT_EQ(peer.frames.size(), 1U);
  pass(8000);
  EXPECT_EQ(peer.frames.size(), 2U);
}

TEST_F(NetTest, ReceivesWithAHeader) {
  const auto places = receive.add({}, {2000});
  net.deliver(frame("hello"));
  const auto used = receive.take();
  ASSERT_TRUE(used);
  EXPECT_EQ(used->written, 17U);
  EXPECT_EQ(receive.text(places[0] + 12, 5), "hello");
  EXPECT_EQ(receive.text(places[0] + 10, 1)[0], 1); // one buffer
  EXPECT_TRUE(lines.levels[2]);
}

TEST_F(NetTest, KeepsFramesUntilThereIsRoom) {
  net.deliver(frame("one"));
  net.deliver(frame("two"));
  EXPECT_FALSE(receive.take());
  const auto places = receive.add({}, {2000});
  receive.notify();
  EXPECT_TRUE(receive.take());
  EXPECT_EQ(receive.text(places[0] + 12, 3), "one");
  for (unsigned i = 0; i < 300; ++i)
    net.deliver(frame("more"));
  EXPECT_EQ(net.statistics().dropped, 45U); // 256 wait
}

TEST_F(NetTest, DropsWhatIsNoFrame) {
  transmit.add({std::string(12, '\0')}, {});
  transmit.add({std::string(12, '\0') + std::string(1515, 'f')}, {});
  transmit.notify();
  pass(10'000'000);
  EXPECT_TRUE(peer.frames.empty());
  EXPECT_EQ(net.statistics().dropped, 2U);
  EXPECT_TRUE(transmit.take());
  EXPECT_TRUE(transmit.take());
}

TEST_F(NetTest, ABufferThatIsTooSmallBreaksTheDevice) {
  receive.add({}, {14});
  net.deliver(frame("hello"));
  EXPECT_EQ(Driver::get(net, 0x70) & 64, 64U);
}

TEST_F(NetTest, FramesOnTheWireAreSaved) {
  transmit.add({std::string(12, '\0') + "data"}, {});
  transmit.notify();
  std::string bytes;
  Archive out = Archive::writer(bytes);
  out(events, net);
  EventQueue queue;
  VirtioNet other({2, 3, 4, 5, 6, 7}, queue, now, memory, InterruptLine(lines, 2));
  other.connect(peer);
  Archive in = Archive::reader(bytes);
  in(queue, other);
  EXPECT_FALSE(in.failed());
  now += 1'000'000;
  queue.run(now);
  ASSERT_EQ(peer.frames.size(), 1U);
  EXPECT_EQ(peer.frames[0], "data");
}

class Sink final : public ConsoleSink {
public:
  void output(std::uint8_t byte) override { text.push_back(static_cast<char>(byte)); }
  std::string text;
};

TEST(VirtioConsole, SendsAndReceives) {
  GuestMemory memory(1 << 21);
  Lines lines;
  Sink sink;
  VirtioConsole console(sink, memory, InterruptLine(lines, 3));
  EXPECT_FALSE(console.listening());
  EXPECT_FALSE(console.receive('a'));
  Driver receive(console, memory, 0, kPlace);
  Driver transmit(console, memory, 1, kPlace + 0x10'0000);
  Driver::start(console, kVirtioCommon);
  receive.set_up();
  transmit.set_up();
  Driver::run(console);
  transmit.add({"hello ", "world"}, {});
  transmit.notify();
  EXPECT_EQ(sink.text, "hello world");
  EXPECT_FALSE(console.receive('a')); // no buffer
  const auto places = receive.add({}, {16});
  EXPECT_TRUE(console.receive('a'));
  EXPECT_EQ(receive.text(places[0], 1), "a");
  EXPECT_EQ(receive.take()->written, 1U);
}

TEST(VirtioNothing, IsPassedOver) {
  VirtioNothing nothing;
  std::uint64_t value = 7;
  EXPECT_TRUE(nothing.load(0x008, 4, value));
  EXPECT_EQ(value, 0U);
  EXPECT_TRUE(nothing.load(0x000, 4, value));
  EXPECT_EQ(value, 0x74726976U);
}

} // namespace
} // namespace tandem::machine
