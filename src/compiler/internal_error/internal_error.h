// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal errors in processes that are not ours: lld, clang and opt, which load our plugins. A
// fault (SIGSEGV and the like), a CHECK that fails, LLVM's fatal error, an uncaught exception:
// whatever it is becomes one line with what was being done (base/doing.h), a file that repeats it,
// and exit status 70 (EX_SOFTWARE of sysexits.h); LLVM's own report, which names LLVM's authors,
// does not appear. An output beyond the process' limit of files ends it with a line and status 1.
//
// Everything here is for one process and its main thread; handlers may run in any thread.
#pragma once

#include <string_view>

namespace tandem {

inline constexpr int kInternalStatus = 70;

// Set by tandem-cc: the path of a file that gets a byte. Programs that clang starts end with status
// 1 then, since clang takes 70 for an error of its own; tandem-cc ends with 70.
inline constexpr const char *kEnvInternalError = "TANDEM_INTERNAL_ERROR";

enum class Reproducer {
  command, // the command line
  bitcode  // the module, which the same command writes where kEnvKeepBitcode says
};

// From now on, to the end of the process. `plugin`: the path of the plugin, which is loaded again
// to repeat the error from bitcode.
void catch_internal_errors(Reproducer kind, std::string_view plugin);
// What opt is to run on the bitcode: "tandem", or with what comes behind it "lto<O2>".
void repeat_with(std::string_view passes);

// In clang most errors are clang's: those outside of OurTurn are left to it. Between
// catch_internal_errors() and these, all are ours.
void only_in_our_turn();
class OurTurn {
public:
  OurTurn() noexcept;
  OurTurn(const OurTurn &) = delete;
  OurTurn &operator=(const OurTurn &) = delete;
  ~OurTurn();
};
// What follows may be our fault, too: the syntax tree has changed.
void always_our_turn() noexcept;

// Set for the second run of a command: the module is to be written there, and the process to end.
inline constexpr const char *kEnvKeepBitcode = "TANDEM_KEEP_BITCODE";

// For tests: TANDEM_PROVOKE=PLACE:WHAT makes provoke(PLACE) fail as WHAT says: segv, overflow,
// check, fatal, abort, exception.
inline constexpr const char *kEnvProvoke = "TANDEM_PROVOKE";
bool is_provoked(std::string_view place, std::string_view what);
void provoke(std::string_view place);

} // namespace tandem
