// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a transaction does when another one holds what it needs: it asks the contention policy
// (src/contention), and waits, restarts, or makes the other one restart.
#pragma once

#include "runtime/thread/thread.h"

#include <cstddef>
#include <cstdint>

namespace tandem::conflict {

// Returns when `orec` no longer is `word`, by which `holder` has it; restarts the calling
// transaction where the policy, or a transaction that is to be serial, says so. `attempts`: how
// often the policy has already said to wait; counts on.
void meet(Thread &thread, Thread &holder, const Orec &orec, std::uint64_t word, bool writing,
          std::uint32_t &attempts) noexcept;

// Before all `reads` of the attempt are looked at again since somebody has committed. False: it has
// spent more on that than on anything else, as long transactions beside short ones do, and is to
// restart: then it runs serially, unless the user has said that none does.
bool may_look_again(Thread &thread, std::size_t reads) noexcept;

} // namespace tandem::conflict
