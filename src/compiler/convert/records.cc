// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/records.h"

#include "compiler/findings/lock_address.h"
#include "compiler/sections/access_path.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"

#include <algorithm>

namespace tandem {
namespace {

using namespace llvm;

// `test` of a type's name, and of whether it is in namespace std, for any of the names it has.
bool any_name(const DIType *type, function_ref<bool(StringRef, bool)> test) {
  while (type != nullptr) {
    const DIScope *scope = type->getScope();
    if (test(type->getName(), scope != nullptr && scope->getName() == "std"))
      return true;
    const auto *derived = dyn_cast<DIDerivedType>(type);
    const bool same = derived != nullptr && (derived->getTag() == dwarf::DW_TAG_typedef ||
                                             derived->getTag() == dwarf::DW_TAG_const_type ||
                                             derived->getTag() == dwarf::DW_TAG_volatile_type);
    type = same ? derived->getBaseType() : nullptr;
  }
  return false;
}

// The record that a member is, or has several of, if that has neither a name nor a typedef; else
// null.
const DICompositeType *nameless(const DIType *type) {
  while (type != nullptr) {
    const auto *derived = dyn_cast<DIDerivedType>(type);
    const auto *record = dyn_cast<DICompositeType>(type);
    if (derived != nullptr && derived->getTag() != dwarf::DW_TAG_pointer_type &&
        derived->getTag() != dwarf::DW_TAG_typedef)
      type = derived->getBaseType();
    else if (record != nullptr && record->getTag() == dwarf::DW_TAG_array_type)
      type = record->getBaseType();
    else
      return record != nullptr && record->getName().empty() ? record : nullptr;
  }
  return nullptr;
}

void visit(const DICompositeType &record, const std::string &key, const std::string &name,
           EachRecord each) {
  each(record, key, name);
  for (const DINode *element : record.getElements())
    if (const auto *member = dyn_cast<DIDerivedType>(element);
        member != nullptr && !member->isStaticMember())
      if (const DICompositeType *inner = nameless(member->getBaseType())) {
        const std::string dotted = "." + member->getName().str();
        visit(*inner, record_name(*inner, "", key + dotted), name.empty() ? "" : name + dotted,
              each);
      }
}

} // namespace

void visit_records(const Module &module, EachRecord each) {
  DebugInfoFinder finder;
  finder.processModule(module);
  for (const DIType *type : finder.types()) {
    if (const auto *record = dyn_cast<DICompositeType>(type)) {
      if (record->getTag() != dwarf::DW_TAG_array_type)
        visit(*record, record_name(*record, "", ""),
              record->getName().empty() ? "" : record_path(*record, false), each);
      continue;
    }
    const auto *alias = dyn_cast<DIDerivedType>(type);
    if (alias == nullptr || alias->getTag() != dwarf::DW_TAG_typedef)
      continue;
    // A record that only a typedef names.
    const auto *inner = dyn_cast_or_null<DICompositeType>(alias->getBaseType());
    if (inner != nullptr && inner->getName().empty() && inner->getTag() != dwarf::DW_TAG_array_type)
      visit(*inner, record_name(*inner, alias->getName(), ""), alias->getName().str(), each);
  }
}

Records::Records(const Module &module) {
  visit_records(module,
                [&](const DICompositeType &record, const std::string &key, const std::string &) {
                  if (!record.isForwardDecl())
                    members_[key].push_back(members_of(record));
                });
}

bool Records::alike(const std::string &a, const std::string &b) const {
  const auto left = members_.find(a);
  const auto right = members_.find(b);
  if (left == members_.end() || right == members_.end())
    return true;
  return any_of(left->second, [&](const Members &one) {
    return any_of(right->second, [&](const Members &other) {
      const std::size_t common = std::min(one.size(), other.size());
      return std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(common),
                        other.begin());
    });
  });
}

Records::Members Records::members_of(const DICompositeType &record) {
  Members members;
  for (const DINode *element : record.getElements()) {
    const auto *member = dyn_cast<DIDerivedType>(element);
    if (member == nullptr || member->isStaticMember())
      continue;
    const DIType *type = member->getBaseType();
    for (const auto *derived = dyn_cast_or_null<DIDerivedType>(type);
         derived != nullptr && derived->getTag() != dwarf::DW_TAG_pointer_type;
         derived = dyn_cast_or_null<DIDerivedType>(type))
      type = derived->getBaseType();
    members.push_back({member->getOffsetInBits(), member->getSizeInBits(),
                       type == nullptr ? 0U : static_cast<unsigned>(type->getTag())});
  }
  return members;
}

bool is_lock_type(const DIType *type) {
  return any_name(type, [](StringRef name, bool in_std) {
    return name.starts_with("pthread_mutex_t") || name.starts_with("pthread_rwlock_t") ||
           name.starts_with("pthread_spinlock_t") || (in_std && name.ends_with("mutex"));
  });
}

bool is_condition_type(const DIType *type) {
  return any_name(type, [](StringRef name, bool in_std) {
    return name.starts_with("pthread_cond_t") || (in_std && name.starts_with("condition_variable"));
  });
}

} // namespace tandem
