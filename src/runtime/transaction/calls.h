// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of libraries' functions inside hardware transactions. A program that is linked lazily, as
// it is by default, has each function looked up by the dynamic linker when it is called for the
// first time. That cannot be done in hardware, which gives up without a reason; and software, which
// runs the instrumented code, calls other functions, so that the call would be tried again for
// ever.
#pragma once

namespace tandem::transaction {

// Looks up all that the process's programs and libraries call and have not called yet, once, and
// again after libraries were loaded. Not where one was linked to find its own functions first, nor
// what only a library that was loaded locally can find. Any thread, outside of transactions.
void look_up_calls() noexcept;

} // namespace tandem::transaction
