// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files of a link as far as the merged module does not show them.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace tandem {

struct LinkInputs {
  // Machine code instead of bitcode, into which the analysis cannot see: `foo.o`,
  // `libfoo.a(bar.o)`.
  std::vector<std::string> native;
  // Symbols that machine code uses, and those that it defines in objects which are linked in any
  // case: not in members of archives.
  std::set<std::string> native_uses;
  std::set<std::string> native_definitions;
  // Whether all is known: no linker script or response file names more.
  bool complete = true;
  // Whether a linker script defines symbols.
  bool script_defines = false;
  // Bitcode for thin LTO: lld compiles each such file by itself and shows the pass none of them.
  std::vector<std::string> thin;
};

// Looks into the linked files. Linker scripts, shared libraries and files that are gone are
// skipped: lld says what is wrong with those.
LinkInputs inspect_link_inputs(const std::vector<std::string> &paths);

} // namespace tandem
