// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions of a converted lock that stay real: what runs in one is in no section, however long it
// takes, and as long as it runs no section of its lock does. A word of the lock says that such a
// region holds it. The word is set, and cleared, in a section of the lock; every other section of
// that lock reads it behind the acquisition, and where it is set ends, waits outside and begins
// again. So sections and regions exclude each other by what keeps sections apart, whichever way
// that is: a thread that has set the word is alone with what the lock guards, as one that has taken
// memory out of what is shared.
//
// No section waits for such a region, except before anything is done in it: there is no deadlock
// that the program's own order of locks does not have.
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/convert/file.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <set>
#include <string>

namespace tandem {

// Takes the regions that the file names out of the converted ones: a section that sets the word
// where they begin, one that clears it where they end. Error: the user's mistake, or a region that
// cannot stay real. `known`: as of NamedLocks::match().
Status make_lock_regions(llvm::Module &module, const ConversionFile &file,
                         const Catalogue &catalogue, const std::set<std::string> &known);

// Whether the operation begins or ends a region that stays real.
bool is_real(const LockSite &site);

// Whether the operation is the one that gives up a lock region: it finds the word set by itself.
bool ends_real(const llvm::CallBase &call);

// `operation` on the pthread_mutex_t `lock` (0, or EBUSY of a trylock), and behind it a look at the
// word: where it is set, `release` it, and for a trylock the result is EBUSY, else kHeldRefused()
// says so. `name` is the new function's.
llvm::Function &looking(llvm::Module &module, llvm::StringRef name, llvm::FunctionCallee operation,
                        llvm::FunctionCallee release, bool tries);

} // namespace tandem
