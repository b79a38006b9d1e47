// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the plan that concerns the linker.
#pragma once

#include "compiler/driver/plan.h"

#include <string>
#include <vector>

namespace tandem {

struct LinkStep {
  std::vector<std::string> options;   // before the user's
  std::vector<std::string> libraries; // after them
  Environment set;
  std::vector<Check> checks;
};

// `line` links. Error: another linker is asked for, lld is missing, or -r would mix bitcode with
// machine code.
Result<LinkStep> plan_link(const Request &request, const CommandLine &line,
                           const Settings &settings, const Toolchain &toolchain);

// The objects and archives that the command line names, those for the linker (-Wl) and libraries
// among its -L folders and in `library_path` (LIBRARY_PATH) included; shared libraries are not
// among them. "?..." stands for a response file of the linker, which may name more.
std::vector<std::string> link_inputs(const CommandLine &line, const FileView &files,
                                     std::string_view library_path);

} // namespace tandem
