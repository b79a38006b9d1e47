// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A virtio driver for tests: brings a device up by its registers and passes it buffers through one
// ring, as a kernel would. Memory: the three areas of a queue of 8 entries, then buffers.
#pragma once

#include "machine/devices/testing/guest_memory.h"
#include "machine/devices/virtio_mmio.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::machine::testing {

class Driver {
public:
  static constexpr std::uint16_t kSize = 8;

  Driver(VirtioDevice &device, GuestMemory &memory, unsigned queue, std::uint64_t place)
      : device_(&device), memory_(&memory), queue_(queue), place_(place) {}

  // Status and features; once a device.
  static void start(VirtioDevice &device, std::uint64_t features) {
    for (const std::uint32_t status : {0U, 1U, 3U})
      set(device, 0x70, status);
    for (const std::uint32_t word : {0U, 1U}) {
      set(device, 0x24, word);
      set(device, 0x20, static_cast<std::uint32_t>(features >> (32 * word)));
    }
    set(device, 0x70, 11);
    EXPECT_EQ(get(device, 0x70), 11U); // FEATURES_OK stayed
  }
  void set_up() {
    set(*device_, 0x30, queue_);
    set(*device_, 0x38, kSize);
    const std::uint64_t areas[] = {descriptors(), available(), used()};
    const std::uint32_t registers[] = {0x80, 0x90, 0xA0};
    for (unsigned area = 0; area < 3; ++area) {
      set(*device_, registers[area], static_cast<std::uint32_t>(areas[area]));
      set(*device_, registers[area] + 4, static_cast<std::uint32_t>(areas[area] >> 32));
    }
    set(*device_, 0x44, 1);
  }
  static void run(VirtioDevice &device) { set(device, 0x70, 15); }

  // Puts a chain of buffers in: texts to read, then sizes to write. Gives the addresses of the
  // latter.
  std::vector<std::uint64_t> add(const std::vector<std::string> &readable,
                                 const std::vector<std::uint32_t> &writable,
                                 bool indirect = false) {
    std::vector<std::uint64_t> places;
    std::vector<Descriptor> chain;
    for (const std::string &text : readable) {
      EXPECT_TRUE(memory_->write(buffers_, std::as_bytes(std::span(text))));
      chain.push_back({buffers_, static_cast<std::uint32_t>(text.size()), 1, 0});
      buffers_ += 4096;
    }
    for (const std::uint32_t size : writable) {
      places.push_back(buffers_);
      chain.push_back({buffers_, size, 3, 0});
      buffers_ += 8192;
    }
    chain.back().flags &= ~1;
    const auto first = static_cast<std::uint16_t>(next_descriptor_);
    if (indirect) {
      for (std::size_t index = 0; index < chain.size(); ++index) {
        chain[index].next = static_cast<std::uint16_t>(index + 1);
        EXPECT_TRUE(memory_->put(buffers_ + 16 * index, chain[index]));
      }
      put(first, {buffers_, static_cast<std::uint32_t>(16 * chain.size()), 4, 0});
      buffers_ += 4096;
      next_descriptor_ = (next_descriptor_ + 1) % kSize;
    } else {
      for (Descriptor &one : chain) {
        one.next = static_cast<std::uint16_t>((next_descriptor_ + 1) % kSize);
        put(static_cast<std::uint16_t>(next_descriptor_), one);
        next_descriptor_ = (next_descriptor_ + 1) % kSize;
      }
    }
    make_available(first);
    return places;
  }
  void make_available(std::uint16_t head) {
    EXPECT_TRUE(memory_->put(available() + 4 + 2ULL * (index_ % kSize), head));
    ++index_;
    EXPECT_TRUE(memory_->put(available() + 2, index_));
  }
  void notify() { set(*device_, 0x50, queue_); }

  struct Used {
    std::uint32_t head;
    std::uint32_t written;
  };
  // The next one that the device has given back.
  std::optional<Used> take() {
    std::uint16_t index = 0;
    EXPECT_TRUE(memory_->get(used() + 2, index));
    if (index == taken_)
      return std::nullopt;
    Used one{};
    EXPECT_TRUE(memory_->get(used() + 4 + 8ULL * (taken_ % kSize), one));
    ++taken_;
    // An interrupt for the next one too.
    EXPECT_TRUE(memory_->put(available() + 4 + 2ULL * kSize, taken_));
    return one;
  }
  std::string text(std::uint64_t address, std::size_t size) {
    std::string bytes(size, '\0');
    EXPECT_TRUE(memory_->read(address, std::as_writable_bytes(std::span(bytes))));
    return bytes;
  }

  struct Descriptor {
    std::uint64_t address;
    std::uint32_t size;
    std::uint16_t flags;
    std::uint16_t next;
  };
  void put(std::uint16_t index, const Descriptor &descriptor) {
    EXPECT_TRUE(memory_->put(descriptors() + 16ULL * index, descriptor));
  }

  static void set(VirtioDevice &device, std::uint64_t offset, std::uint32_t value) {
    EXPECT_TRUE(device.store(offset, 4, value));
  }
  static std::uint32_t get(VirtioDevice &device, std::uint64_t offset) {
    std::uint64_t value = 0;
    EXPECT_TRUE(device.load(offset, 4, value));
    return static_cast<std::uint32_t>(value);
  }
  [[nodiscard]] std::uint64_t descriptors() const { return place_; }
  [[nodiscard]] std::uint64_t available() const { return place_ + 0x400; }
  [[nodiscard]] std::uint64_t used() const { return place_ + 0x800; }

private:
  VirtioDevice *device_;
  GuestMemory *memory_;
  unsigned queue_;
  std::uint64_t place_;
  std::uint64_t buffers_ = place_ + 0x1000;
  unsigned next_descriptor_ = 0;
  std::uint16_t index_ = 0;
  std::uint16_t taken_ = 0;
};

} // namespace tandem::machine::testing
