// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boots a kernel on a machine that makes a mistake with transactions: what a kernel's own tests are
// to find. The console goes to standard output.
//
//   mistaken_boot MISTAKE KERNEL INITRD HARTS LIMIT ARGUMENTS
//
// Status: the guest's; 1 where it did not end by itself; 2 where it could not start.
#include "machine/htm/transactional_memory.h"
#include "machine/platform/boot.h"
#include "machine/run/console.h"
#include "machine/run/outcome.h"

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>

namespace tandem::machine {
namespace {

constexpr std::uint64_t kInstructions = 5'000'000'000; // a boot with the tests takes 0.3 G

using Mistake = TransactionalMemory::Mistake;
const std::map<std::string, Mistake> kMistakes = {
    {"none", Mistake::none},
    {"release-above", Mistake::release_above},
    {"keep-status", Mistake::keep_status},
    {"keep-translations", Mistake::keep_translations}};

Result<int> boot(char **words) {
  const auto mistake = kMistakes.find(words[1]);
  if (mistake == kMistakes.end())
    return Error{fmt::format("there is no mistake '{}'", words[1])};
  Result<std::unique_ptr<Board>> board =
      Board::make({.harts = static_cast<unsigned>(std::stoul(words[4]))});
  if (!board)
    return board.error();
  Result<Symbols> symbols =
      load_kernel(**board, {.kernel = words[2],
                            .initrd = words[3],
                            .arguments = fmt::format("console=ttyS0 earlycon=sbi {}", words[6])});
  if (!symbols)
    return symbols.error();
  for (auto &hart : (*board)->harts())
    hart->state().stxlimit = std::stoul(words[5]);
  (*board)->harts().transactions().make(mistake->second);
  const std::atomic<bool> never = false;
  Session session(**board, never);
  Console console(STDOUT_FILENO);
  (*board)->show(&console);
  console.watch("Kernel panic - not syncing: ", [&session] { session.stop(); });
  session.after_slice([&console] { console.flush(); });
  const Session::Stop stop = session.run(kInstructions);
  console.flush();
  if (stop != Session::Stop::ended)
    return 1;
  return outcome_of(**board, *symbols, {.stop = stop}).status;
}

} // namespace
} // namespace tandem::machine

int main(int argc, char **argv) {
  if (argc != 7) {
    fmt::print(stderr, "usage: mistaken_boot MISTAKE KERNEL INITRD HARTS LIMIT ARGUMENTS\n");
    return 2;
  }
  const tandem::Result<int> status = tandem::machine::boot(argv);
  if (!status) {
    fmt::print(stderr, "mistaken_boot: {}\n", status.error().message);
    return 2;
  }
  return *status;
}
