// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan: from a command line and an environment to the one program to run, its arguments and
// environment, and what must be checked before anything starts. Planning changes nothing and runs
// nothing.
#pragma once

#include "compiler/driver/command_line.h"
#include "compiler/driver/settings.h"
#include "compiler/driver/toolchain.h"

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// What this program is, by the name it was called by.
enum class Tool { cc, cxx, ar, ranlib, nm };

// "tandem-c++", "/usr/bin/tandem-ar", ...; every other name is a C compiler, or a C++ compiler
// where it ends in "++".
Tool tool_of(std::string_view program);

// "tandem-cc", ... for messages.
std::string_view to_string(Tool tool);

struct Request {
  Tool tool = Tool::cc;
  std::vector<std::string> words; // the command line without the program, response files expanded
  Environment environment;
  Installation installation;
  FileView files;
  std::string folder; // the working folder, absolute
};

// Something to find out before the program starts.
struct Check {
  enum class Kind { writable, catalogue, conversion, present };
  Kind kind = Kind::writable;
  std::string path;
  std::string remedy; // follows a semicolon in the message
  bool operator==(const Check &) const = default;
};

struct Plan {
  std::string program; // absolute path
  std::vector<std::string> arguments;
  Environment set; // variables to set
  std::vector<Check> checks;
  std::vector<std::string> inputs; // that are read, so that nothing may be written to them
  std::string prologue;            // printed before the program runs
  std::string epilogue;            // printed after it succeeded
  std::string note;                // the same, on standard error
};

// Error: the user's mistake, one line.
Result<Plan> make_plan(const Request &request);

// The first check of the plan that fails.
Status run_checks(const Plan &plan);

} // namespace tandem
