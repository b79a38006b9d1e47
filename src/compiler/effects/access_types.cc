// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/effects/access_types.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"

namespace tandem {

using namespace llvm;

namespace {

// An access tag is {base type, type, offset}; a type's first operand is its name.
StringRef type_name(const MDNode &tag) {
  const auto *type = tag.getNumOperands() < 3 ? nullptr : dyn_cast<MDNode>(tag.getOperand(1));
  const auto *name = type == nullptr || type->getNumOperands() == 0
                         ? nullptr
                         : dyn_cast<MDString>(type->getOperand(0));
  return name == nullptr ? StringRef() : name->getString();
}

bool has_base(const MDNode &tag) { return tag.getOperand(0) != tag.getOperand(1); }

bool is_union(const Type *type) {
  const auto *record = dyn_cast<StructType>(type);
  return record != nullptr && record->hasName() && record->getName().starts_with("union.");
}

const Type *accessed_type(const Instruction &access) {
  if (const auto *store = dyn_cast<StoreInst>(&access))
    return store->getValueOperand()->getType();
  if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(&access))
    return exchange->getNewValOperand()->getType();
  return access.getType();
}

const Value *address_of(const Instruction &access) {
  if (const Value *address = getLoadStorePointerOperand(&access))
    return address;
  if (const auto *update = dyn_cast<AtomicRMWInst>(&access))
    return update->getPointerOperand();
  if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(&access))
    return exchange->getPointerOperand();
  return nullptr;
}

} // namespace

AccessTypes::AccessTypes(const Module &module) : layout_(module.getDataLayout()) {
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const MDNode *tag = instruction.getMetadata(LLVMContext::MD_tbaa);
      if (tag == nullptr || type_name(*tag) != "omnipotent char")
        continue;
      // A scalar of a structure is tagged as characters are where the structure may alias anything.
      if (const std::optional<Member> found = member(instruction);
          found && !found->type->isIntegerTy(8))
        untyped_.insert(found->record);
    }
}

// The innermost structure, if any, that an access is of a member of.
std::optional<AccessTypes::Member> AccessTypes::member(const Instruction &access) const {
  const Value *address = address_of(access);
  const auto *gep = dyn_cast_or_null<GEPOperator>(address);
  if (gep == nullptr || !gep->isInBounds() || gep->getNumIndices() < 2)
    return std::nullopt;
  Member found;
  bool array = true; // the last step led into an array's element
  for (auto step = gep_type_begin(gep), end = gep_type_end(gep); step != end; ++step) {
    StructType *record = step.getStructTypeOrNull();
    array = record == nullptr;
    if (array)
      continue;
    if (is_union(record))
      return std::nullopt;
    const auto field = static_cast<unsigned>(cast<ConstantInt>(step.getOperand())->getZExtValue());
    found.record = record;
    found.offset = layout_.getStructLayout(record)->getElementOffset(field).getFixedValue();
    found.type = record->getElementType(field);
  }
  if (array || found.type->isAggregateType() || found.type != accessed_type(access))
    return std::nullopt;
  return found;
}

AccessType AccessTypes::of(const Instruction &instruction) {
  const MDNode *tag = instruction.getMetadata(LLVMContext::MD_tbaa);
  if (tag == nullptr || type_name(*tag).empty())
    return kAnyAccess;
  if (type_name(*tag) == "omnipotent char")
    return kAnyAccess;
  Access access{.tag = tag, .member = {}};
  if (std::optional<Member> found = member(instruction); found && !untyped_.contains(found->record))
    access.member = *found;
  const auto [entry, fresh] = known_.try_emplace(access, static_cast<AccessType>(accesses_.size()));
  if (fresh)
    accesses_.push_back(access);
  return entry->second;
}

bool AccessTypes::may_mean_one(const Member &a, const Member &b) const {
  if (a.record == b.record)
    return a.offset < b.offset + layout_.getTypeStoreSize(const_cast<Type *>(b.type)) && // NOLINT
           b.offset < a.offset + layout_.getTypeStoreSize(const_cast<Type *>(a.type));   // NOLINT
  return a.type == b.type && a.offset == b.offset;
}

bool AccessTypes::may_alias(AccessType a, AccessType b) {
  if (a == b || a == kAnyAccess || b == kAnyAccess)
    return true;
  const auto [less, more] = std::minmax(a, b);
  if (more >= aliases_.size())
    aliases_.resize(accesses_.size());
  aliases_[more].resize(more);
  Answer &known = aliases_[more][less];
  if (known == Answer::unknown)
    known = compare(less, more) ? Answer::yes : Answer::no;
  return known == Answer::yes;
}

bool AccessTypes::compare(AccessType a, AccessType b) const {
  const Access &one = accesses_[a];
  const Access &other = accesses_[b];
  if (one.member.record != nullptr && other.member.record != nullptr &&
      !may_mean_one(one.member, other.member))
    return false;
  // Memory of no record may be one type now and another later (C11 6.5, paragraph 6).
  if (one.member.record == nullptr && other.member.record == nullptr && !has_base(*one.tag) &&
      !has_base(*other.tag))
    return true;
  if (has_base(*one.tag) && has_base(*other.tag) &&
      one.tag->getOperand(1) == other.tag->getOperand(1) &&
      one.tag->getOperand(2) == other.tag->getOperand(2))
    return true;
  const auto location = [](const MDNode *tag) {
    return MemoryLocation(nullptr, LocationSize::beforeOrAfterPointer(),
                          AAMDNodes(const_cast<MDNode *>(tag), nullptr, nullptr, // NOLINT
                                    nullptr));
  };
  const TargetLibraryInfoImpl libraries;
  const TargetLibraryInfo library(libraries);
  AAResults none(library); // the rules ask no other analysis
  SimpleAAQueryInfo query(none);
  TypeBasedAAResult rules;
  return rules.alias(location(one.tag), location(other.tag), query, nullptr) !=
         AliasResult::NoAlias;
}

} // namespace tandem
