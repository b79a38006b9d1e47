// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine list`: what can be run.
#include "base/file.h"
#include "cli/common/program.h"
#include "cli/common/table.h"
#include "cli/machine/commands.h"
#include "machine/simulation/simulation.h"

#include <nlohmann/json.hpp>

namespace tandem::machine_cli {
namespace {

using nlohmann::ordered_json;

ordered_json as_json() {
  ordered_json all;
  all["version"] = 1;
  for (const machine::ProtocolEntry &protocol : machine::protocols()) {
    ordered_json options = ordered_json::array();
    for (const machine::ProtocolOption &option : protocol.options)
      options.push_back(
          {{"name", option.name}, {"default", option.preset}, {"about", option.about}});
    all["protocols"].push_back({{"name", protocol.name},
                                {"summary", protocol.summary},
                                {"network", protocol.bus ? "bus" : "mesh"},
                                {"filter", protocol.filter},
                                {"options", options}});
  }
  for (const machine::NamedConfiguration &named : machine::named_configurations())
    all["configurations"].push_back({{"name", named.name}, {"title", named.title}});
  for (const machine::Profile &profile : machine::profiles())
    all["workloads"].push_back(
        {{"name", profile.name}, {"family", profile.family}, {"about", profile.about}});
  return all;
}

std::string as_text(const Terminal &terminal) {
  using Align = Column::Align;
  Table protocols({{"protocol", Align::left}, {"", Align::left, 20}});
  for (const machine::ProtocolEntry &protocol : machine::protocols()) {
    protocols.add({protocol.name, protocol.summary});
    for (const machine::ProtocolOption &option : protocol.options)
      protocols.add({fmt::format("  options.{}.{}", protocol.name, option.name),
                     fmt::format("{} (default: {})", option.about, option.preset)});
  }
  Table configurations({{"configuration", Align::left}, {"", Align::left, 20}});
  for (const machine::NamedConfiguration &named : machine::named_configurations())
    configurations.add({named.name, named.title});
  Table workloads({{"workload", Align::left}, {"family", Align::left}, {"", Align::left, 20}});
  for (const machine::Profile &profile : machine::profiles())
    workloads.add(
        {std::string(profile.name), std::string(profile.family), std::string(profile.about)});
  return protocols.text(terminal) + "\n" + configurations.text(terminal) + "\n" +
         workloads.text(terminal);
}

// A configuration with all its fields, to copy and change.
Result<std::string> whole(const std::string &name, const std::vector<std::string> &settings) {
  const Result<machine::Configuration> configuration = machine::load_configuration(name, settings);
  if (!configuration)
    return configuration.error();
  return machine::to_toml(*configuration);
}

} // namespace

int list_command(int argc, char **argv) {
  Program program("machine list", "protocols, configurations and workloads");
  std::string json;
  std::string configuration;
  std::vector<std::string> settings;
  bool reference = false;
  program.add_json(json, "write the list as JSON instead");
  program.app()
      .add_option("-c,--config", configuration,
                  "print this configuration (a name or a file) with all its fields instead")
      ->type_name("NAME|FILE");
  program.app()
      .add_option("--set", settings, "change a field of it first")
      ->type_name("SETTING")
      ->allow_extra_args(false);
  program.add_flag("--fields", reference, "describe all fields of a configuration, as Markdown");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  Result<std::string> text = as_text(Terminal::of(stdout));
  if (reference)
    text = machine::configuration_reference();
  else if (!configuration.empty())
    text = whole(configuration, settings);
  else if (!settings.empty())
    return program.fail(Error{"--set: changes a configuration; name it with --config"});
  if (!text)
    return program.fail(text.error());
  if (Status apart = check_outputs({json}, {configuration}); !apart)
    return program.fail(apart.error());
  const Status written =
      json.empty() ? write_file("-", *text) : write_file(json, as_json().dump(2) + "\n");
  return written ? 0 : program.fail(written.error());
}

} // namespace tandem::machine_cli
