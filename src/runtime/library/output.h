// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Output that waits for the commit, with the arguments as they are at the time of the call. The
// result is what it would be if all went well: who needs to know does not put output off.
#pragma once

#include "runtime/library/deferred.h"

namespace tandem::library {

// Whether `work` writes put-off output.
bool is_output(Work work) noexcept;

} // namespace tandem::library
