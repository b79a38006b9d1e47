// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A split virtqueue, the device's side, with indirect descriptors and the event index. Everything
// in guest memory may be wrong or change: each index is checked when it is read, a chain has at
// most as many descriptors as the queue, and a mistake of the driver breaks the queue, which then
// does nothing until the device is reset.
//
// Source: Virtual I/O Device version 1.2, section 2.7.
#pragma once

#include "machine/archive/archive.h"
#include "machine/devices/dma.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tandem::machine {

// What the driver has made available: where the device reads, then where it writes.
struct VirtioChain {
  struct Segment {
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    void fields(Archive &archive) { archive(address, size); }
  };
  std::uint16_t head = 0;
  std::vector<Segment> readable;
  std::vector<Segment> writable;
  void fields(Archive &archive) { archive(head, readable, writable); }

  [[nodiscard]] std::uint64_t readable_bytes() const { return sum(readable); }
  [[nodiscard]] std::uint64_t writable_bytes() const { return sum(writable); }

  // Copies from `offset` on of the readable, to that of the writable bytes. False if they are fewer
  // or not in memory.
  [[nodiscard]] bool gather(DmaPort &dma, std::uint64_t offset, std::span<std::byte> to) const;
  [[nodiscard]] bool scatter(DmaPort &dma, std::uint64_t offset,
                             std::span<const std::byte> from) const;

private:
  static std::uint64_t sum(const std::vector<Segment> &segments);
};

class VirtioQueue {
public:
  static constexpr std::uint16_t kMaximum = 256; // descriptors; a power of two

  // As the transport's registers set them. The size is 1 to kMaximum, a power of two.
  std::uint16_t size = kMaximum;
  std::uint64_t descriptors = 0; // the three areas, physical
  std::uint64_t driver = 0;
  std::uint64_t device = 0;
  bool ready = false;

  // The next chain; none if there is none or the queue is broken.
  std::optional<VirtioChain> pop(DmaPort &dma);
  // Whether pop() would give one.
  [[nodiscard]] bool available(DmaPort &dma);
  // The device is done with `head`, having written `written` bytes. Result: whether the driver
  // wants an interrupt for it.
  [[nodiscard]] bool push(DmaPort &dma, std::uint16_t head, std::uint32_t written);
  // Asks the driver to notify when it adds to what is available now (event index), or again
  // (without it).
  void want_notification(DmaPort &dma);

  void set_event_index(bool on) { event_index_ = on; }
  [[nodiscard]] bool broken() const { return broken_; }
  void reset() { *this = VirtioQueue(); }
  void fields(Archive &archive);

private:
  struct Descriptor {
    std::uint64_t address;
    std::uint32_t size;
    std::uint16_t flags;
    std::uint16_t next;
  };
  static_assert(sizeof(Descriptor) == 16);

  template <typename T> std::optional<T> read(DmaPort &dma, std::uint64_t address);
  [[nodiscard]] std::optional<std::uint16_t> waiting(DmaPort &dma);
  bool follow(DmaPort &dma, std::uint64_t table, std::uint32_t entries, std::uint16_t first,
              bool indirect, VirtioChain &chain);

  bool event_index_ = false;
  bool broken_ = false;
  std::uint16_t taken_ = 0; // available entries that were popped, mod 2^16
  std::uint16_t used_ = 0;  // used entries that were pushed, mod 2^16
};

} // namespace tandem::machine
