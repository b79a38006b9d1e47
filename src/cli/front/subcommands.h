// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The subcommands of `tandem`, in git's manner: NAME is the program libexec/tandem-NAME of this
// installation, or else the first tandem-NAME in PATH, so that users add their own.
#pragma once

#include <string>
#include <vector>

namespace tandem {

struct Subcommand {
  std::string name;
  std::string path;
  bool own = false; // of this installation
  bool operator==(const Subcommand &) const = default;
};

// Of this installation and of `path` (as in PATH), by name; where two have the same name, the one
// that runs. The programs beside `tandem` itself (the compilers) are none.
std::vector<Subcommand> find_subcommands(const std::string &path);

// What each program prints for --summary: its first line; empty where it fails, or takes longer
// than a few seconds. All are asked at once.
std::vector<std::string> ask_summaries(const std::vector<Subcommand> &subcommands);

} // namespace tandem
