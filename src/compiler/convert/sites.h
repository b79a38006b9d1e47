// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations on converted locks, found in the module and taken away from the library.
#pragma once

#include "compiler/convert/file.h"
#include "compiler/points_to/points_to.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Module.h"

#include <map>
#include <optional>
#include <vector>

namespace tandem {

// Which locks of the module the file names, and how.
class NamedLocks {
public:
  // Error: a name that no lock of the program has, or a lock with two of them.
  static Result<NamedLocks> match(const llvm::Module &module, const ConversionFile &file,
                                  const LockCalls &calls);

  // Index of the file's section that converts the site; nothing where it stays real.
  [[nodiscard]] std::optional<std::size_t> section_of(const LockSite &site) const;

private:
  NamedLocks(const llvm::Module &module, const ConversionFile &file);
  // What a conversion file may call the site's locks.
  [[nodiscard]] std::vector<std::string> names_of(const LockSite &site) const;
  [[nodiscard]] const ConversionFile::Locks *
  entry(const std::vector<ConversionFile::Locks> &entries, const LockSite &site) const;

  const ConversionFile *file_;
  std::map<std::string, std::string> fields_; // "record+offset" to "record.field"
};

// Whether every operation on a converted lock is known: the lock is a pthread mutex or spinlock,
// nothing waits for a condition with it, no code outside the program can use it, and what stays
// real is never one of them. Error: `file:line: ...`.
Status check_locks(const llvm::Module &module, const ConversionFile &file, const LockCalls &calls,
                   const NamedLocks &named, const PointsToAnalysis &points_to);

// Where the locks of an operation may lie. Not in memory of code outside the program: such code may
// hand back pointers that it was given, but has no locks in objects of the program's types.
std::vector<ObjectRange> lock_ranges(const LockSite &site, const PointsToAnalysis &points_to);

struct ConvertedSite {
  enum class Kind { acquire, try_acquire, release };
  llvm::CallBase *call = nullptr;
  Kind kind = Kind::acquire;
  Acquired acquired = Acquired::zero; // try_acquire: the result that means success
};
using ConvertedSites = std::map<llvm::Function *, std::vector<ConvertedSite>>;

// Operations of the library that converted ones became; resolved by finish_stand_ins().
inline constexpr const char *kStandIn = "tandem.converted.";

// Of held.c: how many locks the thread holds, and to set that.
inline constexpr const char *kHeldCount = "_TANDEM_held_count";
inline constexpr const char *kHeldRestore = "_TANDEM_held_restore";
// Whether take_over() left operations on locks that threads keep a list of.
bool keeps_held(const llvm::Module &module);

// Replaces every operation on a converted lock by one that no longer touches the lock; wrappers get
// copies that do. Result: the sites outside wrappers, by function.
ConvertedSites take_over(llvm::Module &module, const LockCalls &calls, const NamedLocks &named);

// Makes what take_over() left in the module code: nothing for locks that no one tries, else calls
// of held.c. Result: whether there are any.
bool finish_stand_ins(llvm::Module &module);

} // namespace tandem
