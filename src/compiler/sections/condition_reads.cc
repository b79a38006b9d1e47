// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/condition_reads.h"

#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/origin.h"
#include "compiler/sections/unwrap.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IntrinsicInst.h"

#include <fmt/format.h>

namespace tandem {
namespace {

using namespace llvm;

const AllocaInst *private_slot(const Value &address) {
  const auto *slot = dyn_cast<AllocaInst>(getUnderlyingObject(&address));
  return slot != nullptr && !PointerMayBeCaptured(slot, /*ReturnCaptures=*/true,
                                                  /*StoreCaptures=*/true)
             ? slot
             : nullptr;
}

bool is_in_cycle(const BasicBlock &block) {
  SmallPtrSet<const BasicBlock *, 16> seen;
  SmallVector<const BasicBlock *, 16> work(succ_begin(&block), succ_end(&block));
  while (!work.empty()) {
    const BasicBlock *next = work.pop_back_val();
    if (next == &block)
      return true;
    if (seen.insert(next).second)
      append_range(work, successors(next));
  }
  return false;
}

std::string place_of(const Instruction &instruction) {
  const DILocation *place = operation_place(instruction);
  return place == nullptr ? ""
                          : fmt::format(" ({}:{})", place->getFilename().str(), place->getLine());
}

// Whether a read always gives one value within a call of its function.
bool never_changes(const LoadInst &read) {
  const Value *object = getUnderlyingObject(read.getPointerOperand());
  if (const auto *global = dyn_cast<GlobalVariable>(object))
    return global->isConstant();
  const auto *slot = dyn_cast<AllocaInst>(object);
  const StoreInst *store = slot == nullptr ? nullptr : only_store(*slot);
  return store != nullptr && !is_in_cycle(*store->getParent());
}

} // namespace

bool is_flag(const AllocaInst &slot) {
  if (!slot.getAllocatedType()->isIntegerTy() && !slot.getAllocatedType()->isPointerTy())
    return false;
  for (const User *user : slot.users()) {
    if (const auto *load = dyn_cast<LoadInst>(user)) {
      if (load->getType() != slot.getAllocatedType())
        return false;
      continue;
    }
    const auto *store = dyn_cast<StoreInst>(user);
    if (store != nullptr && store->getValueOperand()->getType() != slot.getAllocatedType())
      return false;
    const auto *intrinsic = dyn_cast<IntrinsicInst>(user);
    if (store != nullptr ? store->getPointerOperand() != &slot
                         : intrinsic == nullptr || !intrinsic->isLifetimeStartOrEnd())
      return false;
  }
  return true;
}

bool is_private(const Value &address) { return private_slot(address) != nullptr; }

const StoreInst *only_store(const AllocaInst &slot) {
  const StoreInst *only = nullptr;
  for (const User *user : slot.users())
    if (const auto *store = dyn_cast<StoreInst>(user)) {
      if (only != nullptr)
        return nullptr;
      only = store;
    }
  return is_flag(slot) ? only : nullptr;
}

bool find_reads(const Value *a, const Value *b, Loads &of_a, Loads &of_b, unsigned depth) {
  const auto *left = dyn_cast<Instruction>(a);
  const auto *right = dyn_cast<Instruction>(b);
  if ((left == nullptr && right == nullptr) || (left == right && !is_in_cycle(*left->getParent())))
    return true;
  if (depth > 16)
    return false;
  const auto *one = dyn_cast<LoadInst>(a);
  const auto *other = dyn_cast<LoadInst>(b);
  const bool one_variable = one != nullptr && other != nullptr &&
                            one->getPointerOperand() == other->getPointerOperand() &&
                            isa<AllocaInst>(one->getPointerOperand());
  if (one_variable && never_changes(*one))
    return true;
  // A variable that only passes on what was computed before.
  const auto passed = [](const LoadInst *load) -> const Value * {
    const auto *slot = load == nullptr ? nullptr : dyn_cast<AllocaInst>(load->getPointerOperand());
    const StoreInst *store = slot == nullptr ? nullptr : only_store(*slot);
    return store == nullptr ? nullptr : store->getValueOperand();
  };
  if (!one_variable) {
    if (const Value *value = passed(one))
      return find_reads(value, b, of_a, of_b, depth + 1);
    if (const Value *value = passed(other))
      return find_reads(a, value, of_a, of_b, depth + 1);
  }
  if (left == nullptr || right == nullptr || left->getNumOperands() != right->getNumOperands())
    return false;
  if (one != nullptr && other != nullptr) {
    of_a.insert(one);
    of_b.insert(other);
  }
  for (const auto &[from, to] : zip(left->operands(), right->operands()))
    if (!find_reads(from.get(), to.get(), of_a, of_b, depth + 1))
      return false;
  return true;
}

bool writes(const Instruction &by, const LoadInst &read, const LockCalls &calls, Changes *changes) {
  if (!by.mayWriteToMemory() || isa<LoadInst>(by) || never_changes(read))
    return false;
  const auto *store = dyn_cast<StoreInst>(&by);
  if (store != nullptr && same_value(*read.getPointerOperand(), *store->getPointerOperand()))
    return true;
  if (changes == nullptr)
    return false;
  if (const AllocaInst *slot = private_slot(*read.getPointerOperand())) {
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&by);
        intrinsic != nullptr && intrinsic->isLifetimeStartOrEnd())
      return false;
    return any_of(by.operands(), [&](const Use &operand) {
      return operand->getType()->isPointerTy() && getUnderlyingObject(operand.get()) == slot &&
             (store == nullptr || operand.get() == store->getPointerOperand());
    });
  }
  // What the operation on a lock itself does to memory is the lock's.
  const LockSite *site = calls.at(by);
  if (site != nullptr && site->wrapper == nullptr)
    return false;
  return changes->may_write(by, read);
}

const Instruction *written_before(const BranchInst &branch, const LoadInst &read,
                                  const LockCalls &calls, Changes *changes) {
  SmallPtrSet<const BasicBlock *, 8> seen;
  SmallVector<const BasicBlock *, 8> work{branch.getParent()};
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    bool met = false;
    for (const Instruction &earlier : reverse(*block)) {
      met = &earlier == &read;
      if (met)
        break;
      if (writes(earlier, read, calls, changes))
        return &earlier;
    }
    if (!met)
      for (const BasicBlock *previous : predecessors(block))
        if (seen.insert(previous).second)
          work.push_back(previous);
  }
  return nullptr;
}

std::string doubt_of(const LoadInst &read, const Instruction &by, bool beside) {
  const auto *call = dyn_cast<CallBase>(&by);
  const Function *callee = call == nullptr ? nullptr : called_function(*call);
  const std::string how = beside ? "another thread may write it"
                          : callee != nullptr && !callee->isIntrinsic()
                              ? fmt::format("{} may write it", shown_name(*callee))
                          : call != nullptr && !isa<IntrinsicInst>(call)
                              ? "a call by pointer may write it"
                              : "it may be written";
  return fmt::format("'{}', by which it is acquired and released, may change in between: {}{}",
                     access_path(read.getPointerOperand(), 0).print(), how, place_of(by));
}

} // namespace tandem
