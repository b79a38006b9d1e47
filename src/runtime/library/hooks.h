// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What transactions and clone tables ask of the transactional versions of library functions.
#pragma once

#include "runtime/thread/thread.h"

#include <atomic>

namespace tandem::library {

// The outermost transaction is about to commit: adds what its commutative counters have gathered,
// becomes irrevocable where strtok leaves a rest. May begin it again.
void before_commit(Thread &thread) noexcept;

// The transaction cannot be undone any more: does what waited for that.
void became_irrevocable(Thread &thread) noexcept;

// Whether some transaction has asked for a real lock: then one that is alone must be able to give
// way to the lock's holder, so it keeps an undo log although the program never cancels it.
extern std::atomic<bool> locks_used;

// The transactional version of a function of the C library; null if it has none.
void *twin_of(void *original) noexcept;

} // namespace tandem::library
