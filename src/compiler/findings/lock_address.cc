// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/lock_address.h"

#include "compiler/findings/place.h"
#include "compiler/sections/access_path.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>

namespace tandem {
namespace {

using namespace llvm;

// `alias`: the typedef of the record itself, if there is one.
const DICompositeType *composite(const DIType *type, StringRef &alias) {
  alias = "";
  while (const auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
    if (derived->getTag() == dwarf::DW_TAG_pointer_type || is_opaque_type(derived))
      return nullptr;
    alias = derived->getTag() == dwarf::DW_TAG_typedef ? derived->getName() : "";
    type = derived->getBaseType();
  }
  return dyn_cast_or_null<DICompositeType>(type);
}

const DIDerivedType *member_at(const DICompositeType &record, std::uint64_t offset) {
  for (const DINode *element : record.getElements()) {
    const auto *member = dyn_cast<DIDerivedType>(element);
    if (member == nullptr || member->isStaticMember())
      continue;
    const std::uint64_t begin = member->getOffsetInBits() / 8;
    if (begin <= offset && offset < begin + member->getSizeInBits() / 8)
      return member;
  }
  return nullptr;
}

bool has_one_member(const DICompositeType &record) {
  return record.getTag() != dwarf::DW_TAG_array_type &&
         count_if(record.getElements(), [](const DINode *element) {
           const auto *member = dyn_cast<DIDerivedType>(element);
           return member != nullptr && !member->isStaticMember() &&
                  (member->getTag() == dwarf::DW_TAG_member ||
                   member->getTag() == dwarf::DW_TAG_inheritance);
         }) == 1;
}

// Whether the call's own function computes the lock's address.
bool is_local(const LockSite &site, const LockSite::Target &target) {
  const auto *instruction = dyn_cast_or_null<Instruction>(target.base);
  const auto *argument = dyn_cast_or_null<Argument>(target.base);
  const Function *function = site.call->getFunction();
  return target.base != nullptr &&
         (instruction == nullptr || instruction->getFunction() == function) &&
         (argument == nullptr || argument->getParent() == function);
}

} // namespace

std::string record_name(const DICompositeType &type, StringRef alias, StringRef within) {
  if (!type.getName().empty())
    return record_path(type, true);
  if (alias.empty() && !within.empty())
    return within.str();
  const std::string place = (type.getFilename() + ":" + Twine(type.getLine())).str();
  return alias.empty() ? place : (place + ":" + alias).str();
}

std::string lock_field(const LockSite::Target &target) {
  if (target.base == nullptr || target.offsets.size() != 1)
    return {};
  return record_field(*target.base, target.offsets.front());
}

namespace {

// The type of what a pointer points to, where debug information tells.
const DIType *pointee_type(const Value &pointer) {
  const AccessPath path = access_path(&pointer, 0);
  if (path.type != nullptr || !isa<Argument>(pointer))
    return path.type;
  // Unoptimised code declares the variable that the argument is stored in.
  for (const User *user : pointer.users())
    if (const auto *store = dyn_cast<StoreInst>(user);
        store && store->getValueOperand() == &pointer) {
      const DIType *type = access_path(store->getPointerOperand(), 0).type;
      while (const auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
        type = derived->getBaseType();
        if (derived->getTag() == dwarf::DW_TAG_pointer_type ||
            derived->getTag() == dwarf::DW_TAG_reference_type)
          return type;
      }
    }
  return nullptr;
}

} // namespace

std::string record_field(const Value &address, std::int64_t from, Innermost innermost) {
  if (from < 0)
    return {};
  auto offset = static_cast<std::uint64_t>(from);
  StringRef alias;
  std::string within;
  const DICompositeType *type = composite(pointee_type(address), alias);
  std::string field;
  while (type != nullptr) {
    if (type->getTag() == dwarf::DW_TAG_array_type) {
      type = composite(type->getBaseType(), alias);
      if (type != nullptr && type->getSizeInBits() >= 8)
        offset %= type->getSizeInBits() / 8;
      continue;
    }
    const DIDerivedType *member = member_at(*type, offset);
    // The library's own records are one thing.
    if (member == nullptr || type->getName().starts_with("__pthread") ||
        (type->getScope() != nullptr && type->getScope()->getName() == "std"))
      break;
    const std::string record = record_name(*type, alias, within);
    field = record + "+" + std::to_string(offset);
    within = record + "." + member->getName().str();
    offset -= member->getOffsetInBits() / 8;
    type = composite(member->getBaseType(), alias);
    if (innermost == Innermost::with_others && type != nullptr && has_one_member(*type))
      break;
  }
  return field;
}

std::vector<Cell> lock_cells(const LockSite &site, const LockSite::Target &target,
                             const PointsToAnalysis &points_to) {
  if (!is_local(site, target) || target.offsets.size() != 1 || target.offsets.front() < 0 ||
      !target.base->getType()->isPointerTy())
    return {};
  std::vector<Cell> cells = points_to.places(*target.base);
  for (Cell &cell : cells)
    cell.offset =
        points_to.fold(cell.node, cell.offset + static_cast<std::uint64_t>(target.offsets.front()));
  return cells;
}

bool same_locks(const LockSite &a, const LockSite &b) {
  if (a.locks != b.locks)
    return false;
  if (a.named && std::none_of(a.locks.begin(), a.locks.end(), [](const std::string &lock) {
        return lock.find("[]") != std::string::npos;
      }))
    return true;
  const std::vector<const Value *> left = lock_operands(a);
  const std::vector<const Value *> right = lock_operands(b);
  if (left.size() != right.size() || left.empty())
    return false;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (!same_computation(*left[i], *right[i]))
      return false;
  return std::equal(
             a.targets.begin(), a.targets.end(), b.targets.begin(), b.targets.end(),
             [](const auto &one, const auto &other) { return one.offsets == other.offsets; }) ||
         a.wrapper != nullptr;
}

std::vector<const Value *> lock_operands(const LockSite &site) {
  std::vector<const Value *> operands;
  for (const LockSite::Target &target : site.targets)
    if (is_local(site, target))
      operands.push_back(target.base);
  if (operands.size() == site.targets.size() && !operands.empty())
    return operands;
  return {site.call->arg_begin(), site.call->arg_end()};
}

} // namespace tandem
