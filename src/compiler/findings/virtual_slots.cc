// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/virtual_slots.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

namespace tandem {

using namespace llvm;

namespace {

constexpr std::int64_t kFirst = 2; // words of a table before its functions
constexpr std::int64_t kWord = 8;  // bytes

} // namespace

VirtualSlots::VirtualSlots(const Module &module) {
  for (const GlobalVariable &variable : module.globals()) {
    if (!variable.getName().starts_with("_ZTV") || !variable.hasInitializer())
      continue;
    const auto *tables = dyn_cast<ConstantStruct>(variable.getInitializer());
    if (tables == nullptr)
      continue;
    for (const Use &table : tables->operands()) {
      const auto *entries = dyn_cast<ConstantArray>(table.get());
      if (entries == nullptr)
        continue;
      // Virtual bases put more words in front, but the type's information is always the last.
      std::int64_t first = kFirst;
      for (unsigned i = 0; i < entries->getNumOperands(); ++i)
        if (entries->getOperand(i)->stripPointerCasts()->getName().starts_with("_ZTI"))
          first = i + 1;
      for (unsigned i = 0; i < entries->getNumOperands(); ++i)
        if (const auto *function = dyn_cast<Function>(entries->getOperand(i)->stripPointerCasts()))
          slots_[function].push_back(static_cast<std::int64_t>(i) - first);
    }
  }
}

std::optional<std::int64_t> VirtualSlots::slot(const CallBase &call) {
  const auto *function = dyn_cast<LoadInst>(call.getCalledOperand());
  if (!call.isIndirectCall() || function == nullptr)
    return std::nullopt;
  const DataLayout &layout = call.getModule()->getDataLayout();
  const Value *entry = function->getPointerOperand();
  APInt offset(layout.getIndexTypeSizeInBits(entry->getType()), 0);
  const auto *table =
      dyn_cast<LoadInst>(entry->stripAndAccumulateConstantOffsets(layout, offset, true));
  // The object is what is called: the table is loaded from it.
  if (table == nullptr || call.arg_empty() || table->getType() != entry->getType() ||
      !is_contained(call.args(), table->getPointerOperand()))
    return std::nullopt;
  return offset.getSExtValue() / kWord;
}

bool VirtualSlots::may_enter(std::optional<std::int64_t> slot, const Function &function) const {
  const auto known = slots_.find(&function);
  return !slot || known == slots_.end() || is_contained(known->second, *slot);
}

} // namespace tandem
