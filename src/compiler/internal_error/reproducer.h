// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file that repeats an internal error: a script with the command, its folder and environment,
// and where that is possible the module, as the pass got it, beside it. Written from a signal
// handler: everything that allocates happens before.
#pragma once

#include "compiler/internal_error/internal_error.h"

#include <string_view>

namespace tandem {

// Before anything fails. `plugin` and `passes` as in internal_error.h.
void prepare_reproducer(Reproducer kind, std::string_view plugin);
void set_repeated_passes(std::string_view passes);

// Writes it into TMPDIR, or /tmp. Its path, or null where that cannot be written. Allocates
// nothing.
const char *write_reproducer() noexcept;

} // namespace tandem
