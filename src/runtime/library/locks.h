// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Real locks inside transactions. A transaction takes the lock itself and keeps it to its end, also
// where the program unlocks it earlier: until then what the transaction wrote is not in memory, or
// may be undone. So code that holds the lock outside of transactions is excluded as it expects.
//
//     lock      try; busy: undo the transaction, wait for the lock outside of it, run it again
//     trylock   try; busy: says so
//     unlock    at commit
//     abort     locks that the transaction took are released, locks that it had are still held
//
// A transaction never waits for a lock while it holds another one, or anything else, so it is in no
// cycle of waiting. One that is irrevocable cannot give way: it waits, serially. Where the lock's
// holder then begins a transaction, both wait for ever; that is found out and ends the process.
//
// Not a subscription to the lock's word (as hardware elision has it): the software algorithms would
// not see a plain store to it.
#pragma once

#include "runtime/library/deferred.h"

namespace tandem::library {

// Whether `work` releases a lock whose unlocking was put off.
bool is_release(Work work) noexcept;

} // namespace tandem::library
