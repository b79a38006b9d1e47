// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/run_program.h"

#include "base/file.h"
#include "cli/common/terminal.h"
#include "cli/machine/attach.h"
#include "cli/machine/program_run.h"
#include "cli/machine/timeline.h"
#include "machine/timing/timing.h"

#include <cstdio>
#include <unistd.h>

namespace tandem::machine_cli {
namespace {

// While it lives, what is written to standard output goes to standard error: results are for
// standard output alone.
class OutputAside {
public:
  OutputAside() {
    std::fflush(stdout);
    kept_ = ::dup(STDOUT_FILENO);
    CHECK(kept_ >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0);
  }
  ~OutputAside() {
    std::fflush(stdout);
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
  }
  OutputAside(const OutputAside &) = delete;
  OutputAside &operator=(const OutputAside &) = delete;

private:
  int kept_;
};

Result<machine::RunResult> run_once(const machine::Configuration &configuration,
                                    const machine::ProtocolEntry &protocol,
                                    const ProgramOptions &options, std::uint64_t seed,
                                    bool check_values, const Interrupt &interrupt) {
  std::vector<std::string> words{options.program};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  const bool boots = !options.boot.empty();
  const Result<std::unique_ptr<ProgramRun>> made =
      boots ? ProgramRun::boot(options.boot, options.disks, configuration.cores, seed)
            : ProgramRun::make(words, configuration.cores, seed);
  if (!made)
    return made.error();
  machine::TimingOptions timing;
  timing.configuration = configuration;
  timing.seed = seed;
  timing.check_values = check_values;
  timing.mode = options.whole ? machine::Mode::timing : machine::Mode::functional;
  timing.only_timing = !options.whole;
  timing.timeline = !options.timeline.empty();
  const Result<std::unique_ptr<machine::TimedCores>> cores =
      attach_cores((*made)->machine(), protocol.name, timing);
  if (!cores)
    return cores.error();
  const std::string mistake = (*made)->run(interrupt.flag());
  detach_cores((*made)->machine());
  if (!mistake.empty())
    return Error{mistake};
  machine::RunResult result = (*cores)->result();
  result.workload = boots ? options.boot : options.program.substr(options.program.rfind('/') + 1);
  result.complete = !interrupt.asked();
  if (result.instructions == 0 && result.complete)
    return Error{fmt::format("{}: nothing was measured: it never says TANDEM_MACHINE_TIMING(); "
                             "--whole measures all of it",
                             result.workload)};
  if (const machine::Timeline *timeline = (*cores)->timeline()) {
    const std::string page =
        timeline_page(*timeline, (*made)->symbols(),
                      fmt::format("{}, {}, {}", result.workload, protocol.name,
                                  counted(configuration.cores, "hart", "harts")));
    if (Status written = write_file(options.timeline, page); !written)
      return written.error();
  }
  return result;
}

} // namespace

void declare_program(Program &program, ProgramOptions &options) {
  CLI::App &app = program.app();
  app.add_option("--program", options.program,
                 "a static RV64 Linux program on the machine's cores instead; it says what is "
                 "measured")
      ->type_name("FILE");
  app.add_option("--argument", options.arguments, "of the program; may be given again")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_option("--boot", options.boot,
                 "Linux (tandem machine image linux) on the machine's cores instead, with this "
                 "command, a program of which says what is measured")
      ->type_name("COMMAND");
  app.add_option("--disk", options.disks,
                 "of --boot: a disk with the contents of a file, which is never written: "
                 "FILE[,ro][,latency=5.5ms]; may be given again")
      ->type_name("DISK")
      ->allow_extra_args(false);
  app.add_option("--timeline", options.timeline,
                 "of a program or Linux: what harts spent their cycles on since caches were first "
                 "simulated, and the lines that they waited for, as HTML")
      ->type_name("FILE");
  program.add_flag("--whole", options.whole, "measure all of the program, caches cold");
}

Result<std::vector<machine::RunResult>>
simulate_program(const machine::Configuration &configuration,
                 const machine::ProtocolEntry &protocol, const ProgramOptions &program,
                 const MachineOptions &options, const Interrupt &interrupt) {
  std::vector<machine::RunResult> results;
  const OutputAside aside;
  for (unsigned i = 0; i < options.seeds && (i == 0 || !interrupt.asked()); ++i) {
    Result<machine::RunResult> result = run_once(configuration, protocol, program, options.seed + i,
                                                 options.check_values, interrupt);
    if (!result)
      return result.error();
    if (result->instructions != 0)
      results.push_back(std::move(*result));
  }
  return results;
}

} // namespace tandem::machine_cli
