// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations on converted locks, found in the module and taken away from the library.
#pragma once

#include "compiler/convert/file.h"
#include "compiler/points_to/points_to.h"
#include "compiler/sections/converted_operations.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Module.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tandem {

// Locks as fields of the records that they are in, by debug information.
class LockFields {
public:
  explicit LockFields(const llvm::Module &module);
  // `record.field`, `typedef.field` or `Class::field`; empty where the text does not tell, or the
  // record has no name.
  [[nodiscard]] std::string name_of(const LockSite &site) const;
  // What a conversion file may call the site's locks.
  [[nodiscard]] std::vector<std::string> names_of(const LockSite &site) const;

private:
  std::map<std::string, std::string> fields_; // "record+offset" to "record.field"
};

// Which locks of the module the file names, and how.
class NamedLocks {
public:
  // Error: a name that no lock of the program has, or a lock with two of them. `known`: names of
  // locks before guards were taken apart, of which not all need be left.
  static Result<NamedLocks> match(const llvm::Module &module, const ConversionFile &file,
                                  const LockCalls &calls, const std::set<std::string> &known);
  // Every name that a conversion file may call locks of the module.
  static std::set<std::string> all_names(const llvm::Module &module, const LockCalls &calls);

  // Index of the file's section that converts the site; nothing where it stays real.
  [[nodiscard]] std::optional<std::size_t> section_of(const LockSite &site) const;
  // The site's lock by the name that the file has for it, as messages and the next file want it;
  // by the site's own where it has none.
  [[nodiscard]] std::string name_in_file(const LockSite &site) const;
  // Whether that section's locks guard their data; and those of any.
  [[nodiscard]] bool is_guarded_by(std::size_t section) const;
  [[nodiscard]] bool has_guarded_by() const;
  // Whether some regions of that section's locks stay real, or all as the locks become words.
  [[nodiscard]] bool has_lock_regions(std::size_t section) const;
  // Whether the file says of all of those that sections begin with their lock.
  [[nodiscard]] bool is_outermost(std::size_t section) const;

private:
  NamedLocks(const llvm::Module &module, const ConversionFile &file);
  [[nodiscard]] const ConversionFile::Locks *
  entry(const std::vector<ConversionFile::Locks> &entries, const LockSite &site) const;

  const ConversionFile *file_;
  LockFields fields_;
};

// Whether every operation on a converted lock is known: the lock is pthread's,
// its waits for conditions are converted (waits.h), no code outside the program can use it, and
// what stays real is never one of them. Error: `file:line: ...`.
Status check_locks(const llvm::Module &module, const ConversionFile &file, const LockCalls &calls,
                   const NamedLocks &named, const PointsToAnalysis &points_to);

// Where the locks of an operation may lie. Not in memory of code outside the program: such code may
// hand back pointers that it was given, but has no locks in objects of the program's types.
std::vector<ObjectRange> lock_ranges(const LockSite &site, const PointsToAnalysis &points_to);

// --- what becomes of them (stand_ins.cc)

struct ConvertedSite {
  enum class Kind { acquire, try_acquire, release };
  llvm::CallBase *call = nullptr;
  Kind kind = Kind::acquire;
  Acquired acquired = Acquired::zero; // try_acquire: the result that means success
  bool looks = false;      // acquire: asks whether a region that stays real holds the lock (real.h)
  bool outermost = false;  // and is the section's first acquisition, or is not reached
  bool guarded_by = false; // its lock guards its data
};
using ConvertedSites = std::map<llvm::Function *, std::vector<ConvertedSite>>;

// Operations of the library that converted ones became; resolved by finish_stand_ins().
inline constexpr const char *kStandIn = "tandem.converted.";
// Of the runtime's bitcode: pthread_mutex_lock, in a way that notices waiting.
inline constexpr const char *kOwnMutexLock = "_TANDEM_inline_phase_lock";

// Whether take_over() left operations on locks that threads keep a list of.
bool keeps_held(const llvm::Module &module);

// Replaces every operation on a converted lock by one that no longer touches the lock; wrappers get
// copies that do. Result: the sites outside wrappers, by function.
// With `keeps_locks` the operations stay to be had, for code that holds the program's own locks:
// finish_own_locks() resolves them, behind the enforcement.
ConvertedSites take_over(llvm::Module &module, const LockCalls &calls, const NamedLocks &named,
                         bool keeps_locks);

// Whether the text tells that the lock is a variable, or which field of which record.
bool lies_in_known_place(const LockSite &site);

// The entry of the file whose locks an operation in the module is on; take_over() says so of each.
void mark_converted_lock(llvm::CallBase &call, std::size_t section);
std::optional<std::size_t> converted_lock(const llvm::CallBase &call);
// That of the operation that is nearest before `instruction` in its function; nothing: there is
// none.
std::optional<std::size_t> converted_lock_before(const llvm::Instruction &instruction);

// Whether the library has an operation for each converted site that take_over() can keep.
bool can_keep_locks(const llvm::Module &module, const LockCalls &calls, const NamedLocks &named);

// The mark `name` about locks that guard their data (converted_operations.h): takes the lock, gives
// an int.
llvm::FunctionCallee guarded_by_mark(llvm::Module &module, llvm::StringRef name);

// Takes out the marks that are in no transaction. Behind the enforcement.
void finish_guarded_by(llvm::Module &module);

// Makes what take_over() left in the module code: nothing for locks that no one tries, else calls
// of held.c. Result: whether there are any.
bool finish_stand_ins(llvm::Module &module);

// Of kept operations: in functions for which `transactional` is true, what finish_stand_ins() makes
// of them; elsewhere the library's own on the program's lock. Result: whether the module calls
// functions of held.c or sleepers.c.
bool finish_own_locks(llvm::Module &module,
                      llvm::function_ref<bool(const llvm::Function &)> transactional);

} // namespace tandem
