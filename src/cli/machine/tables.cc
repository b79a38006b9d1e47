// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine tables`: what a protocol's tables say, and which rows its proof takes.
#include "base/file.h"
#include "cli/common/program.h"
#include "cli/common/progress.h"
#include "cli/machine/commands.h"
#include "cli/machine/interrupt.h"
#include "cli/machine/provers.h"
#include "machine/simulation/tester.h"

#include <map>

namespace tandem::machine_cli {
namespace {

struct Arguments {
  std::string protocol;
  std::string html;
  bool no_coverage = false;
};

constexpr std::uint64_t kSeeds = 40; // a second or two

// Random tests of the timed system, with the protocol's options as they are and each one changed.
Status test(const std::string &name, machine::TableDocument &document) {
  const Result<const machine::ProtocolEntry *> protocol = machine::find_protocol(name);
  if (!protocol)
    return protocol.error();
  std::vector<std::map<std::string, std::uint64_t>> settings = {{}};
  for (const machine::ProtocolOption &option : (*protocol)->options)
    settings.push_back({{option.name, option.preset ? 0U : 1U}});
  std::uint64_t accesses = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Result<machine::TestResult> result = (*protocol)->test(
        {.seed = seed, .operations = 8'000, .options = settings[seed % settings.size()]});
    if (!result)
      return result.error();
    if (!result->failure.empty())
      return Error{fmt::format("the random test with seed {} fails: {}", seed, result->failure)};
    accesses += result->accesses;
    for (const machine::RowCount &count : result->rows)
      for (machine::TableDocument::Controller &controller : document.controllers)
        if (controller.name == count.controller)
          controller.rows[count.row].tested += count.taken;
  }
  document.tests =
      fmt::format("random tests of the timed system ({} seeds, {} accesses)", kSeeds, accesses);
  return Unit{};
}

Result<int> tables(const Arguments &a) {
  const Result<const machine::Prover *> prover = prover_named(a.protocol);
  if (!prover)
    return prover.error();
  if (Status writable = check_outputs({a.html}, {}); !writable)
    return writable.error();
  machine::TableDocument document = (*prover)->document();
  const Interrupt interrupt;
  if (!a.no_coverage)
    fmt::print(
        stderr,
        "tandem machine tables: counting how often each row is taken: {} searches and random "
        "tests, up to minutes; --no-coverage leaves that out\n",
        (*prover)->proof.size());
  Progress progress(a.protocol, a.no_coverage ? 0 : (*prover)->proof.size());
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
      progress.advance();
    }
  progress.clear();
  if (!a.no_coverage)
    if (Status tested = test(a.protocol, document); !tested)
      return tested.error();
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
