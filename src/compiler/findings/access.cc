// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/access.h"

#include "compiler/findings/lock_address.h"
#include "compiler/findings/place.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/origin.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#include <string>
#include <vector>

namespace tandem {

using namespace llvm;

SmallVector<Access, 2> accesses_of(const Instruction &instruction) {
  const DataLayout &layout = instruction.getModule()->getDataLayout();
  const auto size = [&](const Type *type) {
    return layout.getTypeStoreSize(const_cast<Type *>(type)).getFixedValue();
  };
  if (const auto *load = dyn_cast<LoadInst>(&instruction))
    return {{load->getPointerOperand(), load->getType(), size(load->getType()), false,
             load->isVolatile(), load->isAtomic()}};
  if (const auto *store = dyn_cast<StoreInst>(&instruction))
    return {{store->getPointerOperand(), store->getValueOperand()->getType(),
             size(store->getValueOperand()->getType()), true, store->isVolatile(),
             store->isAtomic()}};
  if (const auto *update = dyn_cast<AtomicRMWInst>(&instruction))
    return {{update->getPointerOperand(), update->getType(), size(update->getType()), true, false,
             true}};
  if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return {{exchange->getPointerOperand(), exchange->getNewValOperand()->getType(),
             size(exchange->getNewValOperand()->getType()), true, false, true}};
  SmallVector<Access, 2> accesses;
  if (const auto *set = dyn_cast<AnyMemIntrinsic>(&instruction)) {
    const auto *length = dyn_cast<ConstantInt>(set->getLength());
    const std::uint64_t bytes =
        length == nullptr ? PointsToAnalysis::kUnknownSize : length->getZExtValue();
    accesses.push_back({set->getDest(), nullptr, bytes, true});
    if (const auto *transfer = dyn_cast<AnyMemTransferInst>(set))
      accesses.push_back({transfer->getSource(), nullptr, bytes, false});
  }
  return accesses;
}

// The bytes of a variable that an access touches; the whole of it where the offset is not known.
AccessKinds::Range AccessKinds::known_range(const Access &access) const {
  APInt offset(layout_.getIndexTypeSizeInBits(access.pointer->getType()), 0);
  const Value *base =
      access.pointer->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
  if (isa<GlobalVariable>(base) || isa<AllocaInst>(base)) {
    const std::uint64_t begin = offset.getZExtValue();
    const bool bounded =
        access.size != PointsToAnalysis::kUnknownSize && begin + access.size >= begin;
    return {base, begin, bounded ? begin + access.size : ~std::uint64_t{0}};
  }
  const Value *object = getUnderlyingObject(access.pointer, /*MaxLookup=*/0);
  if (isa<GlobalVariable>(object) || isa<AllocaInst>(object))
    return {object, 0, ~std::uint64_t{0}};
  return {};
}

namespace {

// Whether a function or a variable is given the address of the part of a variable that begins
// `begin` bytes in it.
bool is_part_given(const Value &variable, std::uint64_t begin, const DataLayout &layout) {
  return any_of(variable.users(), [&](const User *user) {
    const auto *part = dyn_cast<GEPOperator>(user);
    APInt offset(layout.getIndexTypeSizeInBits(variable.getType()), 0);
    return part != nullptr && part->accumulateConstantOffset(layout, offset) && offset == begin &&
           any_of(part->uses(), [](const Use &use) {
             const auto *store = dyn_cast<StoreInst>(use.getUser());
             return (isa<CallBase>(use.getUser()) && !isa<IntrinsicInst>(use.getUser())) ||
                    (store != nullptr && use.getOperandNo() == 0);
           });
  });
}

} // namespace

std::uint32_t AccessKinds::field_of(const Value &pointer) {
  const auto [known, fresh] = field_of_pointer_.try_emplace(&pointer, 0);
  if (!fresh)
    return known->second;
  const auto [base, offset] = base_of(&pointer, layout_);
  if (base == nullptr)
    return 0;
  const std::string field = record_field(*base, offset);
  if (!field.empty())
    known->second = fields_.try_emplace(field, fields_.size() + 1).first->second;
  return known->second;
}

AccessKinds::Kind AccessKinds::of(const Access &access) {
  Description description{known_range(access), access.type, field_of(*access.pointer)};
  description.given = description.field != 0 && description.range.object != nullptr &&
                      is_part_given(*description.range.object, description.range.begin, layout_);
  const auto [known, fresh] = kinds_.try_emplace(description, descriptions_.size());
  if (fresh)
    descriptions_.push_back(description);
  return known->second;
}

bool AccessKinds::likely_meet(Kind first, Kind second) const {
  const Description &a = descriptions_[first];
  const Description &b = descriptions_[second];
  if (a.range.object != nullptr && b.range.object != nullptr)
    return a.range.object == b.range.object && a.range.begin < b.range.end &&
           b.range.begin < a.range.end;
  if (a.type == nullptr || a.type != b.type)
    return false;
  // What is in a record may be reached by a pointer to it alone.
  const auto is_of = [](const Description &part, const Description &plain) {
    return part.given && plain.field == 0 && plain.range.object == nullptr;
  };
  if (is_of(a, b) || is_of(b, a))
    return true;
  // A byte or a pointer that is in no record says too little.
  return a.field == b.field && !(a.field == 0 && (a.type->isIntegerTy(8) || a.type->isPointerTy()));
}

} // namespace tandem
