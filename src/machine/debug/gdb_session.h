// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One conversation with gdb. For one thread.
//
// Source: "Debugging with GDB", appendix E, Packets, Stop Reply Packets, General Query Packets.
#pragma once

#include "machine/debug/breakpoints.h"
#include "machine/debug/packets.h"
#include "machine/run/session.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::machine {

// The way to gdb and back.
class GdbChannel {
public:
  virtual ~GdbChannel() = default;
  // Appends what has come, waiting for something if asked to. False: the other end has gone, or
  // this program is to end.
  virtual bool receive(std::string &bytes, bool wait) = 0;
  virtual bool send(std::string_view bytes) = 0;
};

class GdbSession {
public:
  GdbSession(Machine &machine, Session &session, std::uint64_t limit, GdbChannel &channel);
  ~GdbSession();
  GdbSession(const GdbSession &) = delete;
  GdbSession &operator=(const GdbSession &) = delete;

  // Until the machine has ended, or gdb has. None: gdb has gone, and the machine goes on.
  std::optional<Session::Stop> serve();

private:
  // What a packet asks for beyond its answer.
  enum class Wish : std::uint8_t { nothing, go, step, leave, kill };
  struct Answer {
    std::string text{};
    Wish wish = Wish::nothing;
  };

  Answer answer(std::string_view packet);
  Answer query(std::string_view packet);
  Answer verbose(std::string_view packet);
  Answer set_thread(std::string_view packet);
  Answer set_point(std::string_view packet, bool insert);
  std::string read_memory(std::string_view packet);
  std::string write_memory(std::string_view packet);
  std::string write_register(std::string_view packet);
  std::string command(std::string_view hex);
  std::string transfer(std::string_view packet);

  [[nodiscard]] std::optional<Session::Stop> ended() const;
  std::optional<Session::Stop> resume(Wish wish);
  std::optional<Session::Stop> go();
  Session::Stop run_to(std::uint64_t instructions);
  std::optional<Session::Stop> go_watching();
  void step(unsigned hart);
  // Passes over packets that came while the machine ran; true: gdb wants it to stop, or has gone.
  bool stop_asked();
  [[nodiscard]] std::string stop_reply() const;
  [[nodiscard]] Hart &hart() { return machine_->harts()[hart_]; }
  bool reply(std::string_view text);
  Machine *machine_;
  Session *session_;
  std::uint64_t limit_;
  GdbChannel *channel_;
  PacketReader reader_;
  Breakpoints breakpoints_;
  unsigned hart_ = 0;      // which registers and memory are read
  unsigned step_hart_ = 0; // which one steps
  bool acknowledges_ = true;
  bool gone_ = false;
  bool crash_shown_ = false;               // gdb has heard that the guest crashed
  std::optional<unsigned> hit_{};          // the hart that is on a breakpoint
  std::optional<std::uint64_t> watched_{}; // memory that has changed
};

} // namespace tandem::machine
