// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a network port is connected to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tandem::machine {

// An Ethernet frame without its checksum, at most this long.
inline constexpr std::size_t kFrameBytes = 1514;

// A port, to which others deliver.
class NetworkPort {
public:
  virtual ~NetworkPort() = default;
  // A frame arrives at this port now.
  virtual void deliver(std::span<const std::byte> frame) = 0;
};

// The other side of a port.
class NetworkPeer {
public:
  virtual ~NetworkPeer() = default;
  // The port has sent a frame, which is at the other end of the wire now.
  virtual void receive(std::span<const std::byte> frame) = 0;
};

} // namespace tandem::machine
