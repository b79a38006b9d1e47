// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/accessed_objects.h"

#include "llvm/IR/Instructions.h"

namespace tandem {

using namespace llvm;

const GlobalVariable *AccessedObjects::variable_of(const Access &access) const {
  const DataLayout &layout = view_.module.getDataLayout();
  APInt offset(layout.getIndexTypeSizeInBits(access.pointer->getType()), 0);
  return dyn_cast<GlobalVariable>(
      access.pointer->stripAndAccumulateConstantOffsets(layout, offset, true));
}

std::optional<bool> AccessedObjects::overlap(const Access &one, const Access &other) {
  const bool plain = !one.is_volatile && !other.is_volatile && !one.atomic && !other.atomic;
  if (names_variable(one) && variable_of(one) == variable_of(other))
    return plain;
  const std::vector<ObjectRange> &here = of(one);
  const std::vector<ObjectRange> &there = of(other);
  const bool meet = any_of(here, [&](const ObjectRange &x) {
    return any_of(there, [&](const ObjectRange &y) {
      return x.object == y.object && x.begin < y.end && y.begin < x.end;
    });
  });
  if (!meet)
    return std::nullopt;
  return plain && is_known(one) && is_known(other);
}

// Whether there is one place only that an access can touch: a variable, or a field of one, which
// exists once.
bool AccessedObjects::is_known(const Access &access) {
  const std::vector<ObjectRange> &ranges = of(access);
  if (ranges.size() != 1 || ranges.front().object == 0 ||
      ranges.front().end - ranges.front().begin != access.size ||
      view_.points_to.is_united(ranges.front().object) ||
      view_.points_to.may_be_hidden(*access.pointer))
    return false;
  const Value *label = view_.points_to.label(ranges.front().object);
  const auto *slot = dyn_cast_or_null<AllocaInst>(label);
  return (isa_and_nonnull<GlobalVariable>(label) ||
          (slot != nullptr && slot->isStaticAlloca() &&
           slot->getFunction() == view_.sharing.start().main)) &&
         none_of(view_.points_to.object_folds(ranges.front().object), [&](const Fold &fold) {
           return fold.begin < ranges.front().end && ranges.front().begin < fold.end;
         });
}

const std::vector<ObjectRange> &AccessedObjects::of(const Access &access) {
  const auto [known, fresh] = objects_.try_emplace({access.pointer, access.size});
  if (fresh)
    known->second = view_.points_to.objects(*access.pointer, access.size);
  return known->second;
}

} // namespace tandem
