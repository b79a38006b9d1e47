// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace tandem {

// Which of the linked files hold machine code instead of bitcode, so that the analysis cannot see into
// them: `foo.o`, `libfoo.a(bar.o)`. Linker scripts, shared libraries and files that are gone are none.
std::vector<std::string> native_inputs(const std::vector<std::string> &inputs);

} // namespace tandem
