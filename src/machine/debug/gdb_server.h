// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stub for gdb on a port of the loopback: a machine's harts are the threads of one process, and
// stop and go together. What gdb does changes the machine no further than by what it writes and by
// a cycle for each breakpoint that is hit. For one thread.
#pragma once

#include "base/result.h"
#include "machine/debug/breakpoints.h"
#include "machine/debug/packets.h"
#include "machine/run/session.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tandem::machine {

class GdbServer {
public:
  // Listens on 127.0.0.1; port 0: any that is free. Error: the port is taken.
  static Result<std::unique_ptr<GdbServer>> listen(std::uint16_t port);
  ~GdbServer();
  GdbServer(const GdbServer &) = delete;
  GdbServer &operator=(const GdbServer &) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  // Waits for gdb, before the first instruction, and runs the machine as it says. After it has gone
  // the machine runs on by itself. Result: as Session::run().
  Session::Stop serve(Machine &machine, Session &session, std::uint64_t limit,
                      const std::atomic<bool> &interrupted);

private:
  class Connection;
  GdbServer(int listener, std::uint16_t port) : listener_(listener), port_(port) {}

  int listener_;
  std::uint16_t port_;
};

} // namespace tandem::machine
