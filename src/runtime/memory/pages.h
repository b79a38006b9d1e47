// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for the runtime's own structures, straight from the kernel: the program's malloc may be
// instrumented, replaced, or what a transaction is in the middle of.
#pragma once

#include <cstddef>

namespace tandem::memory {

// `bytes` of zeroed memory, page-aligned. Never returns null: where there is none the process ends
// with one line that names `purpose`. Any thread.
void *allocate_pages(std::size_t bytes, const char *purpose) noexcept;

// Gives back what allocate_pages(bytes) returned.
void release_pages(void *start, std::size_t bytes) noexcept;

} // namespace tandem::memory
