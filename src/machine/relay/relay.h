// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Connects ports of the host's loopback to TCP ports of the guest: the other end of a network port
// is a router 10.0.2.2, which makes connections to the guest 10.0.2.15. The guest reaches nothing
// but who has connected to it. A run with a relay depends on when the host's packets come, and is
// not reproducible. TCP and IP of the router are libslirp's. For one thread.
#pragma once

#include "base/result.h"
#include "machine/devices/link.h"
#include "machine/hart/clock.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tandem::machine {

class Relay final : public NetworkPeer {
public:
  // `forwards`: pairs of the host's port and the guest's. Port and clock outlive the relay. Error:
  // a port of the host that is taken.
  static Result<std::unique_ptr<Relay>>
  make(NetworkPort &port, const Clock &clock,
       const std::vector<std::pair<std::uint16_t, std::uint16_t>> &forwards);
  ~Relay() override;

  void receive(std::span<const std::byte> frame) override;
  // Moves what can be moved between sockets and guest, waiting at most so long for a socket.
  void poll(int wait_ms);

private:
  class Host;
  Relay();
  std::unique_ptr<Host> host_;
};

} // namespace tandem::machine
