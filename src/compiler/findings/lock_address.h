// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a lock is, beyond the function that operates on it.
#pragma once

#include "compiler/points_to/points_to.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/IR/DebugInfoMetadata.h"

#include <string>
#include <vector>

namespace tandem {

// What a record is called. One without a name by its place, since programs have many, and its
// typedef `alias`, since many may be declared in one line; where it has none, by `within`, the
// record and the member that it is, "record.member".
std::string record_name(const llvm::DICompositeType &type, llvm::StringRef alias,
                        llvm::StringRef within);

// How far in record_field() goes.
enum class Innermost {
  field,       // to the last field
  with_others, // not into a record that has nothing else: a class around a lock
};

// The innermost field of a record at `offset` bytes from `address`, as "type+offset"; empty where
// there is none, or where debug information does not tell.
std::string record_field(const llvm::Value &address, std::int64_t offset,
                         Innermost innermost = Innermost::field);
std::string lock_field(const LockSite::Target &target);

// The memory that the lock may be; empty where its operation's caller does not compute its address.
std::vector<Cell> lock_cells(const LockSite &site, const LockSite::Target &target,
                             const PointsToAnalysis &points_to);

// Whether two operations of one function are on the same locks, if the variables that these are
// computed from do not change in between.
bool same_locks(const LockSite &a, const LockSite &b);

// The values that a site's locks are computed from.
std::vector<const llvm::Value *> lock_operands(const LockSite &site);

} // namespace tandem
