// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// strtok_r and strtok in transactions.
#pragma once

#include "runtime/thread/thread.h"

namespace tandem::library {

// The next token of strtok_r; `rest` is a variable of the program.
char *next_token(char *text, const char *delimiters, char **rest, Thread *thread) noexcept;

// Whether the transaction has begun a text by strtok and not come to its end, so that others may go
// on with it. That takes a transaction that is irrevocable.
bool has_rest(const Thread &thread) noexcept;
// Makes the plain strtok go on there. The thread's transaction is irrevocable.
void hand_rest_over(Thread &thread) noexcept;

} // namespace tandem::library
