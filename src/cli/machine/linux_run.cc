// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux and a command as a workload of `tandem machine run`.
#include "cli/machine/boot_run.h"
#include "cli/machine/program_run.h"
#include "cli/machine/timing.h"
#include "machine/platform/map.h"
#include "machine/run/outcome.h"

#include <unistd.h>

namespace tandem::machine_cli {
namespace {

class LinuxRun final : public ProgramRun {
public:
  LinuxRun(std::unique_ptr<machine::Board> board, machine::Symbols symbols)
      : board_(std::move(board)), symbols_(std::move(symbols)) {}

  machine::Machine &machine() override { return *board_; }
  [[nodiscard]] const machine::Symbols &symbols() const override { return symbols_; }
  std::string run(const std::atomic<bool> &interrupted) override {
    machine::Session session(*board_, interrupted);
    machine::Console console(STDOUT_FILENO);
    PanicWatch panic(console, session);
    board_->show(&console);
    session.after_slice([&console] { console.flush(); });
    machine::Session::Stop stop = machine::Session::Stop::asked;
    with_failures_shown([&] { stop = session.run(machine::Session::kNoLimit); });
    board_->show(nullptr);
    if (stop == machine::Session::Stop::interrupted)
      return "";
    const machine::RunOutcome outcome =
        machine::outcome_of(*board_, symbols_, {.stop = stop, .panic = panic.text(*board_, stop)});
    if (outcome.status == 0)
      return "";
    return fmt::format("--boot: {}", outcome.message.empty()
                                         ? fmt::format("ended with status {}", outcome.status)
                                         : outcome.message);
  }

private:
  std::unique_ptr<machine::Board> board_;
  machine::Symbols symbols_;
};

} // namespace

Result<std::unique_ptr<ProgramRun>> ProgramRun::boot(const std::string &command,
                                                     const std::vector<std::string> &disks,
                                                     unsigned harts, std::uint64_t seed) {
  if (harts > machine::map::kHartsMaximum)
    return Error{fmt::format("--boot: Linux has at most {} harts, and the machine {} cores",
                             machine::map::kHartsMaximum, harts)};
  BootArguments arguments;
  arguments.harts = harts;
  arguments.run = command;
  arguments.disks = disks;
  arguments.watch.seed = seed;
  machine::Symbols symbols;
  std::vector<NetworkOption> networks;
  Result<std::unique_ptr<machine::Board>> board = make_board(arguments, symbols, networks);
  if (!board)
    return board.error();
  return std::unique_ptr<ProgramRun>(
      std::make_unique<LinuxRun>(std::move(board).value(), std::move(symbols)));
}

} // namespace tandem::machine_cli
