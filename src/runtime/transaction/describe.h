// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a fatal line says about the calling thread's transaction.
#pragma once

namespace tandem::transaction {

// From now on fatal() ends its line with the section that the thread is in, its place, and the
// transaction's state: `, in the section 'NAME' (FILE:LINE); norec, attempt 3, nesting 1`.
// Transactions without a descriptor are named by the place of their begin.
void describe_in_fatal_lines() noexcept;

} // namespace tandem::transaction
