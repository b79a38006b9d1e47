// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a build links: its programs and libraries, from the link commands that CMake's generators
// and Meson leave in the build folder (build.ninja, CMakeFiles/*.dir/link.txt).
#pragma once

#include "cli/analyze/database.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tandem {

// A program or a library. Numbers are indices of the database's units.
struct BuildTarget {
  std::string name;                  // the file's, without its folder where no other has that name
  std::vector<std::size_t> units;    // linked whatever they define
  std::vector<std::size_t> archived; // in static libraries: linked where something needs them
  bool used = false;                 // a static library that another target has
};

// The targets of the build in `folder` that have a unit of `units`, by name; none where no link
// command is found there. Programs, shared libraries, and all static libraries. Error: a file of
// link commands that cannot be read.
Result<std::vector<BuildTarget>> find_targets(const std::string &folder,
                                              const std::vector<CompileUnit> &units);

// Which of `targets` are answered: the one that is called `name` (the file, or what of it CMake's
// target is called), else all that no other has. Error: no target, or several, have that name.
Result<std::vector<BuildTarget>> choose_targets(std::vector<BuildTarget> targets,
                                                const std::string &name);

} // namespace tandem
