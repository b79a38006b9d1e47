// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to main memory by what is no hart: at once, and a hart that had reserved what is written
// loses its reservation. A memory side hears of them and has their traffic.
#pragma once

#include "machine/devices/dma.h"
#include "machine/devices/event_queue.h"
#include "machine/hart/harts.h"

#include <cstdint>
#include <functional>
#include <utility>

namespace tandem::machine {

class HartsDma final : public DmaPort {
public:
  // All outlive it. Without `events` accesses have no traffic to wait for.
  HartsDma(Memory &memory, Harts &harts, EventQueue *events = nullptr)
      : memory_(&memory), harts_(&harts), events_(events) {}

  // Called after every access, with its physical address, its bytes (not 0), and whether it wrote.
  using Heard = std::function<void(std::uint64_t address, std::uint64_t bytes, bool write)>;
  void on_access(Heard heard) { heard_ = std::move(heard); }

  // Calls what it is given when the traffic of all accesses until now is over, with the cycle from
  // which on that may be noticed; false: it is over, no call.
  using Waits = std::function<bool(std::function<void(Cycle at)> call)>;
  void on_wait(Waits waits) { waits_ = std::move(waits); }

  bool when_done(unsigned client, std::uint64_t argument) override {
    return waits_ && events_ != nullptr &&
           waits_([this, client, argument](Cycle at) { events_->schedule(at, client, argument); });
  }
  bool read(std::uint64_t address, std::span<std::byte> to) override {
    if (!memory_->read(address, to))
      return false;
    if (heard_ && !to.empty())
      heard_(address, to.size(), false);
    return true;
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
    if (heard_)
      heard_(address, from.size(), true);
    return true;
  }

private:
  Memory *memory_;
  Harts *harts_;
  EventQueue *events_;
  Heard heard_;
  Waits waits_;
};

} // namespace tandem::machine
