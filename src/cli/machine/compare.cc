// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine compare`: protocols side by side, over directory sizes.
#include "base/file.h"
#include "cli/common/table.h"
#include "cli/machine/commands.h"
#include "cli/machine/results.h"
#include "cli/machine/simulate.h"
#include "machine/simulation/metrics.h"

#include <algorithm>
#include <map>
#include <optional>

namespace tandem::machine_cli {
namespace {

struct Arguments {
  MachineOptions machine;
  std::vector<std::string> protocols;
  std::vector<std::string> workloads;
  std::vector<std::string> provisions = {"160", "40", "5"};
  std::string metric = "cycles";
  std::string baseline;
  std::string json;
  std::string csv;
};

// One machine, protocol and workload, all its seeds.
struct Point {
  std::string protocol;
  std::string workload;
  std::string provision;
  machine::Configuration configuration;
  std::vector<machine::RunResult> results;
};

Result<machine::Configuration> configuration_for(const Arguments &arguments,
                                                 const machine::ProtocolEntry &protocol,
                                                 const std::string &provision) {
  std::vector<std::string> settings = arguments.machine.settings;
  settings.push_back("directory.provision_percent=" + provision);
  if (protocol.bus)
    settings.emplace_back("network.kind=bus");
  Result<std::vector<std::string>> options = option_settings(arguments.machine.options, protocol);
  if (!options)
    return options.error();
  settings.insert(settings.end(), options->begin(), options->end());
  Result<machine::Configuration> configuration =
      machine::load_configuration(arguments.machine.configuration, settings);
  if (configuration)
    if (Status fit = machine::check_fit(*configuration, protocol); !fit)
      return fit.error();
  return configuration;
}

Result<std::vector<Point>> plan(const Arguments &arguments) {
  std::vector<Point> points;
  for (const std::string &workload : arguments.workloads)
    if (const Result<machine::Profile> profile = machine::find_profile(workload); !profile)
      return profile.error();
  for (const std::string &name : arguments.protocols) {
    const Result<const machine::ProtocolEntry *> protocol = machine::find_protocol(name);
    if (!protocol)
      return protocol.error();
    for (const std::string &provision : arguments.provisions) {
      Result<machine::Configuration> configuration =
          configuration_for(arguments, **protocol, provision);
      if (!configuration)
        return configuration.error();
      for (const std::string &workload : arguments.workloads)
        points.push_back({name, workload, provision, *configuration, {}});
      // Without a directory its size says nothing: once is enough.
      if ((*protocol)->bus || name == "token-b")
        break;
    }
  }
  return points;
}

// Nothing where the protocol has no such metric.
std::optional<double> mean_of(const Point &point, const std::string &name) {
  std::vector<double> values;
  for (const machine::RunResult &result : point.results)
    if (const auto value = machine::metric(result, name))
      values.push_back(*value);
  if (values.empty())
    return std::nullopt;
  return machine::estimate(values).mean;
}

std::string label(const Point &point, const Arguments &arguments) {
  const bool sized = point.provision == arguments.provisions.front() &&
                     (point.protocol == "token-b" || point.protocol == "mesi-snoop");
  return sized ? point.protocol : fmt::format("{} {}%", point.protocol, point.provision);
}

// Whether the table can show what was asked for: known before anything runs.
Status check_table(const Arguments &arguments, const std::vector<Point> &points) {
  std::vector<std::string> metrics;
  std::vector<std::string> rows;
  for (const Point &point : points) {
    for (const std::string &name : machine::metric_names(**machine::find_protocol(point.protocol)))
      if (std::ranges::find(metrics, name) == metrics.end())
        metrics.push_back(name);
    if (const std::string row = label(point, arguments); std::ranges::find(rows, row) == rows.end())
      rows.push_back(row);
  }
  if (std::ranges::find(metrics, arguments.metric) == metrics.end())
    return Error{fmt::format("--metric {}: there is no such metric; there are {}", arguments.metric,
                             fmt::join(metrics, ", "))};
  if (!arguments.baseline.empty() && std::ranges::find(rows, arguments.baseline) == rows.end())
    return Error{fmt::format("--baseline {}: there is no such row; there are {}",
                             arguments.baseline, fmt::join(rows, ", "))};
  return Unit{};
}

std::string to_text(const Arguments &arguments, const std::vector<Point> &points,
                    const Terminal &terminal) {
  const std::string baseline =
      arguments.baseline.empty() ? label(points.front(), arguments) : arguments.baseline;
  std::map<std::string, std::map<std::string, double>> values;
  std::vector<std::string> rows;
  for (const Point &point : points) {
    const std::string name = label(point, arguments);
    if (values.find(name) == values.end())
      rows.push_back(name);
    if (const auto mean = mean_of(point, arguments.metric))
      values[name][point.workload] = *mean;
  }
  std::vector<Column> columns = {{arguments.metric, Column::Align::left}};
  for (const std::string &workload : arguments.workloads)
    columns.push_back({workload, Column::Align::right});
  Table table(columns);
  const bool relative = values.find(baseline) != values.end();
  for (const std::string &row : rows) {
    std::vector<TableCell> cells = {row};
    for (const std::string &workload : arguments.workloads) {
      const auto &own = values[row];
      const auto found = own.find(workload);
      if (found == own.end())
        cells.emplace_back("");
      else if (relative && values[baseline][workload] != 0)
        cells.emplace_back(fmt::format("{:.3f}", found->second / values[baseline][workload]));
      else
        cells.emplace_back(shown(found->second));
    }
    table.add(cells);
  }
  return (relative
              ? fmt::format("{} relative to {}\n", printable(arguments.metric), printable(baseline))
              : printable(arguments.metric) + "\n") +
         table.text(terminal);
}

// Sizes of a directory that never filled: all that a table could show of them is the same run.
void say_alike(const std::vector<Point> &points) {
  std::map<std::string, std::vector<std::string>> alike; // by protocol and workload: sizes
  for (const Point &point : points) {
    if (point.results.empty() || (*machine::find_protocol(point.protocol))->bus)
      continue;
    const bool filled = std::ranges::any_of(point.results, [](const machine::RunResult &each) {
      return each.statistics.home.directory_evictions != 0 ||
             each.statistics.home.filter_lookups != 0;
    });
    if (!filled)
      alike[point.protocol + " on " + point.workload].push_back(point.provision + " %");
  }
  for (const auto &[what, sizes] : alike)
    if (sizes.size() > 1)
      fmt::print(stderr,
                 "tandem machine compare: {}: no directory entry was evicted at {}: these sizes "
                 "cannot differ; measure more accesses (--accesses), or smaller sizes\n",
                 printable(what), fmt::join(sizes, ", "));
}

nlohmann::ordered_json comparison_json(const std::vector<Point> &points, bool complete) {
  nlohmann::ordered_json file;
  file["version"] = kResultVersion;
  file["complete"] = complete;
  file["points"] = nlohmann::ordered_json::array();
  for (const Point &point : points) {
    if (point.results.empty())
      continue;
    const auto seeds = static_cast<unsigned>(point.results.size()); // all, or the point has none
    nlohmann::ordered_json one = to_json(point.configuration, point.results, seeds);
    one.erase("version");
    file["points"].push_back({{"protocol", point.protocol},
                              {"workload", point.workload},
                              {"provision_percent", point.provision},
                              {"result", one}});
  }
  return file;
}

// A line for each metric of each seed of each point: for spreadsheets and data frames.
std::string to_csv(const std::vector<Point> &points) {
  std::string text = "protocol,workload,provision_percent,seed,metric,unit,value\n";
  for (const Point &point : points)
    text += csv_metrics(fmt::format("{},{},{}", csv_text(point.protocol), csv_text(point.workload),
                                    point.provision),
                        point.results);
  return text;
}

Result<int> run(Arguments &arguments) {
  if (arguments.protocols.empty())
    for (const machine::ProtocolEntry &protocol : machine::protocols())
      arguments.protocols.push_back(protocol.name);
  if (arguments.workloads.empty())
    for (const machine::Profile &profile : machine::profiles())
      if (profile.family != "kernel")
        arguments.workloads.emplace_back(profile.name);
  Result<std::vector<Point>> points = plan(arguments);
  if (!points)
    return points.error();
  if (Status shown = check_table(arguments, *points); !shown)
    return shown.error();
  std::vector<std::string> inputs = inputs_of(arguments.machine);
  inputs.insert(inputs.end(), arguments.workloads.begin(), arguments.workloads.end());
  if (Status apart = check_outputs({arguments.json, arguments.csv}, inputs); !apart)
    return apart.error();
  for (const Point &point : *points)
    say_unused_rows(point.configuration, **machine::find_protocol(point.protocol),
                    "machine compare");
  const Interrupt interrupt;
  for (Point &point : *points) {
    if (interrupt.asked())
      break;
    Result<std::vector<machine::RunResult>> results =
        simulate(point.configuration, **machine::find_protocol(point.protocol), point.workload,
                 arguments.machine, interrupt);
    if (!results)
      return results.error();
    // What was interrupted compares with nothing.
    if (!interrupt.asked())
      point.results = std::move(*results);
  }
  say_alike(*points);
  if (!arguments.json.empty())
    if (Status written =
            write_file(arguments.json, comparison_json(*points, !interrupt.asked()).dump(2) + "\n");
        !written)
      return written.error();
  if (!arguments.csv.empty())
    if (Status written = write_file(arguments.csv, to_csv(*points)); !written)
      return written.error();
  if (arguments.json != "-" && arguments.csv != "-")
    if (Status written = write_file("-", to_text(arguments, *points, Terminal::of(stdout)));
        !written)
      return written.error();
  return interrupt.asked() ? kInterruptedStatus : 0;
}

} // namespace

int compare_command(int argc, char **argv) {
  Program program("machine compare", "protocols side by side, over directory sizes");
  Arguments arguments;
  arguments.machine.accesses = 2'000'000;
  CLI::App &app = program.app();
  app.add_option("-p,--protocol", arguments.protocols,
                 "the protocols; may be given again (default: all)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("-w,--workload", arguments.workloads,
                 "the workloads; may be given again (default: the ten stand-ins)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--provision", arguments.provisions,
                 "directory sizes in percent of the private blocks; may be given again (default: "
                 "160, 40, 5)")
      ->type_name("PERCENT")
      ->allow_extra_args(false);
  app.add_option("--metric", arguments.metric,
                 "which metric the table shows, by its name in JSON (default: cycles)")
      ->type_name("NAME");
  app.add_option("--baseline", arguments.baseline,
                 "the row that the table is relative to, such as 'token-b' or 'flask 40%' "
                 "(default: the first)")
      ->type_name("ROW");
  declare_machine(program, arguments.machine);
  app.add_option("--csv", arguments.csv,
                 "write every metric of every seed as a line of CSV; - is standard output")
      ->type_name("FILE");
  program.add_json(arguments.json, "write all results as JSON instead of, or beside, the table");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  const Result<int> status = run(arguments);
  return status ? *status : program.fail(status.error());
}

} // namespace tandem::machine_cli
