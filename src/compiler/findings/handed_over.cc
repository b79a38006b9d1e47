// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/handed_over.h"

#include "compiler/effects/unpublished.h"
#include "compiler/findings/new_objects.h"
#include "compiler/findings/place.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/origin.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace tandem {

using namespace llvm;

HandedOver::HandedOver(const AnalysisView &view) : view_(view) {
  for (const Section &section : view.sections) {
    if (section.kind != SectionKind::function)
      inside_.insert(section.body.begin(), section.body.end());
    if (section.kind == SectionKind::lock_region && section.entry.operation == LockOperation::wait)
      waits_[section.function].push_back(section.entry.call);
  }
  for (const SignalSite &signal : view.locks.signals())
    signals_[signal.call->getFunction()].push_back(signal.call);
}

namespace {

// Whether a store in a loop is of the address of an element by a number that the loop changes.
bool is_next_element(const StoreInst &set) {
  const auto *element = dyn_cast<GetElementPtrInst>(set.getValueOperand());
  if (element == nullptr || !may_follow(set, set))
    return false;
  const Value *index = element->getOperand(element->getNumOperands() - 1);
  while (const auto *cast = dyn_cast<CastInst>(index))
    index = cast->getOperand(0);
  const auto *load = dyn_cast<LoadInst>(index);
  return load != nullptr && is_plain_variable(*load->getPointerOperand()) &&
         any_of(load->getPointerOperand()->users(), [&](const User *user) {
           const auto *step = dyn_cast<StoreInst>(user);
           return step != nullptr && may_follow(*step, set) && may_follow(set, *step);
         });
}

} // namespace

bool HandedOver::is_behind_wait(const Value &pointer, const Instruction &at, const Way &way) {
  SmallPtrSet<const Value *, 8> assumed;
  return is_behind_wait(pointer, at, way, assumed);
}

// `assumed`: variables that are looked at, which hold what was handed over if all else that is
// stored to them is: who goes through a list stores what the variable leads to.
bool HandedOver::is_behind_wait(const Value &pointer, const Instruction &at, const Way &way,
                                SmallPtrSetImpl<const Value *> &assumed) {
  const Function *function = at.getFunction();
  const Value *object = getUnderlyingObject(&pointer, /*MaxLookup=*/0);
  if (const auto *argument = dyn_cast<Argument>(object)) {
    const CallBase *call = way.lookup(function);
    return call != nullptr && (called_function(*call) == function || call->isIndirectCall()) &&
           argument->getArgNo() < call->arg_size() && assumed.insert(argument).second &&
           is_behind_wait(*call->getArgOperand(argument->getArgNo()), *call, way, assumed);
  }
  if (const auto *call = dyn_cast<CallBase>(object))
    return waits_.contains(called_function(*call)) &&
           none_of(call->args(), [&](const Value *given) { return same_value(*given, *call); });
  const auto *load = dyn_cast<LoadInst>(object);
  if (load == nullptr)
    return false;
  if (is_plain_variable(*load->getPointerOperand())) {
    if (!assumed.insert(load->getPointerOperand()).second)
      return true;
    bool any = false;
    for (const User *user : load->getPointerOperand()->users())
      if (const auto *store = dyn_cast<StoreInst>(user);
          store != nullptr && !isa<ConstantPointerNull>(store->getValueOperand())) {
        if (!is_behind_wait(*store->getValueOperand(), *store, way, assumed))
          return false;
        any = true;
      }
    return any;
  }
  const auto handed = [&](const Instruction *wait) {
    return may_follow(*load, *wait) && none_of(cast<CallBase>(wait)->args(), [&](const Value *of) {
             return of->getType()->isPointerTy() && are_in_one_object(*load, *of);
           });
  };
  if (inside_.contains(load) && any_of(waits_before(*function), handed))
    return true;
  return is_behind_wait(*load->getPointerOperand(), *load, way, assumed);
}

bool HandedOver::is_before_signal(const Value &pointer, const Instruction &at) {
  SmallPtrSet<const Value *, 8> assumed;
  return signals_.contains(at.getFunction()) && is_before_signal(pointer, at, assumed);
}

// `assumed`: as above.
bool HandedOver::is_before_signal(const Value &pointer, const Instruction &at,
                                  SmallPtrSetImpl<const Value *> &assumed) {
  const Value *object = getUnderlyingObject(&pointer, /*MaxLookup=*/0);
  const auto *load = dyn_cast<LoadInst>(object);
  if (load == nullptr)
    return isa<Argument, CallBase>(object) && is_handed_on(*object, at);
  const Value *variable = load->getPointerOperand();
  if (!is_plain_variable(*variable))
    return is_before_signal(*variable, at, assumed);
  if (!assumed.insert(variable).second)
    return true;
  bool any = false;
  for (const User *user : variable->users())
    if (const auto *store = dyn_cast<StoreInst>(user);
        store != nullptr && !isa<ConstantPointerNull>(store->getValueOperand())) {
      if (!is_before_signal(*store->getValueOperand(), at, assumed))
        return false;
      any = true;
    }
  return any;
}

// Whether the function stores a pointer in a section later, where others find it, and signals a
// condition then.
bool HandedOver::is_handed_on(const Value &object, const Instruction &at) {
  const Function &function = *at.getFunction();
  return any_of(instructions(function), [&](const Instruction &instruction) {
    const auto *store = dyn_cast<StoreInst>(&instruction);
    if (store == nullptr || !inside_.contains(store) ||
        isa<AllocaInst>(store->getPointerOperand()) || !may_follow(*store, at) ||
        may_follow(at, *store) || are_in_one_object(*store->getPointerOperand(), object))
      return false;
    SmallPtrSet<const Value *, 4> stored;
    sources(store->getValueOperand(), stored);
    return stored.size() == 1 && *stored.begin() == &object &&
           any_of(signals_.at(&function),
                  [&](const Instruction *signal) { return may_follow(*signal, *store); });
  });
}

bool HandedOver::is_for_new_thread(const Value &pointer, const Instruction &at,
                                   const std::vector<const CallBase *> &creations) {
  const Value *object = getUnderlyingObject(&pointer, /*MaxLookup=*/0);
  const auto *load = dyn_cast<LoadInst>(object);
  if (load == nullptr || !is_plain_variable(*load->getPointerOperand()))
    return false;
  // Where the variable gets the object.
  const StoreInst *set = only_store(*load->getPointerOperand());
  return set != nullptr && is_next_element(*set) && !creations.empty() &&
         all_of(creations, [&](const CallBase *call) {
           return call->getFunction() == at.getFunction() && may_follow(*call, at, set) &&
                  !may_follow(at, *call, set) && any_of(call->args(), [&](const Value *given) {
                    return given->getType()->isPointerTy() && same_value(*given, *object);
                  });
         });
}

bool HandedOver::is_for_new_thread(const Value &pointer, const Instruction &at) const {
  return any_of(view_.points_to.spawns(), [&](const PointsToAnalysis::Spawn &spawn) {
    return spawn.when == Callback::When::thread && is_for_new_thread(pointer, at, {spawn.call});
  });
}

// Where a function waits for a condition, itself or in what it calls by name.
const std::vector<const Instruction *> &HandedOver::waits_before(const Function &function) {
  const auto [known, fresh] = waiting_.try_emplace(&function);
  if (!fresh)
    return known->second;
  if (const auto own = waits_.find(&function); own != waits_.end())
    append_range(known->second, own->second);
  for (const Instruction &instruction : instructions(function)) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    if (call != nullptr && waits_.contains(called_function(*call)))
      known->second.push_back(call);
  }
  return known->second;
}

} // namespace tandem
