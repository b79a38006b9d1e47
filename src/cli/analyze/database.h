// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is compiled, and how: from the command line, or from a compilation database
// (compile_commands.json, as CMake, Meson and Bear write it).
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// One source file to be compiled.
struct CompileUnit {
  std::string source;             // as the user, or the database, names it
  bool cxx = false;               // by the C++ compiler
  std::string folder;             // where the compiler runs, absolute; empty: where we do
  std::vector<std::string> flags; // without the compiler, the source and what chooses the output
};

// The units of the database `path`, or of the file compile_commands.json in the folder `path`: its
// C and C++ files, each once (the first entry counts), or only those of `sources`. Entries for
// other languages are left out. Errors: `path: ...`: cannot be read; no JSON, with line and column;
// an entry that is none, by its JSON pointer; no C or C++ file in it; `source: not in path`.
Result<std::vector<CompileUnit>> load_database(const std::string &path,
                                               const std::vector<std::string> &sources);

// A command line as a POSIX shell splits it: quotes and backslashes, no variables. An open quote
// ends with the text.
std::vector<std::string> split_command(std::string_view text);

} // namespace tandem
