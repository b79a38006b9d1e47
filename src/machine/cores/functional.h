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

class FunctionalCores {
public:
  static constexpr std::uint64_t kTurn = 100; // instructions: longer turns are spun away by locks

  enum class End : std::uint8_t {
    limit,    // the instructions asked for were run
    asked,    // request_stop()
    deadlock, // nothing can run any more: every hart waits or is stopped, no timer, no event
  };

  // All must outlive the cores; `agenda` may be null.
  FunctionalCores(Harts &harts, Clock &clock, Agenda *agenda);

  // Runs until `instructions` more have been run by all harts together, exactly.
  End run(std::uint64_t instructions);
  // From a callback (environment, device, agenda): run() returns End::asked after the present
  // instruction.
  void request_stop();

  [[nodiscard]] const Schedule &schedule() const { return schedule_; }
  void restore(const Schedule &schedule) {
    schedule_ = schedule;
    last_ = nullptr;
  }

private:
  bool begin_round();
  [[nodiscard]] std::uint64_t room(unsigned index) const;
  void run_turn(Hart &hart, std::uint64_t &left);
  void end_turn();

  Harts *harts_;
  Clock *clock_;
  Agenda *agenda_;
  Schedule schedule_;
  Hart *last_ = nullptr; // that ran: no other has a reservation; null: not known
  bool stop_ = false;
};

} // namespace tandem::machine
