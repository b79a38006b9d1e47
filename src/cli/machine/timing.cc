// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/timing.h"

#include "base/file.h"
#include "cli/machine/attach.h"
#include "cli/machine/results.h"
#include "cli/machine/timeline.h"
#include "cli/machine/transactions.h"
#include "machine/htm/transactional_memory.h"
#include "machine/timed/failure.h"
#include "machine/timing/timing.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tandem::machine_cli {

using machine::HartCycles;
using machine::TimedCores;
using nlohmann::ordered_json;

void declare_timing(Program &program, TimingArguments &arguments) {
  CLI::App &app = program.app();
  app.add_option("--mode", arguments.mode,
                 "functional (usual): no caches; timing: on the memory system of --protocol; "
                 "warming: the same, but messages take no time. A program can change it")
      ->type_name("MODE")
      ->check(CLI::IsMember({"functional", "warming", "timing"}));
  app.add_option("-p,--protocol", arguments.protocol, "the coherence protocol")->type_name("NAME");
  app.add_option("-c,--config", arguments.configuration,
                 "the machine: a name of `tandem machine list`, or a TOML file (default: flask, "
                 "metatm for protocols of a bus); its cores are as many as --harts")
      ->type_name("NAME|FILE");
  app.add_option("--set", arguments.settings,
                 "change a field of the configuration, as SECTION.FIELD=VALUE; may be given again")
      ->type_name("SETTING")
      ->allow_extra_args(false);
  program.add_flag("--check-values", arguments.check_values,
                   "compare every access with the last store (slower)");
  app.add_option("--timeline", arguments.timeline,
                 "what harts spent their cycles on, and the lines that they waited for, as HTML")
      ->type_name("FILE");
  program.add_flag("--counts", arguments.summary,
                   "print what was counted to standard error at the end");
}

namespace {

// A machine with as many cores as there are harts: controllers and columns that it would be too
// small for become fewer.
Result<machine::Configuration> configuration_for(const TimingArguments &arguments, bool bus,
                                                 unsigned harts) {
  const std::string name = !arguments.configuration.empty() ? arguments.configuration
                           : bus                            ? "metatm"
                                                            : "flask";
  const Result<machine::Configuration> given =
      machine::load_configuration(name, arguments.settings);
  if (!given)
    return given.error();
  std::vector<std::string> settings = arguments.settings;
  settings.push_back(fmt::format("cores={}", harts));
  if (given->memory.controllers > harts)
    settings.push_back(fmt::format("memory.controllers={}", harts));
  if (given->cores != harts)
    settings.emplace_back("network.columns=0");
  return machine::load_configuration(name, settings);
}

machine::Mode mode_of(const std::string &name) {
  return name == "functional" ? machine::Mode::functional
         : name == "warming"  ? machine::Mode::warming
                              : machine::Mode::timing;
}

} // namespace

class Timing::Parts {
public:
  std::unique_ptr<TimedCores> cores;
  std::string timeline; // a file
  std::uint32_t clock_mhz = 0;
};

Timing::Timing(machine::Machine &machine) : machine_(&machine), parts_(std::make_unique<Parts>()) {}

Timing::~Timing() { detach_cores(*machine_); }

void Timing::change_mode(const std::string &mode) { parts_->cores->change_mode(mode_of(mode)); }

Result<std::unique_ptr<TimedCores>> attach_cores(machine::Machine &machine,
                                                 const std::string &protocol,
                                                 const machine::TimingOptions &options) {
  Result<std::unique_ptr<TimedCores>> made = TimedCores::make(
      protocol, options, machine.harts(), machine.harts().clock(), machine.cores().agenda());
  if (!made)
    return made.error();
  TimedCores *cores = made->get();
  machine.cores().use(cores);
  machine.dma().on_access([cores](std::uint64_t address, std::uint64_t bytes, bool write) {
    cores->heard_access(address, bytes, write);
  });
  machine.dma().on_wait([cores](auto call) { return cores->when_settled(std::move(call)); });
  return made;
}

void detach_cores(machine::Machine &machine) {
  machine.cores().use(nullptr);
  machine.dma().on_access(nullptr);
  machine.dma().on_wait(nullptr);
}

Result<std::unique_ptr<Timing>> make_timing(const TimingArguments &arguments,
                                            machine::Machine &machine) {
  const bool wanted = !arguments.mode.empty() && arguments.mode != "functional";
  if (arguments.protocol.empty()) {
    if (wanted)
      return Error{fmt::format("--mode {} needs a protocol: say --protocol NAME (tandem machine "
                               "list)",
                               arguments.mode)};
    const bool only_transactions = only_about_transactions(arguments.settings);
    if (only_transactions && !arguments.settings.empty()) {
      const Result<machine::Configuration> given =
          machine::load_configuration("metatm", arguments.settings);
      if (!given)
        return given.error();
      machine::HtmOptions htm = given->htm;
      htm.seed = arguments.seed;
      machine.harts().transactions().configure(htm);
    }
    if (!arguments.configuration.empty() || !only_transactions || arguments.summary ||
        arguments.check_values || !arguments.timeline.empty())
      return Error{
          "--config, --set, --counts, --check-values and --timeline are about harts with time: say "
          "--mode timing --protocol NAME"};
    return std::unique_ptr<Timing>();
  }
  const Result<const machine::ProtocolEntry *> protocol =
      machine::find_protocol(arguments.protocol);
  if (!protocol)
    return protocol.error();
  const Result<machine::Configuration> configuration =
      configuration_for(arguments, (*protocol)->bus, machine.harts().size());
  if (!configuration)
    return configuration.error();
  machine::TimingOptions options;
  options.configuration = *configuration;
  options.seed = arguments.seed;
  options.check_values = arguments.check_values;
  options.timeline = !arguments.timeline.empty();
  if (options.timeline)
    if (Status writable = check_writable(arguments.timeline); !writable)
      return writable.error();
  options.mode = mode_of(arguments.mode);
  Result<std::unique_ptr<TimedCores>> cores = attach_cores(machine, arguments.protocol, options);
  if (!cores)
    return cores.error();
  auto timing = std::make_unique<Timing>(machine);
  timing->parts_->cores = std::move(cores).value();
  timing->parts_->timeline = arguments.timeline;
  timing->parts_->clock_mhz = configuration->clock_mhz;
  return timing;
}

void with_failures_shown(const std::function<void()> &run) {
  try {
    run();
  } catch (const machine::ProtocolFailure &failure) {
    fmt::print(stderr, "{}\n", failure.what());
    std::fflush(stderr);
    std::abort();
  }
}

Status Timing::write_timeline(const machine::Symbols &symbols, const std::string &title) {
  const machine::Timeline *timeline = parts_->cores->timeline();
  return timeline == nullptr
             ? Status(Unit{})
             : write_file(parts_->timeline, timeline_page(*timeline, symbols, title));
}

std::uint32_t Timing::clock_mhz() const { return parts_->clock_mhz; }

ordered_json Timing::json() {
  TimedCores &cores = *parts_->cores;
  const machine::RunResult result = cores.result();
  ordered_json harts = ordered_json::array();
  for (const HartCycles &hart : cores.harts())
    harts.push_back({{"instructions", hart.instructions},
                     {"busy_cycles", hart.busy},
                     {"fetch_stall_cycles", hart.fetches},
                     {"load_stall_cycles", hart.loads},
                     {"store_stall_cycles", hart.stores},
                     {"atomic_stall_cycles", hart.atomics},
                     {"walk_stall_cycles", hart.walks},
                     {"service_cycles", hart.service},
                     {"transaction_wait_cycles", hart.waits},
                     {"system_cycles", hart.system}});
  ordered_json regions = ordered_json::array();
  for (const auto &[number, region] : cores.regions()) {
    ordered_json counts = ordered_json::object();
    for (const auto &[name, value] : region.counts)
      counts[name] = value;
    regions.push_back({{"region", number}, {"entered", region.entered}, {"counts", counts}});
  }
  return {{"run", to_json(result)}, {"harts", harts}, {"regions", regions}};
}

std::string Timing::text() {
  TimedCores &cores = *parts_->cores;
  const machine::RunResult result = cores.result();
  std::string text = to_text({result}, Terminal{});
  text += fmt::format("\n{:>4} {:>14} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12}\n", "hart",
                      "instructions", "busy", "fetch stall", "load stall", "store stall",
                      "atomic stall", "walk stall", "service");
  for (std::size_t hart = 0; hart < cores.harts().size(); ++hart) {
    const HartCycles &one = cores.harts()[hart];
    text += fmt::format("{:>4} {:>14} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12}\n", hart,
                        one.instructions, one.busy, one.fetches, one.loads, one.stores, one.atomics,
                        one.walks, one.service);
  }
  return text;
}

} // namespace tandem::machine_cli
