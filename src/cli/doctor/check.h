// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `tandem doctor` looks at, and what it found there.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

enum class CheckStatus {
  ok,
  note,   // works, but less than it could, or only a part of Tandem needs it
  failed, // what most of Tandem needs does not work
};
std::string_view to_string(CheckStatus status); // "ok", "note", "failed"

struct DoctorCheck {
  std::string name; // what was looked at, in few words; the same in every version
  CheckStatus status = CheckStatus::ok;
  std::string found;
  std::string remedy = {}; // empty where nothing need be done
};

// The machine: processor, C library, tools of LLVM, our own files, and whether a program can be
// compiled, linked and run. Error: no temporary folder can be made.
Result<std::vector<DoctorCheck>> check_machine();

// A project's folder: its compilation database, what CMake was configured with, and options of
// compilers that Tandem refuses. Error: the folder, or a file in it, cannot be read.
Result<std::vector<DoctorCheck>> check_project(const std::string &folder);

} // namespace tandem
