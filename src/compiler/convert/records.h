// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records of the program, as debug information has them.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"

#include <map>
#include <string>
#include <vector>

namespace tandem {

// Whether a type is pthread's or the C++ library's of that kind: a lock (a mutex, a readers' and
// writers' lock, a spinlock), or a condition. Seen through typedefs and qualifiers.
bool is_lock_type(const llvm::DIType *type);
bool is_condition_type(const llvm::DIType *type);

// A record: what record_field() calls it, and what users do (nothing where it has no name).
using EachRecord = llvm::function_ref<void(const llvm::DICompositeType &, const std::string &key,
                                           const std::string &name)>;

// Every record of the module, under each of its names.
void visit_records(const llvm::Module &module, EachRecord each);

// Records by what record_field() calls them.
class Records {
public:
  explicit Records(const llvm::Module &module);

  // Whether what is one record for some code may be the other for other code: it begins with the
  // same members. True where that is not known.
  [[nodiscard]] bool alike(const std::string &a, const std::string &b) const;

private:
  struct Member {
    std::uint64_t offset; // bits, as the size
    std::uint64_t size;
    unsigned tag;
    bool operator==(const Member &) const = default;
  };
  using Members = std::vector<Member>;
  static Members members_of(const llvm::DICompositeType &record);

  std::map<std::string, std::vector<Members>> members_;
};

} // namespace tandem
