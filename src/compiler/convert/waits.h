// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waiting for conditions with converted locks. A wait becomes what POSIX says that it does, in
// three steps, so that what follows in the conversion sees a release and an acquisition:
//
//     r := pthread_cond_wait(c, m)    t := ticket; unlock(m); r := sleep(c, t); lock(m)
//
// The section ends at the release, with its effects, the thread sleeps in no section, and another
// section begins when it wakes. sleepers.c has the sleep, and why no wake-up is lost; every signal
// of the program that may be for a condition that is slept for is told to it.
#pragma once

#include "base/result.h"
#include "compiler/convert/file.h"
#include "compiler/convert/sites.h"
#include "compiler/points_to/points_to.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/IR/Module.h"

#include <set>
#include <string>
#include <vector>

namespace tandem {

// A wait that ends its section, or a signal that the library is not asked for any more.
struct ConditionOperation {
  std::string file;
  unsigned line = 0;
  std::string function;
  std::string condition; // access paths
  std::string lock;      // empty: a signal
};

// Rewrites every wait of the library of POSIX with a lock that the file converts. Error: the user's
// mistake, or a wait that cannot be, with its place. `known`: as of NamedLocks::match().
Result<std::vector<ConditionOperation>>
convert_waits(llvm::Module &module, const ConversionFile &file, const std::set<std::string> &known);

// Behind convert_waits(): makes every signal wake those who sleep, and only those where nobody
// waits really. Error: code outside the program may signal, or wait for, a condition that is slept
// for; or a section that the program marks may sleep.
Result<std::vector<ConditionOperation>>
convert_signals(llvm::Module &module, const LockCalls &calls, const PointsToAnalysis &points_to);

// The call of a sleep that `instruction` is; else null.
const llvm::CallBase *sleep_at(const llvm::Instruction &instruction);

// Whether the module calls functions of sleepers.c.
bool has_sleepers(const llvm::Module &module);

// "with 'm' for 'c'", of a sleep.
std::string describe_wait(const llvm::CallBase &sleep);
// The lock that the wait gives up.
std::string lock_of_wait(const llvm::CallBase &sleep);

} // namespace tandem
