// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/run/outcome.h"

#include <algorithm>

namespace tandem::machine {
namespace {

char letter(Privilege privilege) {
  switch (privilege) {
  case Privilege::user:
    return 'U';
  case Privilege::supervisor:
    return 'S';
  case Privilege::machine:
    break;
  }
  return 'M';
}

std::string place(unsigned hart, std::uint64_t pc, const Symbols &symbols) {
  const std::string name = symbols.find(pc) ? fmt::format(" ({})", symbols.describe(pc)) : "";
  return fmt::format("hart {} at {:#x}{}", hart, pc, name);
}

std::string place(unsigned hart, std::uint64_t pc, Privilege privilege, const Symbols &symbols) {
  return fmt::format("{} in {}-mode", place(hart, pc, symbols), letter(privilege));
}

// What the guest ended with, but for panics.
RunOutcome ended(const Board &board, const Symbols &symbols) {
  const BoardEnd &end = *board.end();
  RunOutcome outcome{.status = board.guest_end()->status};
  switch (end.kind) {
  case BoardEnd::Kind::shutdown:
    outcome.name = "shutdown";
    break;
  case BoardEnd::Kind::reboot:
    outcome.name = "reboot";
    break;
  case BoardEnd::Kind::exit_pass:
  case BoardEnd::Kind::exit_fail:
    outcome.name = "exit";
    break;
  case BoardEnd::Kind::failure:
    outcome.message = "the guest asked for a reset because of a failure of its own; look at what "
                      "it printed last";
    outcome.name = "failure";
    break;
  case BoardEnd::Kind::crash:
    outcome.message = fmt::format("the guest crashed: {}; look with --trace or --gdb",
                                  describe(*end.crash, symbols));
    outcome.name = "crash";
    break;
  }
  return outcome;
}

} // namespace

std::string where(const Hart &hart, const Symbols &symbols) {
  return place(hart.id(), hart.state().pc, hart.state().privilege, symbols);
}

std::string where(Machine &machine, const Symbols &symbols) {
  const Hart *found = nullptr;
  unsigned running = 0;
  for (const auto &hart : machine.harts()) {
    if (hart->state().activity != Activity::running)
      continue;
    ++running;
    if (found == nullptr)
      found = hart.get();
  }
  if (found == nullptr)
    return fmt::format("all harts wait; {}", where(machine.harts()[0], symbols));
  return where(*found, symbols) +
         (running > 1 ? fmt::format(" and {} more running", running - 1) : "");
}

std::string describe(const Crash &crash, const Symbols &symbols) {
  if (!crash.first)
    return fmt::format("{}: {}, address {:#x}",
                       place(crash.hart, crash.pc, crash.privilege, symbols),
                       name_of(crash.trap.cause), crash.trap.value);
  const Crash::First &first = *crash.first;
  const std::string_view cause = (first.cause & kInterruptBit) != 0
                                     ? name_of(static_cast<Interrupt>(first.cause & ~kInterruptBit))
                                     : name_of(static_cast<Exception>(first.cause));
  return fmt::format("{}: {}, address {:#x}; its trap handler at {:#x} cannot be fetched: {}",
                     place(crash.hart, first.pc, symbols), cause, first.value, crash.pc,
                     name_of(crash.trap.cause));
}

RunOutcome outcome_of(Board &board, const Symbols &symbols, const BoardRun &run) {
  if (run.panic)
    return {.status = kGuestStatus,
            .message = fmt::format("the kernel panicked: {}; {}; give it what it misses (--initrd, "
                                   "--disk, --append), or look with --trace or --gdb",
                                   *run.panic, where(board, symbols)),
            .name = "panic"};
  switch (run.stop) {
  case Session::Stop::ended: {
    RunOutcome outcome = ended(board, symbols);
    if (run.until_given && !run.until_seen && outcome.status == 0)
      return {.status = kGuestStatus,
              .message = "the guest ended, and the text of --until was never shown",
              .name = "until-missed"};
    return outcome;
  }
  case Session::Stop::limit:
    return {.status = kGuestStatus,
            .message = fmt::format("no end after {} instructions (--limit): {}",
                                   board.cores().schedule().instructions, where(board, symbols)),
            .name = "limit"};
  case Session::Stop::deadlock:
    return {.status = kGuestStatus,
            .message = fmt::format("nothing can happen any more: no timer, no device, no input: {}",
                                   where(board, symbols)),
            .name = "deadlock"};
  case Session::Stop::asked:
    return {.status = 0, .name = run.until_seen ? "until" : "asked"};
  case Session::Stop::interrupted:
    break;
  }
  return {.status = kInterruptStatus, .name = "interrupted"};
}

} // namespace tandem::machine
