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
  std::string output = {};        // the object that the build makes, absolute; empty: not known
};

// The file that `path` means: itself, or compile_commands.json in it.
std::string database_file(const std::string &path);

// The units of the database `path`, or of the file compile_commands.json in the folder `path`: its
// C and C++ files, each once for each object that is made of it. Entries for other languages are
// left out. Errors: `path: ...`: cannot be read; no JSON, with line and column; an entry that is
// none, by its JSON pointer; no C or C++ file in it.
Result<std::vector<CompileUnit>> read_database(const std::string &path);

// The first unit of each file of `all`, which is from the database `path`; or only those of
// `sources`, in their order. Error: `source: not in path`.
Result<std::vector<CompileUnit>> first_of_each_file(const std::string &path,
                                                    std::vector<CompileUnit> all,
                                                    const std::vector<std::string> &sources);

// A command line as a POSIX shell splits it: quotes and backslashes, no variables. An open quote
// ends with the text.
std::vector<std::string> split_command(std::string_view text);

} // namespace tandem
