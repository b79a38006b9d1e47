// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem report`: what a profiled run did in its atomic sections.
#include "base/file.h"
#include "cli/common/program.h"
#include "cli/report/tables.h"

namespace tandem {
namespace {

struct Arguments {
  std::string file;
  std::string html;
  bool all = false;
};

Status run(const Arguments &arguments) {
  if (Status apart = check_outputs({arguments.html}, {arguments.file}); !apart)
    return apart;
  const Result<std::string> text = read_file(arguments.file);
  if (!text)
    return text.error();
  const Result<Profile> profile = profile_from_json(*text, arguments.file);
  if (!profile)
    return profile.error();
  if (!arguments.html.empty())
    if (Status written = write_file(arguments.html, profile_html(*profile)); !written)
      return written;
  if (arguments.html == "-")
    return Unit{};
  return write_file("-", profile_text(*profile, Terminal::of(stdout), arguments.all));
}

} // namespace
} // namespace tandem

int main(int argc, char **argv) {
  tandem::Arguments arguments;
  tandem::Program program("report", "why atomic sections aborted, waited and ran serially");
  program.app()
      .add_option("PROFILE", arguments.file,
                  "what a program wrote that ran with TANDEM_PROFILE or TANDEM_LOCK_PROFILE")
      ->type_name("PROFILE")
      ->required();
  program.app()
      .add_option("--html", arguments.html,
                  "write a page with the tables and pictures; -: to "
                  "standard output")
      ->type_name("FILE");
  program.add_flag("--all", arguments.all, "cut no table");
  program.set_epilogue("Example:\n"
                       "  TANDEM_PROFILE=bank.json ./bank && tandem report bank.json");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  const tandem::Status done = tandem::run(arguments);
  return done ? 0 : program.fail(done.error());
}
