// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A virtio network port and its wire: 1 Gbit/s, 0.1 ms. Frames that arrive while the driver has no
// room wait, up to 256; further ones are dropped. No offloads.
//
// Source: Virtual I/O Device version 1.2, section 5.1; the link's time: the MetaTM/TxLinux paper's
// machine (ISCA 2007).
#pragma once

#include "machine/devices/event_queue.h"
#include "machine/devices/link.h"
#include "machine/devices/virtio_mmio.h"

#include <array>
#include <deque>
#include <vector>

namespace tandem::machine {

class VirtioNet final : public VirtioDevice, public EventClient, public NetworkPort {
public:
  struct Statistics {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t dropped = 0;
    void fields(Archive &archive) { archive(sent, received, dropped); }
  };
  static constexpr Cycle kLatency = 100'000; // 0.1 ms of a machine of 1 GHz
  static constexpr Cycle kCyclesPerByte = 8; // 1 Gbit/s

  VirtioNet(const std::array<std::uint8_t, 6> &address, EventQueue &events, const Cycle &now,
            DmaPort &dma, InterruptLine interrupt);

  // Without a peer frames are lost. The peer outlives the port.
  void connect(NetworkPeer &peer) { peer_ = &peer; }

  void deliver(std::span<const std::byte> frame) override;
  void event(Cycle now, std::uint64_t argument) override;
  [[nodiscard]] const Statistics &statistics() const { return statistics_; }
  void fields(Archive &archive);

protected:
  void notified(unsigned queue) override;
  void reset() override;
  void transferred(unsigned queue) override;
  [[nodiscard]] std::span<const std::byte> configuration() const override { return configuration_; }

private:
  using Frame = std::vector<std::uint8_t>;
  void send();
  void fill();

  NetworkPeer *peer_ = nullptr;
  EventQueue *events_;
  const Cycle *now_;
  unsigned client_;
  std::array<std::byte, 8> configuration_{};
  std::deque<Frame> sending_; // read, not yet transferred; an empty one: dropped
  std::deque<Frame> on_wire_; // sent, each with an event of its arrival
  std::deque<Frame> waiting_; // arrived, without room
  Cycle wire_free_ = 0;       // when the last frame has left
  Statistics statistics_;
};

// Two ports of one machine, connected.
class NetworkPair {
public:
  NetworkPair(VirtioNet &a, VirtioNet &b) : to_a_(a), to_b_(b) {
    a.connect(to_b_);
    b.connect(to_a_);
  }

private:
  class End final : public NetworkPeer {
  public:
    explicit End(VirtioNet &port) : port_(&port) {}
    void receive(std::span<const std::byte> frame) override { port_->deliver(frame); }

  private:
    VirtioNet *port_;
  };
  End to_a_;
  End to_b_;
};

} // namespace tandem::machine
