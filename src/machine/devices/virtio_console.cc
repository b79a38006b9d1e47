// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/virtio_console.h"

#include <algorithm>

namespace tandem::machine {
namespace {

constexpr std::uint32_t kDevice = 3;
constexpr unsigned kReceiveQueue = 0;
constexpr unsigned kTransmitQueue = 1;
constexpr std::size_t kPart = 4096;

} // namespace

VirtioConsole::VirtioConsole(ConsoleSink &sink, DmaPort &dma, InterruptLine interrupt)
    : VirtioDevice(kDevice, 0, 2, dma, interrupt), sink_(&sink) {}

bool VirtioConsole::receive(std::uint8_t byte) {
  const std::optional<VirtioChain> chain = take(kReceiveQueue);
  if (!chain)
    return false;
  if (!chain->scatter(dma(), 0, std::as_bytes(std::span(&byte, 1)))) {
    need_reset();
    return false;
  }
  give(kReceiveQueue, chain->head, 1);
  return true;
}

void VirtioConsole::notified(unsigned queue) {
  if (queue != kTransmitQueue)
    return;
  while (const std::optional<VirtioChain> chain = take(kTransmitQueue)) {
    std::array<std::uint8_t, kPart> part;
    const std::uint64_t bytes = chain->readable_bytes();
    for (std::uint64_t done = 0; done < bytes;) {
      const std::uint64_t count = std::min<std::uint64_t>(kPart, bytes - done);
      if (!chain->gather(dma(), done, std::as_writable_bytes(std::span(part).first(count)))) {
        need_reset();
        return;
      }
      for (std::uint64_t index = 0; index < count; ++index)
        sink_->output(part[index]);
      done += count;
    }
    give(kTransmitQueue, chain->head, 0);
  }
}

} // namespace tandem::machine
