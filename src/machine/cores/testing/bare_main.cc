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
  std::string program;
  std::string way = "auto";
  unsigned harts = 1;
  std::uint64_t limit = 100'000'000;
  bool count = false;
  bool signature = false;
  app.add_option("--way", way)->check(CLI::IsMember({"auto", "user", "supervisor", "machine"}));
  app.add_option("--harts", harts)->check(CLI::Range(1, 64));
  app.add_option("--limit", limit, "instructions");
  app.add_flag("--count", count, "instructions and seconds of processor time on standard error");
  app.add_flag("--signature", signature, "the words that the test leaves, on standard output");
  app.add_option("program", program)->required();
  CLI11_PARSE(app, argc, argv);

  const auto refuse = [](const tandem::Error &error) {
    std::fprintf(stderr, "machine_bare: %s\n", error.message.c_str());
    return tandem::kUsageStatus;
  };
  auto options = testing::BareMachine::options_for(program);
  if (!options)
    return refuse(options.error());
  if (way == "user")
    *options = {.way = testing::Way::user, .memory_base = 0x10000};
  if (way == "supervisor" || way == "machine")
    *options = {.way = way == "machine" ? testing::Way::machine : testing::Way::supervisor};
  options->harts = harts;
  auto machine = testing::BareMachine::create(*options);
  if (!machine)
    return refuse(machine.error());
  if (const tandem::Status loaded = (*machine)->load(program); !loaded)
    return refuse(loaded.error());

  const std::clock_t begin = std::clock();
  const auto status = (*machine)->run(limit);
  const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  const std::string output =
      signature ? (*machine)->signature() : std::string((*machine)->output());
  std::fwrite(output.data(), 1, output.size(), stdout);
  if (count)
    std::fprintf(stderr, "%llu %.6f\n",
                 static_cast<unsigned long long>((*machine)->cores().schedule().instructions),
                 seconds);
  return status.value_or(124);
}
