// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one ELF on the machine for tests (bare.h) and exits with its status; what it wrote goes to
// standard output. Status 2: bad usage or file; 124: it did not end within the limit.
#include "machine/cores/testing/bare.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>

using namespace tandem::machine;

int main(int argc, char **argv) {
  CLI::App app{"runs an ELF on harts without a platform"};
  testing::BareOptions options;
  std::string program;
  std::string way = "supervisor";
  std::uint64_t limit = 100'000'000;
  bool count = false;
  app.add_option("--way", way)->check(CLI::IsMember({"user", "supervisor", "machine"}));
  app.add_option("--harts", options.harts)->check(CLI::Range(1, 64));
  app.add_option("--limit", limit, "instructions");
  app.add_flag("--count", count, "instructions and seconds of processor time on standard error");
  app.add_option("program", program)->required();
  CLI11_PARSE(app, argc, argv);
  if (way == "user")
    options = {.way = testing::Way::user, .memory_base = 0x10000};
  if (way == "machine")
    options.way = testing::Way::machine;
  auto machine = testing::BareMachine::create(options);
  const tandem::Status loaded = machine ? (*machine)->load(program) : machine.error();
  if (!loaded) {
    std::fprintf(stderr, "machine_bare: %s\n", loaded.error().message.c_str());
    return tandem::kUsageStatus;
  }
  const std::clock_t begin = std::clock();
  const auto status = (*machine)->run(limit);
  const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  std::fwrite((*machine)->output().data(), 1, (*machine)->output().size(), stdout);
  if (count)
    std::fprintf(stderr, "%llu %.6f\n",
                 static_cast<unsigned long long>((*machine)->cores().schedule().instructions),
                 seconds);
  return status.value_or(124);
}
