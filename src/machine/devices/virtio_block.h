// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A virtio disk. Each request takes the same time; at most 8 are under way, and they end in the
// order in which they began. Data moves when that time is over; with traffic, a request ends when
// it has been transferred.
//
// Source: Virtual I/O Device version 1.2, section 5.2.
#pragma once

#include "machine/devices/disk_image.h"
#include "machine/devices/event_queue.h"
#include "machine/devices/virtio_mmio.h"

#include <array>
#include <deque>
#include <string>

namespace tandem::machine {

class VirtioBlock final : public VirtioDevice, public EventClient {
public:
  static constexpr std::size_t kUnderWay = 8;

  struct Statistics {
    std::uint64_t requests = 0;
    std::uint64_t failed = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
    void fields(Archive &archive) { archive(requests, failed, bytes_read, bytes_written); }
  };

  // `latency` of a request in cycles; `serial` is what the guest reads as its name, 20 characters.
  VirtioBlock(DiskImage &image, Cycle latency, std::string serial, EventQueue &events,
              const Cycle &now, DmaPort &dma, InterruptLine interrupt);

  void event(Cycle now, std::uint64_t argument) override;
  [[nodiscard]] const Statistics &statistics() const { return statistics_; }
  void fields(Archive &archive);

protected:
  void notified(unsigned queue) override;
  void reset() override;
  [[nodiscard]] std::span<const std::byte> configuration() const override { return configuration_; }

private:
  void start();
  void serve(const VirtioChain &chain);
  std::uint8_t transfer(const VirtioChain &chain, std::uint32_t type, std::uint64_t sector,
                        std::uint32_t &written);

  DiskImage *image_;
  Cycle latency_;
  std::string serial_;
  EventQueue *events_;
  const Cycle *now_;
  unsigned client_;
  std::array<std::byte, 24> configuration_{};
  std::deque<VirtioChain> under_way_;
  Statistics statistics_;
};

} // namespace tandem::machine
