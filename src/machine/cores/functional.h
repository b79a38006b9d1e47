// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functional cores: harts in turn, 100 instructions each, an instruction a cycle, no memory
// system. Time is cut into rounds of 100 cycles; in each round every hart that can run runs through
// its cycles, in the order of harts. Devices' events happen between rounds. If no hart can run,
// time goes to the round of the next timer or event.
//
// What happens depends on images, configuration and inputs alone, and not on how run() is cut into
// calls: run(a), run(b) is run(a + b).
#pragma once

#include "machine/hart/harts.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tandem::machine {

// What happens at cycles of its own: disks, links, recorded input.
class Agenda {
public:
  virtual ~Agenda() = default;
  // The cycle of the next event, kNever if there is none. Asked between bursts: cheap.
  [[nodiscard]] virtual Cycle next() const = 0;
  // Does all that is due at `now` or before. Called between rounds. What writes memory breaks the
  // reservations of what it writes; an event that does nothing must leave no trace in any hart.
  virtual void run(Cycle now) = 0;
};

// Where in a round the cores stand: with the harts' states, the memory and clock.now all that
// decides how they go on.
struct Schedule {
  Cycle round = 0;                // its first cycle
  unsigned hart = 0;              // whose turn it is
  std::uint64_t done = 0;         // cycles of its turn that it has run
  std::uint64_t instructions = 0; // of all harts since the start
  bool operator==(const Schedule &) const = default;
};

// Why a run came back.
enum class CoresEnd : std::uint8_t {
  limit,    // the instructions asked for were run
  asked,    // request_stop()
  deadlock, // nothing can run any more: every hart waits or is stopped, no timer, no event
};

// Who runs the harts in place of the functional cores: with time (timing/).
class Driver {
public:
  virtual ~Driver() = default;
  // Whether it does now.
  [[nodiscard]] virtual bool drives() const = 0;
  // As FunctionalCores::run(); keeps `schedule`.instructions and .round, the present cycle, as it
  // keeps clock.now. Comes back with `limit` before it has run them all when it drives no longer.
  virtual CoresEnd run(std::uint64_t instructions, Schedule &schedule) = 0;
  virtual void request_stop() = 0;
  // What it has counted, by name; names and order never change.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::uint64_t>> counts() const = 0;
};

class FunctionalCores {
public:
  static constexpr std::uint64_t kTurn = 100; // instructions: longer turns are spun away by locks

  using End = CoresEnd;

  // All must outlive the cores; `agenda` may be null.
  FunctionalCores(Harts &harts, Clock &clock, Agenda *agenda);

  // Runs until `instructions` more have been run by all harts together, exactly.
  End run(std::uint64_t instructions);
  // From now on `driver` is asked first; null: no driver. It must outlive the cores.
  void use(Driver *driver) { driver_ = driver; }
  [[nodiscard]] const Driver *driver() const { return driver_; }
  [[nodiscard]] Agenda *agenda() const { return agenda_; }

  // From a callback (environment, device, agenda): run() returns End::asked after the present
  // instruction.
  void request_stop();

  [[nodiscard]] const Schedule &schedule() const { return schedule_; }
  void restore(const Schedule &schedule) {
    schedule_ = schedule;
    last_ = nullptr;
  }

private:
  End run_functional(std::uint64_t &instructions);
  bool begin_round();
  [[nodiscard]] std::uint64_t room(unsigned index) const;
  void run_turn(Hart &hart, std::uint64_t &left);
  void end_turn();

  Harts *harts_;
  Clock *clock_;
  Agenda *agenda_;
  Driver *driver_ = nullptr;
  Schedule schedule_;
  Hart *last_ = nullptr; // that ran: no other has a reservation; null: not known
  bool stop_ = false;
};

} // namespace tandem::machine
