// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locks as words (`as = "word"`): a word of the lock says that a thread holds it. Acquiring and
// releasing it are sections of their own, which change the word, and what is between them runs
// plainly. So the lock keeps transactions and plain code apart as a lock of the program's own that
// is made of transactions does (branch IP of "Transactionalizing Legacy Code", section 3.1). Behind
// this the lock is one that stays real, of the operations below, and what they do is converted.
#pragma once

#include "compiler/convert/sites.h"

namespace tandem {

// Whether the file says so of any lock.
bool has_word_locks(const ConversionFile &file);

// Error: an operation on such a lock that has no counterpart, as a wait for a condition.
Status check_word_locks(const llvm::Module &module, const ConversionFile &file,
                        const LockCalls &calls, const NamedLocks &named);

// Replaces the operations on such locks, of which check_word_locks() and check_locks() have
// approved. The result is the file for what follows: such locks are real, and what changes their
// words is a section.
ConversionFile make_word_locks(llvm::Module &module, const ConversionFile &file,
                               const LockCalls &calls, const NamedLocks &named);

} // namespace tandem
