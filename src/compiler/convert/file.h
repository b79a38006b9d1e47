// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion files: which locks of a program become atomic sections and which stay real
// (docs/convert.md).
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

struct ConversionFile {
  // Locks that belong together because the program does not tell them apart: one global lock, an
  // array of locks, a field of a struct.
  struct Locks {
    std::vector<std::string> names;
    std::string reason;
    bool guarded_by = false; // a section: what these guard, no section touches without them
    bool as_word = false;    // a section: only acquiring and releasing them are sections (words.h)
    unsigned line = 0;       // in the file
  };
  // A function that returns with no converted lock of its own held, although its text does not show
  // it. Checked while the program runs.
  struct Balanced {
    std::string function;
    std::string reason;
    bool waits_outside = false; // nor with one where it waits itself
    unsigned line = 0;
  };

  // Regions that begin in a function and keep their lock, of one that is a section elsewhere: as
  // long as such a region runs no section of the lock does.
  struct LockRegion {
    std::string function;
    std::string lock; // as a [[section]] names it
    std::string reason;
    // No section acquires the lock behind another one, although the text does not show it.
    bool outermost = false;
    unsigned line = 0;
  };

  std::string path;
  std::vector<std::string> programs; // file names of outputs that it is about; empty: every output
  std::vector<Locks> sections;
  std::vector<Locks> kept_locks;
  std::vector<Balanced> balanced;
  std::vector<LockRegion> lock_regions;
  // What of the file is read, and should be changed: a line each, as errors are.
  std::vector<std::string> warnings;
  // What the compiler refuses of `sections` stays a lock, and it says so; else the link fails.
  bool refused_stay_locks = false;

  // Makes the section a lock that stays which `refusal` names in quotes, else all. False: there is
  // none.
  bool keep_lock(std::string_view refusal);

  // Whether it is about the output at `path`.
  [[nodiscard]] bool applies_to(std::string_view path) const;
};

// Error: `file:line:column: ...`, or why the file cannot be read.
Result<ConversionFile> read_conversion(const std::string &path);

// Whether `name`, as a conversion file has it, names the lock that the analysis prints as `path`:
// the same text, or its last fields (`thread.stats.mutex` is `c->thread->stats.mutex`).
bool names_lock(std::string_view name, std::string_view path);

} // namespace tandem
