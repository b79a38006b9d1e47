// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of lock regions into atomic sections. Afterwards the module has atomic blocks where
// converted locks were, and nothing that comes later knows the difference.
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/convert/waits.h"
#include "compiler/options/options.h"

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace tandem {

// What became of one section of the conversion file.
struct ConvertedLock {
  std::string lock;   // as the file names the first
  std::string reason; // as in the file
  std::size_t acquisitions = 0;
  std::size_t tries = 0;
  std::size_t releases = 0;
};

struct Conversion {
  bool changed = false;
  std::vector<ConvertedLock> locks;
  std::vector<std::string> inlined; // functions that were put into their callers
  std::vector<ConditionOperation> conditions;
  std::size_t sections = 0;
  std::size_t counted = 0;  // sections that count their locks while they run
  std::size_t merged = 0;   // acquisitions that lie in another lock's section
  bool holds = false;       // the module calls functions of held.c or sleepers.c
  bool keeps_locks = false; // finish_own_locks() is to be called behind the enforcement
  // Why locks stay locks that the file makes sections: a sentence each.
  std::vector<std::string> kept;
  // What of the file should be changed, a line each with its place.
  std::vector<std::string> warnings;
};

// Converts what options.convert says, where it is about options.link_output. Error: the user's
// mistake, or why a lock cannot be converted, with its place; the module may be half-changed then
// and must not be used. Where the file says so (refused-stay-locks) such a lock stays a lock, and a
// mistake is an error only if it is not about one.
// `keep_locks`: sections are to be run under the program's own locks too, where that is possible.
Result<Conversion> convert_locks(llvm::Module &module, const PassOptions &options,
                                 const Catalogue &catalogue, bool keep_locks);

} // namespace tandem
