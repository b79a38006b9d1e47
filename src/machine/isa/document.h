// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction set as a page of documentation and as data, from the tables.
#pragma once

#include <string>

namespace tandem::machine {

// docs/machine/instructions.md.
std::string instruction_page();

} // namespace tandem::machine
