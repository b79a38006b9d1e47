// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine tables`: what a protocol's tables say, and which rows its proof takes.
#include "base/file.h"
#include "cli/common/program.h"
#include "cli/machine/commands.h"
#include "cli/machine/interrupt.h"
#include "cli/machine/provers.h"

namespace tandem::machine_cli {
namespace {

struct Arguments {
  std::string protocol;
  std::string html;
  bool no_coverage = false;
};

Result<int> tables(const Arguments &a) {
  const Result<const machine::Prover *> prover = prover_named(a.protocol);
  if (!prover)
    return prover.error();
  if (!a.html.empty())
    if (Status writable = check_writable(a.html); !writable)
      return writable.error();
  machine::TableDocument document = (*prover)->document();
  const Interrupt interrupt;
  if (!a.no_coverage)
    for (const machine::Case &c : (*prover)->proof) {
      machine::checker::Options options = c.options;
      options.liveness = false;
      options.stop = &interrupt.flag();
      const machine::checker::Result r = (*prover)->check(options, c.set);
      if (interrupt.asked())
        return kInterruptedStatus;
      (*prover)->cover(document, r);
      document.proofs.push_back(fmt::format("{}: {} states", c.name, r.states));
    }
  const Status written = a.html.empty() ? write_file("-", machine::text(document))
                                        : write_file(a.html, machine::html(document));
  if (!written)
    return written.error();
  return 0;
}

} // namespace

int tables_command(int argc, char **argv) {
  Program program("machine tables", "print the tables of a protocol: states, events, transitions");
  Arguments arguments;
  program.app()
      .add_option("PROTOCOL", arguments.protocol, "its name, see tandem machine list")
      ->required();
  program.app()
      .add_option("--html", arguments.html,
                  "one HTML page instead of text, into FILE or to standard output")
      ->type_name("[FILE]")
      ->expected(0, 1)
      ->default_str("-");
  program.add_flag("--no-coverage", arguments.no_coverage,
                   "do not run the proof to count how often each row is taken");
  program.set_epilogue("Examples:\n"
                       "  tandem machine tables flask --html flask.html\n"
                       "  tandem machine tables mesi-snoop --no-coverage");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  if (program.app().count("--html") != 0 && arguments.html.empty())
    arguments.html = "-";
  const Result<int> status = tables(arguments);
  return status ? *status : program.fail(status.error());
}

} // namespace tandem::machine_cli
