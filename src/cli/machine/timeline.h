// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A timeline as one page of HTML that needs nothing else: harts over time, and the lines of memory
// that they waited for most.
#pragma once

#include "machine/platform/elf.h"
#include "machine/timing/timeline.h"

#include <string>

namespace tandem::machine_cli {

// `title` is any text. Names of code and data are those of `symbols`.
std::string timeline_page(const machine::Timeline &timeline, const machine::Symbols &symbols,
                          const std::string &title);

} // namespace tandem::machine_cli
