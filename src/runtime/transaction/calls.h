// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of libraries' functions inside hardware transactions. A program that is linked lazily, as
// it is by default, has each function looked up by the dynamic linker when it is called for the
// first time. That cannot be done in hardware, which gives up without a reason; and software, which
// runs the instrumented code, calls other functions, so that the call would be tried again for
// ever.
#pragma once

namespace tandem::transaction {

// Looks up all that the program and its libraries call. Before main, or when this library is
// loaded: at any other time a thread that loads a library, or a fork, may have the dynamic linker's
// locks, and wait for this one. What is loaded later is left to the dynamic linker, whose choice
// depends on how that was done; its first calls are made by software. Not where an object was
// linked to find its own functions first, nor what only a library that was loaded locally can find.
void look_up_calls() noexcept;

// Whether the program, or a library, has calls that wait in transactions: for real locks
// (library/locks.h), or for a change. One that is alone has to be able to give way, before it has
// come to the first. At the same times, or while a library is loaded by the calling thread.
bool transactions_wait() noexcept;

} // namespace tandem::transaction
