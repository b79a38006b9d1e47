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

#include <string>
#include <vector>

namespace tandem {
namespace {

using namespace llvm;

bool allocates(const Value *value, const PointsToAnalysis &points_to) {
  const auto *call = dyn_cast<CallBase>(value);
  const Function *callee = call == nullptr ? nullptr : called_function(*call);
  return callee != nullptr && callee->isDeclaration() && !callee->isIntrinsic() &&
         points_to.entry(*callee).returns.value == PointerValue::fresh;
}

// Whether a use of a pointer tells others where it leads.
bool publishes(const Use &use, const PointsToAnalysis &points_to) {
  if (const auto *store = dyn_cast<StoreInst>(use.getUser()))
    return use.get() == store->getValueOperand();
  const auto *call = dyn_cast<CallBase>(use.getUser());
  if (call == nullptr || is_marker(*call) || !call->isArgOperand(&use))
    return false;
  const Function *callee = called_function(*call);
  if (callee == nullptr || !callee->isDeclaration())
    return true;
  return !callee->isIntrinsic() &&
         points_to.entry(*callee).captures.contains(call->getArgOperandNo(&use));
}

} // namespace

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
  const Description description{known_range(access), access.type, field_of(*access.pointer)};
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
  // A byte or a pointer that is in no record says too little.
  return a.field == b.field && !(a.field == 0 && (a.type->isIntegerTy(8) || a.type->isPointerTy()));
}

bool is_unpublished(const Value &pointer, const Instruction &instruction,
                    const PointsToAnalysis &points_to) {
  const Value *object = getUnderlyingObject(&pointer, /*MaxLookup=*/0);
  std::vector<const Value *> copies{object}; // of the object's address
  if (const auto *load = dyn_cast<LoadInst>(object)) {
    const auto *variable = dyn_cast<AllocaInst>(load->getPointerOperand());
    if (variable == nullptr)
      return false;
    bool allocated = false;
    for (const User *user : variable->users())
      if (const auto *store = dyn_cast<StoreInst>(user)) {
        const Value *stored = store->getValueOperand();
        if (store->getPointerOperand() != variable ||
            (!isa<ConstantPointerNull>(stored) && !allocates(stored, points_to)))
          return false;
        allocated = allocated || !isa<ConstantPointerNull>(stored);
      } else if (isa<LoadInst>(user)) {
        copies.push_back(user);
      } else if (!isa<Instruction>(user) || !is_marker(*cast<Instruction>(user))) {
        return false; // the variable's address is taken
      }
    if (!allocated)
      return false;
  } else if (!allocates(object, points_to)) {
    return false;
  }
  return none_of(copies, [&](const Value *copy) {
    return any_of(copy->uses(), [&](const Use &use) {
      const auto *user = dyn_cast<Instruction>(use.getUser());
      return user != nullptr && publishes(use, points_to) && may_follow(instruction, *user);
    });
  });
}

} // namespace tandem
