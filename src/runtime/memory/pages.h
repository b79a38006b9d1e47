// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for the runtime's own structures, straight from the kernel: the program's malloc may be
// instrumented, replaced, or what a transaction is in the middle of.
#pragma once

#include <cstddef>

namespace tandem::memory {

// `bytes` of zeroed memory, page-aligned; null: there is none. Any thread, as all of this.
void *try_pages(std::size_t bytes) noexcept;

// The same, which never returns null: where the kernel has none it comes from a reserve, which
// lasts for the first transactions of some threads; where that is used up the process ends with one
// line that names `purpose`.
void *allocate_pages(std::size_t bytes, const char *purpose) noexcept;

// The same for the log of a transaction: without memory it runs without one
// (transaction/transaction.h). Does not return then.
void *allocate_for_log(std::size_t bytes) noexcept;

// What allocate_for_log does first where there is no memory: it returns where no transaction can
// run without logs. Null: nothing. Set before main.
extern void (*run_without_logs)() noexcept;

// Gives back what one of these returned for `bytes`.
void release_pages(void *start, std::size_t bytes) noexcept;

} // namespace tandem::memory
