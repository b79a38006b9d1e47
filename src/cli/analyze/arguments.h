// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of `tandem analyze`.
#pragma once

#include "cli/common/program.h"

#include <string>
#include <vector>

namespace tandem {

struct Arguments {
  std::vector<std::string> files; // sources, or one report
  std::vector<std::string> flags; // of the compilers
  std::string database;           // compile_commands.json, or its folder
  std::string target;             // of the database's build; empty: all
  std::string points_to = "insensitive";
  std::string catalogue;

  // Files to write; empty: not asked for, "-": standard output.
  std::string json;
  std::string html;
  std::string sarif;
  std::string dot;
  std::string svg;
  std::string suggest;

  std::vector<std::string> profiles; // for `suggest`: files

  std::vector<std::string> suppress; // suppression files
  std::vector<std::string> roots;    // where relative names of sources begin
  std::string baseline;              // a report whose findings are known
  bool show_suppressed = false;
  std::string error_rules; // "" (never), "all", or rules separated by commas

  std::string kinds;
  std::string sort = "place";
  std::string section;
  bool all = false;
};

// Adds the options to `program`; `arguments` gets what its parse() reads, but for the flags.
void declare(Program &program, Arguments &arguments);

// Mistakes that show before any work.
Status check(const Arguments &arguments);

// The files that are read because the command line names them.
std::vector<std::string> inputs_of(const Arguments &arguments);

// The files to write that are asked for.
std::vector<std::string> outputs_of(const Arguments &arguments);

// The arguments with the names of outputs that `target` of a database has: %o in them is its name.
Arguments for_target(Arguments arguments, const std::string &target);

} // namespace tandem
