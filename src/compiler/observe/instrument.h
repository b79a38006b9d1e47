// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instrumentation: every access, allocation and release of the program, and every call from inside
// a section, tells the recorder (src/runtime/observe); but not in resolvers of IFUNCs and what they
// call, which run before the recorder is linked. Nothing else of the program changes, but the
// alignment of its variables: no two lie in one 8-byte word.
#pragma once

#include "compiler/observe/tables.h"

namespace tandem {

// `observation` is of this module, which has not changed since.
void instrument_observation(llvm::Module &module, const std::vector<Section> &sections,
                            Observation observation);

} // namespace tandem
