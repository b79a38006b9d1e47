// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem doctor`: what of a machine and of a project's set-up will not work, and the remedy.
#include "base/file.h"
#include "cli/common/program.h"
#include "cli/common/table.h"
#include "cli/doctor/check.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace tandem {
namespace {

constexpr int kFormatVersion = 1;
constexpr int kFailedStatus = 1;

struct Arguments {
  std::vector<std::string> projects;
  std::string json;
};

std::string to_text(const std::vector<DoctorCheck> &checks) {
  Table table({{.header = "CHECK"},
               {.header = "STATUS"},
               {.header = "FOUND", .least = 24, .cut = Cut::end}});
  for (const DoctorCheck &check : checks)
    table.add({check.name,
               TableCell(std::string(to_string(check.status)),
                         check.status == CheckStatus::failed ? Colour::red : Colour::plain),
               check.found});
  std::string text = table.text(Terminal::of(stdout));
  for (const DoctorCheck &check : checks)
    if (!check.remedy.empty())
      text += fmt::format("{}: {}\n", printable(check.name), printable(check.remedy));
  return text;
}

std::string to_json(const std::vector<DoctorCheck> &checks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DoctorCheck &check : checks) {
    nlohmann::ordered_json entry = {
        {"name", check.name}, {"status", to_string(check.status)}, {"found", check.found}};
    if (!check.remedy.empty())
      entry["remedy"] = check.remedy;
    list.push_back(std::move(entry));
  }
  const nlohmann::ordered_json all = {{"version", kFormatVersion}, {"checks", std::move(list)}};
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<bool> run(const Arguments &arguments) {
  if (!arguments.json.empty())
    if (Status writable = check_writable(arguments.json); !writable)
      return writable.error();
  std::vector<DoctorCheck> checks;
  for (const std::string &project : arguments.projects) {
    Result<std::vector<DoctorCheck>> found = check_project(project);
    if (!found)
      return found.error();
    std::move(found->begin(), found->end(), std::back_inserter(checks));
  }
  Result<std::vector<DoctorCheck>> machine = check_machine();
  if (!machine)
    return machine.error();
  checks.insert(checks.begin(), machine->begin(), machine->end());
  if (!arguments.json.empty())
    if (Status written = write_file(arguments.json, to_json(checks)); !written)
      return written.error();
  if (arguments.json != "-")
    if (Status written = write_file("-", to_text(checks)); !written)
      return written.error();
  return std::none_of(checks.begin(), checks.end(),
                      [](const DoctorCheck &check) { return check.status == CheckStatus::failed; });
}

} // namespace
} // namespace tandem

int main(int argc, char **argv) {
  tandem::Arguments arguments;
  tandem::Program program("doctor", "what of this machine and of a project will not work, and why");
  program.app()
      .add_option("PROJECT", arguments.projects,
                  "folders of projects, or their build folders: compile_commands.json and "
                  "CMakeCache.txt are looked at")
      ->type_name("FOLDER");
  program.add_json(arguments.json, "write the checks as JSON");
  program.set_epilogue("Exit status: 0; 1 where a check failed; 2 for a mistake.\n\n"
                       "Examples:\n"
                       "  tandem doctor\n"
                       "  tandem doctor build --json doctor.json");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  const tandem::Result<bool> good = tandem::run(arguments);
  if (!good)
    return program.fail(good.error());
  return *good ? 0 : tandem::kFailedStatus;
}
