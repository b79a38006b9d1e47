// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/virtio_ring.h"

#include <algorithm>
#include <bit>

namespace tandem::machine {
namespace {

constexpr std::uint16_t kNext = 1;     // of a descriptor
constexpr std::uint16_t kWritable = 2; // by the device
constexpr std::uint16_t kIndirect = 4;
constexpr std::uint16_t kNoInterrupt = 1; // flag of the available ring

// Segments and bytes from `offset` on, `count` of them, through `copy(address, part)`.
template <typename Copy>
bool each_part(const std::vector<VirtioChain::Segment> &segments, std::uint64_t offset,
               std::uint64_t count, Copy copy) {
  std::uint64_t done = 0;
  for (const VirtioChain::Segment &segment : segments) {
    if (done == count)
      break;
    if (offset >= segment.size) {
      offset -= segment.size;
      continue;
    }
    const std::uint64_t part = std::min<std::uint64_t>(segment.size - offset, count - done);
    if (!copy(segment.address + offset, done, part))
      return false;
    done += part;
    offset = 0;
  }
  return done == count;
}

} // namespace

std::uint64_t VirtioChain::sum(const std::vector<Segment> &segments) {
  std::uint64_t bytes = 0;
  for (const Segment &segment : segments)
    bytes += segment.size;
  return bytes;
}

bool VirtioChain::gather(DmaPort &dma, std::uint64_t offset, std::span<std::byte> to) const {
  return each_part(readable, offset, to.size(), [&](auto address, auto done, auto part) {
    return dma.read(address, to.subspan(done, part));
  });
}

bool VirtioChain::scatter(DmaPort &dma, std::uint64_t offset,
                          std::span<const std::byte> from) const {
  return each_part(writable, offset, from.size(), [&](auto address, auto done, auto part) {
    return dma.write(address, from.subspan(done, part));
  });
}

template <typename T> std::optional<T> VirtioQueue::read(DmaPort &dma, std::uint64_t address) {
  T value{};
  if (!dma.get(address, value)) {
    broken_ = true;
    return std::nullopt;
  }
  return value;
}

// How many entries are available and not taken; more than the queue holds is a mistake.
std::optional<std::uint16_t> VirtioQueue::waiting(DmaPort &dma) {
  if (!ready || broken_)
    return std::nullopt;
  const auto index = read<std::uint16_t>(dma, driver + 2);
  if (!index)
    return std::nullopt;
  const auto count = static_cast<std::uint16_t>(*index - taken_);
  if (count > size) {
    broken_ = true;
    return std::nullopt;
  }
  return count;
}

bool VirtioQueue::available(DmaPort &dma) { return waiting(dma).value_or(0) != 0; }

// Appends the descriptors from `first` on in a table of `entries`; false if there is a mistake.
bool VirtioQueue::follow(DmaPort &dma, std::uint64_t table, std::uint32_t entries,
                         std::uint16_t first, bool indirect, VirtioChain &chain) {
  std::uint16_t index = first;
  for (std::uint32_t seen = 0; seen < entries; ++seen) {
    if (index >= entries)
      return false;
    const auto descriptor = read<Descriptor>(dma, table + 16ULL * index);
    if (!descriptor)
      return false;
    if ((descriptor->flags & kIndirect) != 0) {
      // One table of them, which ends the chain; none inside it.
      const std::uint32_t inner = descriptor->size / sizeof(Descriptor);
      if (indirect || (descriptor->flags & kNext) != 0 || inner == 0 || inner > kMaximum ||
          descriptor->size % sizeof(Descriptor) != 0)
        return false;
      return follow(dma, descriptor->address, inner, 0, true, chain);
    }
    const bool writable = (descriptor->flags & kWritable) != 0;
    if (!writable && !chain.writable.empty())
      return false; // what the device reads comes first
    (writable ? chain.writable : chain.readable)
        .push_back({.address = descriptor->address, .size = descriptor->size});
    if ((descriptor->flags & kNext) == 0)
      return true;
    index = descriptor->next;
  }
  return false; // a loop
}

std::optional<VirtioChain> VirtioQueue::pop(DmaPort &dma) {
  if (waiting(dma).value_or(0) == 0)
    return std::nullopt;
  const auto head = read<std::uint16_t>(dma, driver + 4 + 2ULL * (taken_ % size));
  if (!head)
    return std::nullopt;
  VirtioChain chain;
  chain.head = *head;
  if (!follow(dma, descriptors, size, *head, false, chain)) {
    broken_ = true;
    return std::nullopt;
  }
  ++taken_;
  return chain;
}

bool VirtioQueue::push(DmaPort &dma, std::uint16_t head, std::uint32_t written) {
  if (!ready || broken_)
    return false;
  struct Used {
    std::uint32_t head;
    std::uint32_t written;
  };
  const Used used{.head = head, .written = written};
  const std::uint16_t before = used_;
  const auto after = static_cast<std::uint16_t>(used_ + 1);
  if (!dma.put(device + 4 + 8ULL * (used_ % size), used) || !dma.put(device + 2, after)) {
    broken_ = true;
    return false;
  }
  used_ = after;
  if (!event_index_) {
    const auto flags = read<std::uint16_t>(dma, driver);
    return flags && (*flags & kNoInterrupt) == 0;
  }
  const auto event = read<std::uint16_t>(dma, driver + 4 + 2ULL * size);
  return event && static_cast<std::uint16_t>(after - *event - 1) <
                      static_cast<std::uint16_t>(after - before);
}

void VirtioQueue::want_notification(DmaPort &dma) {
  if (!ready || broken_ || !event_index_)
    return; // without the index the flag is always "notify"
  if (!dma.put(device + 4 + 8ULL * size, taken_))
    broken_ = true;
}

void VirtioQueue::fields(Archive &archive) {
  archive(size, descriptors, driver, device, ready, event_index_, broken_, taken_, used_);
  if (size == 0 || size > kMaximum || !std::has_single_bit(size)) {
    reset();
    archive.fail();
  }
}

} // namespace tandem::machine
