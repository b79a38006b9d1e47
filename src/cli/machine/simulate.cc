// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/simulate.h"

#include "cli/common/progress.h"
#include "machine/timed/failure.h"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace tandem::machine_cli {

void declare_machine(Program &program, MachineOptions &options) {
  CLI::App &app = program.app();
  app.add_option("-c,--config", options.configuration,
                 "the machine: a name of `tandem machine list`, or a TOML file (default: flask)")
      ->type_name("NAME|FILE");
  app.add_option("--set", options.settings,
                 "change a field of the configuration, as SECTION.FIELD=VALUE; may be given again")
      ->type_name("SETTING")
      ->allow_extra_args(false);
  app.add_option("--option", options.options,
                 "switch an option of the protocol on, or off as no-NAME; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--accesses", options.accesses,
                 "accesses to data that are measured, over all cores (default: 4000000)")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_option("--fast-forward", options.fast_forward,
                 "accesses before everything, which fill the caches without simulating time "
                 "(default: ten times as many; none with a trace)")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40));
  app.add_option("--warm-up", options.warm_up,
                 "accesses with time between those and the measured ones (default: half as many as "
                 "are measured; none with a trace)")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40));
  app.add_option("--seed", options.seed, "of traffic, hashes and jitter (default: 1)")
      ->type_name("N");
  app.add_option("--seeds", options.seeds,
                 "run so many seeds, from --seed on, and give 95% confidence intervals")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000U));
  program.add_flag("--check-values", options.check_values,
                   "compare every access with the last store (slower)");
}

Result<ProtocolSwitch> protocol_switch(const std::string &text,
                                       const machine::ProtocolEntry &protocol) {
  ProtocolSwitch result{text, true};
  std::vector<std::string> known;
  for (const machine::ProtocolOption &option : protocol.options) {
    if (text == option.name)
      return result;
    if (text == "no-" + option.name)
      return ProtocolSwitch{option.name, false};
    known.push_back(option.name);
  }
  return Error{fmt::format(
      "--option {}: {} has {}", text, protocol.name,
      known.empty() ? "no options" : fmt::format("these options: {}", fmt::join(known, ", ")))};
}

Result<std::vector<std::string>> option_settings(const std::vector<std::string> &texts,
                                                 const machine::ProtocolEntry &protocol) {
  std::vector<std::string> settings;
  for (const std::string &text : texts) {
    const Result<ProtocolSwitch> which = protocol_switch(text, protocol);
    if (!which)
      return which.error();
    settings.push_back(fmt::format("options.{}.{}={}", protocol.name, which->name, which->on));
  }
  return settings;
}

void say_unused_rows(const machine::Configuration &configuration,
                     const machine::ProtocolEntry &protocol, std::string_view program) {
  using machine::filter::Kind;
  static std::set<std::uint32_t> said;
  const std::uint32_t sets = configuration.directory_sets();
  const Kind kind = configuration.filter.kind;
  if (!protocol.filter || (kind != Kind::d_left && kind != Kind::counting_bloom) ||
      std::has_single_bit(sets) || !said.insert(sets).second)
    return;
  fmt::print(stderr,
             "tandem {}: directory.provision_percent={}: the directory has {} sets of {} ways, the "
             "filter's hashes reach {} of them, a power of two\n",
             program, configuration.directory.provision_permille / 10.0, sets,
             configuration.directory.ways, std::bit_floor(sets));
}

std::vector<std::string> inputs_of(const MachineOptions &options) {
  return {options.configuration, options.trace};
}

namespace {

// A bug of ours, or of a protocol that somebody is changing: all that is known, and abort.
[[noreturn]] void protocol_failed(const machine::ProtocolFailure &failure) {
  fmt::print(stderr, "{}\n", failure.what());
  std::fflush(stderr);
  std::abort();
}

} // namespace

Result<std::vector<machine::RunResult>>
simulate(const machine::Configuration &configuration, const machine::ProtocolEntry &protocol,
         const std::string &workload, const MachineOptions &options, const Interrupt &interrupt) {
  machine::RunRequest request;
  request.configuration = configuration;
  request.trace = options.trace;
  request.check_values = options.check_values;
  request.every = options.every;
  request.work.accesses = options.accesses;
  const auto or_default = [&](std::uint64_t given, std::uint64_t usual) {
    return given != MachineOptions::kUsual ? given : options.trace.empty() ? usual : 0;
  };
  request.work.fast_forward = or_default(options.fast_forward, 10 * options.accesses);
  request.work.warm_up = or_default(options.warm_up, options.accesses / 2);
  if (options.trace.empty()) {
    const Result<machine::Profile> profile = machine::find_profile(workload);
    if (!profile)
      return profile.error();
    request.profile = *profile;
  }
  constexpr std::uint64_t kPercent = 100;
  std::vector<machine::RunResult> results;
  Progress progress(fmt::format("{}, {}", protocol.name, workload), kPercent * options.seeds);
  std::uint64_t drawn = 0;
  for (unsigned i = 0; i < options.seeds && (i == 0 || !interrupt.asked()); ++i) {
    request.seed = options.seed + i;
    request.go_on = [&](std::uint64_t done, std::uint64_t wanted) {
      for (const std::uint64_t at =
               i * kPercent + done * kPercent / std::max<std::uint64_t>(wanted, 1);
           drawn < at; ++drawn)
        progress.advance();
      return !interrupt.asked();
    };
    try {
      Result<machine::RunResult> result = protocol.run(request);
      if (!result)
        return result.error();
      if (result->accesses != 0)
        results.push_back(std::move(*result));
    } catch (const machine::ProtocolFailure &failure) {
      progress.clear();
      protocol_failed(failure);
    }
  }
  return results;
}

} // namespace tandem::machine_cli
