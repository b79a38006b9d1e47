// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to main memory by what is no hart, in the functional machine: at once, and whoever had
// reserved what is written loses its reservation.
#pragma once

#include "machine/devices/dma.h"
#include "machine/hart/harts.h"

namespace tandem::machine {

class HartsDma final : public DmaPort {
public:
  // Both outlive it.
  HartsDma(Memory &memory, Harts &harts) : memory_(&memory), harts_(&harts) {}

  bool read(std::uint64_t address, std::span<std::byte> to) override {
    return memory_->read(address, to);
  }
  bool write(std::uint64_t address, std::span<const std::byte> from) override {
    if (!memory_->write(address, from))
      return false;
    if (from.empty())
      return true;
    const std::uint64_t first = address / kReservationBytes;
    const std::uint64_t last = (address + from.size() - 1) / kReservationBytes;
    for (const auto &hart : *harts_)
      if (hart->state().reservation >= first && hart->state().reservation <= last)
        hart->break_reservation();
    return true;
  }

private:
  Memory *memory_;
  Harts *harts_;
};

} // namespace tandem::machine
