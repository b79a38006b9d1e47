// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that wait for others by more than locks and joins: what these have done before is often
// over then, and only barriers are followed. So are those that take a lock of the program's own.
#pragma once

#include "compiler/findings/lock_contexts.h"

#include <cstdint>
#include <set>

namespace tandem {

// Their entries.
std::set<std::uint32_t> waiting_threads(const LockContexts &contexts);

} // namespace tandem
