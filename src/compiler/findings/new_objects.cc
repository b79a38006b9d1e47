// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/new_objects.h"

#include "compiler/effects/unpublished.h"
#include "compiler/findings/place.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>

namespace tandem {

using namespace llvm;

// Whether two addresses of a function are in one object, by its text.
bool are_in_one_object(const Value &a, const Value &b) {
  const Value *one = getUnderlyingObject(&a, /*MaxLookup=*/0);
  const Value *other = getUnderlyingObject(&b, /*MaxLookup=*/0);
  return one == other || same_value(*one, *other);
}

namespace {

// Whether a call makes an object at `address`.
bool constructs(const CallBase &call, const Value &address) {
  const Function *callee = called_function(call);
  return callee != nullptr && call.arg_size() > 0 && call.getArgOperand(0) == &address &&
         is_constructor(*callee) &&
         none_of(drop_begin(call.args()), [&](const Use &use) { return use.get() == &address; });
}

// Whether a pointer leads into a local variable, or into the object under construction, whose
// address has not been published before `at`.
bool is_being_made(const Value &pointer, const Instruction &at, const PointsToAnalysis &points_to) {
  const Value *object = getUnderlyingObject(&pointer, /*MaxLookup=*/0);
  if (isa<AllocaInst>(object))
    return is_untold(*object, &at, points_to);
  const std::optional<Origin> origin = origin_of(&pointer, at.getModule()->getDataLayout());
  return origin && origin->argument == 0 && origin->offsets.size() == 1 &&
         is_constructor(*at.getFunction()) &&
         is_untold(*at.getFunction()->getArg(0), &at, points_to);
}

// The object that a variable holds which is set once: an argument, an allocation.
const Value &root_of(const Value &object) {
  const auto *load = dyn_cast<LoadInst>(&object);
  if (load == nullptr || !is_plain_variable(*load->getPointerOperand()))
    return object;
  const StoreInst *set = only_store(*load->getPointerOperand());
  return set == nullptr ? object : *set->getValueOperand();
}

// Whether an instruction may see what another thread does, without a lock.
bool asks_others(const Instruction &instruction) {
  return instruction.isAtomic() || (isa<LoadInst>(instruction) && instruction.isVolatile());
}

} // namespace

// What a function does to a lock's life.
std::optional<NewObjects::LockLife> NewObjects::lock_life(StringRef name) {
  return StringSwitch<std::optional<LockLife>>(name)
      .Cases("pthread_mutex_init", "pthread_rwlock_init", "pthread_spin_init", "mtx_init",
             LockLife::begins)
      .Cases("pthread_mutex_destroy", "pthread_rwlock_destroy", "pthread_spin_destroy",
             "mtx_destroy", LockLife::ends)
      .Default(std::nullopt);
}

bool NewObjects::contain(const Value &pointer, const Instruction &at, const CallsOf &calls_of,
                         unsigned depth) {
  constexpr unsigned kMostDeep = 4; // constructors of members and bases
  const Function *function = at.getFunction();
  const std::optional<Origin> origin = origin_of(&pointer, view_.module.getDataLayout());
  const auto calls = calls_of.find(function);
  if (is_being_made(pointer, at, view_.points_to) || is_of_lock_made(pointer, at))
    return true;
  return depth < kMostDeep && origin && origin->offsets.size() == 1 && calls != calls_of.end() &&
         all_of(
             calls->second,
             [&](const CallBase *call) {
               if (called_function(*call) != function || origin->argument >= call->arg_size())
                 return false;
               const Value &given = *call->getArgOperand(origin->argument);
               const bool begins = // here, whatever this variable held before
                   isa<AllocaInst>(getUnderlyingObject(&given, 0)) && constructs(*call, given);
               return begins || is_unpublished(given, *call, view_.points_to) ||
                      contain(given, *call, calls_of, depth + 1);
             });
}

// Whether the lock is a field of the record that the pointer points into, and the call gets the
// address of the lock: a call that gets the address of the record may do more than initialise it.
bool NewObjects::is_of_record(const LockMade &made, const Value &pointer) {
  const Value *record = &root_of(*made.lock->stripInBoundsConstantOffsets());
  const bool itself = &root_of(*made.lock) != record ||
                      lock_life(called_function(*made.call)->getName()).has_value();
  return itself && record == &root_of(*pointer.stripInBoundsConstantOffsets());
}

// Whether the function alone has the object at this point: it writes the object and initialises the
// object's lock afterwards; it has initialised the lock and not yet published the object; it has
// destroyed the lock, or destroys it on every path from here before it waits for another thread.
bool NewObjects::is_of_lock_made(const Value &pointer, const Instruction &at) {
  const Value *object = getUnderlyingObject(&pointer, /*MaxLookup=*/0);
  if (isa<GlobalVariable>(object))
    return false;
  return any_of(locks_made_in(*at.getFunction()), [&](const LockMade &made) {
    if (!are_in_one_object(pointer, *made.lock))
      return false;
    const bool before = may_follow(*made.call, at) && !may_follow(at, *made.call);
    const bool behind = may_follow(at, *made.call) && !may_follow(*made.call, at);
    if (made.life == LockLife::begins)
      return (before && at.mayWriteToMemory() && is_of_record(made, pointer)) ||
             (behind && is_untold(root_of(*object), &at, view_.points_to));
    return behind || (!may_follow(at, *made.call) && leads_to(at, *made.call));
  });
}

// Whether each way from an instruction comes to a call before the function ends, and before
// anything that may wait for another thread.
bool NewObjects::leads_to(const Instruction &from, const CallBase &call) {
  DenseSet<const BasicBlock *> seen;
  std::vector<const Instruction *> work{&from};
  while (!work.empty()) {
    const Instruction *at = work.back();
    work.pop_back();
    for (; at != &call && !at->isTerminator(); at = at->getNextNode())
      if (const auto *other = dyn_cast<CallBase>(at);
          asks_others(*at) || (other != nullptr && may_wait(*other)))
        return false;
    if (at == &call)
      continue;
    const auto *invoke = dyn_cast<InvokeInst>(at);
    if (at->getNumSuccessors() == 0 || (invoke != nullptr && may_wait(*invoke)))
      return false;
    for (const BasicBlock *next : successors(at->getParent()))
      if (seen.insert(next).second)
        work.push_back(&next->front());
  }
  return true;
}

// Whether a call may wait for another thread: it takes a lock, creates or joins threads, waits by
// its name, or calls by pointer, itself or in what it calls.
bool NewObjects::may_wait(const CallBase &call) {
  const Function *callee = called_function(call);
  if (isa<IntrinsicInst>(call) || (callee != nullptr && lock_life(callee->getName())))
    return false;
  if (callee == nullptr || view_.locks.at(call) != nullptr || phases_.changes_at(call))
    return true;
  if (callee->isDeclaration())
    return any_of(ArrayRef<StringRef>{"wait", "join", "barrier", "sleep", "poll", "select"},
                  [&](StringRef word) { return callee->getName().contains(word); });
  const auto [known, fresh] = may_wait_.try_emplace(callee, true); // if it calls itself
  if (!fresh)
    return known->second;
  const bool waits = any_of(instructions(*callee), [&](const Instruction &instruction) {
    const auto *inner = dyn_cast<CallBase>(&instruction);
    return asks_others(instruction) || (inner != nullptr && may_wait(*inner));
  });
  return may_wait_[callee] = waits;
}

const std::vector<NewObjects::LockMade> &NewObjects::locks_made_in(const Function &function,
                                                                   unsigned steps) {
  const auto [known, fresh] = locks_made_.try_emplace({&function, steps});
  std::vector<LockMade> &made = known->second;
  if (!fresh)
    return made;
  for (const Instruction &instruction : instructions(function)) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    if (callee == nullptr || call->arg_size() == 0)
      continue;
    if (const auto life = lock_life(callee->getName())) {
      made.push_back({call, call->getArgOperand(0), *life});
    } else if (steps > 0 && !callee->isDeclaration() && callee != &function) {
      for (const LockMade &inner : locks_made_in(*callee, steps - 1))
        if (const auto origin = origin_of(inner.lock, callee->getDataLayout());
            origin && origin->offsets.size() == 1 && origin->argument < call->arg_size())
          made.push_back({call, call->getArgOperand(origin->argument), inner.life});
    }
  }
  return made;
}

} // namespace tandem
