// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/cores/functional.h"

#include <algorithm>

namespace tandem::machine {

namespace {
// The first round that begins at `at` or later.
constexpr Cycle round_from(Cycle at) {
  constexpr Cycle kTurn = FunctionalCores::kTurn;
  return at > kNever - kTurn ? kNever : (at + kTurn - 1) / kTurn * kTurn;
}
} // namespace

FunctionalCores::FunctionalCores(Harts &harts, Clock &clock, Agenda *agenda)
    : harts_(&harts), clock_(&clock), agenda_(agenda) {
  schedule_.round = round_from(clock.now);
}

// What happens before the first turn of a round: devices' events, and the way over time in which
// nobody runs. False: nothing will happen any more.
bool FunctionalCores::begin_round() {
  while (true) {
    clock_->now = schedule_.round;
    if (agenda_ != nullptr && agenda_->next() <= schedule_.round)
      agenda_->run(schedule_.round);
    Cycle next = agenda_ != nullptr ? agenda_->next() : kNever;
    for (auto &hart : *harts_) {
      if (hart->awake())
        return true;
      if (hart->state().activity == Activity::waiting)
        next = std::min(next, hart->timer());
    }
    if (round_from(next) == kNever || stop_)
      return stop_;
    schedule_.round = std::max(schedule_.round, round_from(next));
  }
}

// How many cycles the hart may run before another hart or an event has its turn: to the end of the
// round, or further as long as nobody else can run.
std::uint64_t FunctionalCores::room(unsigned index) const {
  Cycle next = agenda_ != nullptr ? agenda_->next() : kNever;
  for (unsigned other = 0; other < harts_->size(); ++other) {
    if (other == index)
      continue;
    Hart &hart = (*harts_)[other];
    if (hart.awake())
      return kTurn - schedule_.done;
    if (hart.state().activity == Activity::waiting)
      next = std::min(next, hart.timer());
  }
  const Cycle end = std::max(round_from(next), schedule_.round + kTurn);
  return end - (schedule_.round + schedule_.done);
}

void FunctionalCores::run_turn(Hart &hart, std::uint64_t &left) {
  if (last_ != &hart) {
    for (auto &other : *harts_)
      if (other.get() != &hart)
        other->break_reservation();
    last_ = &hart;
  }
  const Ran ran = hart.run(std::min(left, room(schedule_.hart)));
  left -= ran.cycles;
  schedule_.instructions += ran.cycles;
  schedule_.done += ran.cycles;
  if (schedule_.done > kTurn) { // it was alone: the rounds between have passed
    const std::uint64_t rounds = (schedule_.done - 1) / kTurn;
    schedule_.round += rounds * kTurn;
    schedule_.done -= rounds * kTurn;
  }
  if (schedule_.done == kTurn || ran.stop == Stop::waiting || ran.stop == Stop::stopped)
    end_turn();
}

void FunctionalCores::end_turn() {
  schedule_.done = 0;
  if (++schedule_.hart == harts_->size()) {
    schedule_.hart = 0;
    schedule_.round += kTurn;
  }
}

FunctionalCores::End FunctionalCores::run(std::uint64_t instructions) {
  stop_ = false;
  while (instructions > 0) {
    if (driver_ == nullptr || !driver_->drives()) {
      const End end = run_functional(instructions);
      if (end != End::limit)
        return end;
      continue;
    }
    clock_->now = std::max(clock_->now, schedule_.round + schedule_.done);
    const std::uint64_t before = schedule_.instructions;
    const End end = driver_->run(instructions, schedule_);
    instructions -= schedule_.instructions - before;
    if (driver_->drives())
      return end;
    last_ = nullptr;
    schedule_.round = round_from(clock_->now);
    schedule_.hart = 0;
    schedule_.done = 0;
    if (end != End::limit)
      return end;
  }
  return End::limit;
}

// Until they are run, or somebody else drives.
FunctionalCores::End FunctionalCores::run_functional(std::uint64_t &instructions) {
  while (instructions > 0 && (driver_ == nullptr || !driver_->drives())) {
    if (schedule_.hart == 0 && schedule_.done == 0 && !begin_round())
      return End::deadlock;
    if (stop_)
      return End::asked;
    clock_->now = schedule_.round + schedule_.done;
    Hart &hart = (*harts_)[schedule_.hart];
    if (hart.awake())
      run_turn(hart, instructions);
    else
      end_turn();
    if (stop_)
      return End::asked;
  }
  return End::limit;
}

void FunctionalCores::request_stop() {
  stop_ = true;
  if (driver_ != nullptr)
    driver_->request_stop();
  if (harts_->running() != nullptr)
    harts_->running()->end_burst();
}

} // namespace tandem::machine
