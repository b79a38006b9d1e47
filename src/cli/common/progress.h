// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A progress bar on standard error, drawn only where that is a terminal, and gone when the work is
// done. For one thread.
#pragma once

#include "cli/common/terminal.h"

#include <string>

namespace tandem {

class Progress {
public:
  // `label` says what is being done ("compiling"); `total` steps, 0 where their number is not
  // known.
  Progress(std::string label, std::size_t total);
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  // One more step is done.
  void advance();
  // Removes the bar, so that something else can be printed; the next advance() draws it again.
  void clear();

private:
  void draw();

  Terminal terminal_;
  std::string label_;
  std::size_t total_;
  std::size_t done_ = 0;
  bool drawn_ = false;
};

} // namespace tandem
