// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/single.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <map>
#include <optional>
#include <string>

namespace tandem {
namespace {

using namespace llvm;

// Whether the processor accesses the value in one step.
bool is_one_word(const Type &type, Align align, const DataLayout &layout) {
  if (!type.isIntegerTy() && !type.isPointerTy() && !type.isFloatTy() && !type.isDoubleTy())
    return false;
  const std::uint64_t bits = layout.getTypeSizeInBits(const_cast<Type *>(&type)).getFixedValue();
  return (bits == 8 || bits == 16 || bits == 32 || bits == 64) && align.value() >= bits / 8;
}

bool is_simple_word(const Instruction &instruction) {
  const DataLayout &layout = instruction.getModule()->getDataLayout();
  if (const auto *load = dyn_cast<LoadInst>(&instruction))
    return load->isSimple() && load->getPointerAddressSpace() == 0 &&
           is_one_word(*load->getType(), load->getAlign(), layout);
  const auto *store = dyn_cast<StoreInst>(&instruction);
  return store != nullptr && store->isSimple() && store->getPointerAddressSpace() == 0 &&
         is_one_word(*store->getValueOperand()->getType(), store->getAlign(), layout);
}

// Whether the block may run twice in a section.
bool is_repeated(const BasicBlock &block) {
  return any_of(successors(&block),
                [&](const BasicBlock *next) { return isPotentiallyReachable(next, &block); });
}

struct Update {
  LoadInst *load;
  StoreInst *store;
  AtomicRMWInst::BinOp operation;
  Value *operand;
};

std::optional<AtomicRMWInst::BinOp> atomic_operation(const BinaryOperator &made) {
  switch (made.getOpcode()) {
  case Instruction::Add:
    return AtomicRMWInst::Add;
  case Instruction::Sub:
    return AtomicRMWInst::Sub;
  case Instruction::And:
    return AtomicRMWInst::And;
  case Instruction::Or:
    return AtomicRMWInst::Or;
  case Instruction::Xor:
    return AtomicRMWInst::Xor;
  default:
    return std::nullopt;
  }
}

// place = place OP operand, by these two instructions; the operand is there before the load.
std::optional<Update> update_of(Instruction &first, Instruction &second) {
  auto *load = dyn_cast<LoadInst>(&first);
  auto *store = dyn_cast<StoreInst>(&second);
  if (load == nullptr || store == nullptr || load->getParent() != store->getParent() ||
      !load->comesBefore(store) || load->getPointerOperand() != store->getPointerOperand() ||
      !load->getType()->isIntegerTy())
    return std::nullopt;
  auto *made = dyn_cast<BinaryOperator>(store->getValueOperand());
  if (made == nullptr || made->getType() != load->getType())
    return std::nullopt;
  const std::optional<AtomicRMWInst::BinOp> operation = atomic_operation(*made);
  const bool left = made->getOperand(0) == load;
  if (!operation || (!left && (made->getOperand(1) != load || !made->isCommutative())))
    return std::nullopt;
  Value *operand = made->getOperand(left ? 1 : 0);
  if (operand == load)
    return std::nullopt;
  if (const auto *computed = dyn_cast<Instruction>(operand);
      computed != nullptr && computed->getParent() == load->getParent() &&
      !computed->comesBefore(load))
    return std::nullopt;
  return Update{load, store, *operation, operand};
}

bool is_single(ArrayRef<Instruction *> shared) {
  // The body of a variadic section takes other arguments.
  if (shared.empty() || shared.size() > 2 || shared.front()->getFunction()->isVarArg() ||
      !all_of(shared, [](const Instruction *each) { return is_simple_word(*each); }) ||
      is_repeated(*shared.front()->getParent()))
    return false;
  return shared.size() == 1 || update_of(*shared[0], *shared[1]).has_value();
}

// libitm's ABI or ours, called by the program itself.
bool has_own_transactions(const Module &module) {
  return any_of(module, [](const Function &function) {
    return function.getName().starts_with("_ITM_") || function.getName().starts_with("tandem_");
  });
}

// Calls the runtime at `before` where it counts. It looks at the runtime's variable for nothing
// else, so that what runs otherwise pays a load and a branch.
void count_at(Instruction &before, Constant *descriptor) {
  Module &module = *before.getModule();
  IRBuilder<> builder(&before);
  Value *counts = builder.CreateIsNotNull(builder.CreateLoad(
      builder.getInt8Ty(), module.getOrInsertGlobal("_TANDEM_profiled", builder.getInt8Ty())));
  Instruction *call =
      SplitBlockAndInsertIfThen(counts, &before, /*Unreachable=*/false,
                                MDBuilder(module.getContext()).createUnlikelyBranchWeights());
  builder.SetInsertPoint(call);
  FunctionCallee count = module.getOrInsertFunction(
      "_TANDEM_count", FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false));
  cast<Function>(count.getCallee())->setDoesNotThrow();
  builder.CreateCall(count, {descriptor});
}

} // namespace

std::set<std::size_t> single_operations(const Module &module, const Report &report,
                                        ArrayRef<SharedInstructions> all) {
  std::set<std::size_t> singles;
  if (has_own_transactions(module))
    return singles;
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < report.sections.size(); ++i)
    index[report.sections[i].name] = i;
  for (const auto &[i, shared] : all)
    if (is_single(shared) && report.sections[i].klass == SectionClass::pure &&
        !is_contained(report.sections[i].colours, kProcessColour))
      singles.insert(i);
  for (bool changed = true; changed;) {
    changed = std::erase_if(singles, [&](std::size_t i) {
                return any_of(report.sections[i].conflicts, [&](const ReportConflict &conflict) {
                  return !singles.contains(index.at(conflict.with));
                });
              }) != 0;
  }
  return singles;
}

void build_atomic(Function &section, const Function &body, ArrayRef<Instruction *> operation,
                  Constant *descriptor) {
  ValueToValueMapTy map;
  for (auto [from, to] : zip(body.args(), section.args())) {
    to.setName(from.getName());
    map[&from] = &to;
  }
  SmallVector<ReturnInst *> returns;
  CloneFunctionInto(&section, &body, map, CloneFunctionChangeType::LocalChangesOnly, returns);
  Instruction *first = cast<Instruction>(map.lookup(operation.front()));
  count_at(*first, descriptor);
  if (operation.size() == 1) {
    if (auto *load = dyn_cast<LoadInst>(first))
      load->setAtomic(AtomicOrdering::SequentiallyConsistent);
    else
      cast<StoreInst>(first)->setAtomic(AtomicOrdering::SequentiallyConsistent);
    return;
  }
  const Update update = *update_of(*first, *cast<Instruction>(map.lookup(operation.back())));
  IRBuilder<> builder(update.load);
  Value *before =
      builder.CreateAtomicRMW(update.operation, update.load->getPointerOperand(), update.operand,
                              update.load->getAlign(), AtomicOrdering::SequentiallyConsistent);
  update.load->replaceAllUsesWith(before);
  update.load->eraseFromParent();
  update.store->eraseFromParent();
}

} // namespace tandem
