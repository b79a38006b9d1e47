// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads one C source by clang's front end, with the marks of atomic sections as tandem-cc knows
// them. One at a time in a process: the marks' plugin keeps state.
#pragma once

#include "base/result.h"
#include "compiler/rewrite/model.h"

#include <string>
#include <vector>

namespace tandem::rewrite {

struct ParseRequest {
  std::string path;               // of the source
  unsigned number = 0;            // of the source in the program, for keys
  std::vector<std::string> flags; // of the compiler
  std::string clang;              // the compiler's path: its own headers are found from there
  std::string headers;            // the folder of tandem/tandem.h
};

// The source's functions, blocks and calls. What clang says is not printed: the source has been
// compiled before. Error: it is C++, or no such source; or something that is to be edited comes out
// of a macro or stands in a header, with its place.
Result<Source> parse_source(const ParseRequest &request);

} // namespace tandem::rewrite
