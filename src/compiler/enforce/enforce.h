// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enforcement: makes the marked functions, blocks and lambdas of a module atomic. Lock regions keep
// their locks.
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/enforce/descriptors.h"
#include "compiler/options/options.h"
#include "compiler/sections/section.h"

#include <vector>

namespace tandem {

// Transforms `module` so that the sections among `sections` that are no lock regions run atomically
// under `mode`, which is none, global_lock or stm. `report` describes the same sections in the same
// order. Result: whether the module changed. Error: a section that `mode` cannot enforce; the
// module is half-changed then and must not be used.
Result<bool> enforce(llvm::Module &module, std::vector<Section> sections, const Report &report,
                     Enforcement mode, const Catalogue &catalogue);

// One process-wide lock around every section, held until the outermost one is left, also by an
// exception. Blocks stay where they are: the calls take the place of their markers. They are
// _TANDEM_inline_global_lock_enter and _leave, which the runtime's bitcode defines.
void enforce_by_global_lock(const std::vector<Section> &sections, Descriptors &descriptors);

// Every section is a transaction of libitm's ABI. The function becomes a wrapper that begins, runs
// the plain body or its transactional clone as the runtime decides, and commits, also when an
// exception leaves it. A restart runs the body from its start in a fresh frame with the wrapper's
// arguments, which no one changes: so it finds every local as it was at begin, whatever the
// optimiser does.
void enforce_by_stm(llvm::Module &module, const std::vector<Section> &sections,
                    const Report &report, const Catalogue &catalogue);

} // namespace tandem
