// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine`: the simulated multicore. The first word says what to do with it.
#include "cli/common/program.h"
#include "cli/common/suggest.h"
#include "cli/machine/commands.h"

#include <fmt/format.h>

namespace tandem::machine_cli {
namespace {

struct Word {
  const char *name;
  int (*command)(int, char **);
  const char *about;
};

constexpr Word kWords[] = {
    {"exec", exec_command, "run an RV64 Linux program, or a bare one, on simulated harts"},
    {"boot", boot_command, "boot a kernel, Linux by default, to a shell in the terminal"},
    {"image", image_command, "build what boot runs by default from Debian's packages"},
    {"list", list_command, "protocols, configurations and workloads"},
    {"run", run_command, "simulate a protocol under a workload: time, traffic, energy"},
    {"compare", compare_command, "all protocols at several directory sizes, as one table"},
    {"check", check_command, "prove a protocol by searching all states, or show what goes wrong"},
    {"filter", filter_command, "a presence filter alone: bits, false positives"},
    {"tables", tables_command, "print a protocol's states, events and transitions"},
    {"test", test_command, "random tester: random machines and scripts, every value checked"},
    {"trace", trace_command, "write synthetic traffic as a trace"},
};

int unknown(const Program &program, const std::string &word) {
  std::vector<std::string> names;
  std::string all;
  for (const Word &known : kWords) {
    names.emplace_back(known.name);
    all += fmt::format("{}{}", all.empty() ? "" : ", ", known.name);
  }
  const std::string close = nearest(word, names);
  return program.fail(
      Error{fmt::format("'{}' is not one of {}{}", word, all,
                        close.empty() ? "" : fmt::format("; did you mean '{}'?", close))});
}

} // namespace
} // namespace tandem::machine_cli

int main(int argc, char **argv) {
  using namespace tandem::machine_cli;
  if (argc > 1 && argv[1][0] != '-')
    for (const Word &word : kWords)
      if (std::string_view(argv[1]) == word.name)
        return word.command(argc - 1, argv + 1);
  tandem::Program program("machine",
                          "a simulated multicore: RV64 harts that boot Linux, coherence protocols");
  std::string word;
  program.app().add_option("WORD", word, "what to do")->required();
  std::string epilogue = "Words:\n";
  for (const Word &known : kWords)
    epilogue += fmt::format("  {:<9} {}\n", known.name, known.about);
  program.set_epilogue(epilogue + "Each has its own --help.");
  program.add_usage("WORD [OPTIONS]");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  return unknown(program, word);
}
