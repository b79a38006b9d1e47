// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/effects/unpublished.h"

#include "compiler/sections/called_function.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <map>
#include <vector>

namespace tandem {
namespace {

using namespace llvm;

bool allocates(const Value *value, const PointsToAnalysis &points_to) {
  const auto *call = dyn_cast<CallBase>(value);
  const Function *callee = call == nullptr ? nullptr : called_function(*call);
  return callee != nullptr && !callee->isIntrinsic() && points_to.returns_new(*callee);
}

// Whether a use of a pointer tells others where it leads.
bool publishes(const Use &use, const PointsToAnalysis &points_to) {
  if (const auto *store = dyn_cast<StoreInst>(use.getUser()))
    return use.get() == store->getValueOperand();
  if (isa<AtomicCmpXchgInst, AtomicRMWInst>(use.getUser()))
    return use.getOperandNo() != 0; // not as the address
  const auto *call = dyn_cast<CallBase>(use.getUser());
  if (call == nullptr || is_marker(*call) || !call->isArgOperand(&use))
    return false;
  const Function *callee = called_function(*call);
  if (callee == nullptr || !callee->isDeclaration())
    return true;
  // What is called back, in another thread perhaps, is given it.
  return !callee->isIntrinsic() &&
         (!points_to.entry(*callee).callbacks.empty() ||
          points_to.entry(*callee).captures.contains(call->getArgOperandNo(&use)));
}

} // namespace

bool is_marker(const Instruction &instruction) {
  const auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  return intrinsic != nullptr &&
         (intrinsic->isAssumeLikeIntrinsic() || intrinsic->doesNotAccessMemory()) &&
         !intrinsic->getType()->isPtrOrPtrVectorTy(); // which may be one that it is given
}

bool may_follow(const Instruction &to, const Instruction &from, const Instruction *but_by) {
  const auto is_between = [&](const Instruction &begin, const Instruction &end) {
    return but_by != nullptr && but_by->getParent() == end.getParent() &&
           begin.comesBefore(but_by) && but_by->comesBefore(&end);
  };
  const BasicBlock *avoided = but_by == nullptr ? nullptr : but_by->getParent();
  if (from.getParent() == to.getParent() && from.comesBefore(&to))
    return !is_between(from, to);
  if (avoided == from.getParent() && from.comesBefore(but_by))
    return false;
  SmallPtrSet<const BasicBlock *, 32> seen;
  SmallVector<const BasicBlock *, 32> work(successors(from.getParent()));
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    if (block == to.getParent() && !(block == avoided && but_by->comesBefore(&to)))
      return true;
    if (block != avoided && seen.insert(block).second)
      append_range(work, successors(block));
  }
  return false;
}

bool is_plain_variable(const Value &address) {
  return isa<AllocaInst>(address) && all_of(address.uses(), [](const Use &use) {
           const auto *store = dyn_cast<StoreInst>(use.getUser());
           return isa<LoadInst>(use.getUser()) ||
                  (store != nullptr && use.get() == store->getPointerOperand() &&
                   store->getValueOperand() != use.get()) ||
                  (isa<Instruction>(use.getUser()) && is_marker(*cast<Instruction>(use.getUser())));
         });
}

namespace {

// Where a pointer comes from: `object` is the value that the instruction uses, a load of a variable
// or the allocation itself; `birth` gives the variable a new object, or is the allocation.
struct Born {
  const Instruction *object;
  const Instruction *birth;
};

// Whether the object that an instruction uses may have been known to others since `told`: this is
// between the two, or came before the object was read and no new one was made since.
bool was_told(const Instruction &told, const Instruction &instruction, const Born &born) {
  return may_follow(instruction, told, born.object) ||
         (born.object != nullptr && born.object != born.birth &&
          may_follow(*born.object, told, born.birth));
}

// The places where control may be once the object that `copy` leads to is known to others: uses of
// the pointer, and of what is computed from it, that tell them.
bool is_published_before(const Value &copy, const Instruction &instruction, const Born &born,
                         const PointsToAnalysis &points_to) {
  SmallPtrSet<const Value *, 8> seen;
  SmallVector<const Value *, 8> work{&copy};
  while (!work.empty()) {
    const Value *pointer = work.pop_back_val();
    if (!seen.insert(pointer).second)
      continue;
    for (const Use &use : pointer->uses()) {
      const auto *user = dyn_cast<Instruction>(use.getUser());
      if (user == nullptr)
        continue;
      const auto *store = dyn_cast<StoreInst>(user);
      if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst>(user) &&
          user->getType()->isPointerTy()) {
        work.push_back(user);
      } else if (store != nullptr && store->getValueOperand() == pointer &&
                 is_plain_variable(*store->getPointerOperand())) {
        for (const User *user_of : store->getPointerOperand()->users())
          if (const auto *load = dyn_cast<LoadInst>(user_of); load != nullptr) {
            if (load->getType()->isPointerTy())
              work.push_back(load);
            else if (was_told(*load, instruction, born)) // as a number
              return true;
          }
      } else if ((publishes(use, points_to) ||
                  isa<PtrToIntInst, InsertValueInst, InsertElementInst>(user)) &&
                 was_told(*user, instruction, born)) {
        return true;
      }
    }
  }
  return false;
}

// Finds the copies of the address of what `object` leads to, if it is one that its function has
// allocated, or, with `argument`, its caller's. `birth`: where it alone gets it, if one place does.
bool find_copies(const Value &object, const PointsToAnalysis &points_to,
                 std::vector<const Value *> &copies, const Argument **argument,
                 const Instruction *&birth) {
  const auto is_known = [&](const Value *value) {
    if (argument != nullptr && (*argument == nullptr || *argument == value) &&
        isa<Argument>(value)) {
      *argument = cast<Argument>(value);
      return true;
    }
    return (argument == nullptr || *argument == nullptr) && allocates(value, points_to);
  };
  copies.push_back(&object);
  birth = nullptr;
  const auto *load = dyn_cast<LoadInst>(&object);
  if (load == nullptr) {
    birth = dyn_cast<Instruction>(&object);
    return is_known(&object);
  }
  const auto *variable = dyn_cast<AllocaInst>(load->getPointerOperand());
  if (variable == nullptr)
    return false;
  bool known = false;
  for (const User *user : variable->users())
    if (const auto *store = dyn_cast<StoreInst>(user)) {
      const Value *stored = store->getValueOperand();
      if (store->getPointerOperand() != variable ||
          (!isa<ConstantPointerNull>(stored) && !is_known(stored)))
        return false;
      if (!isa<ConstantPointerNull>(stored)) {
        birth = known ? nullptr : store;
        copies.push_back(stored);
      }
      known = known || !isa<ConstantPointerNull>(stored);
    } else if (isa<LoadInst>(user)) {
      copies.push_back(user);
    } else if (!isa<Instruction>(user) || !is_marker(*cast<Instruction>(user))) {
      return false; // the variable's address is taken
    }
  return known;
}

bool is_unpublished(const Value &pointer, const Instruction &instruction,
                    const PointsToAnalysis &points_to, const Function *known_to, unsigned callers) {
  if (instruction.getFunction() == known_to)
    return false;
  std::vector<const Value *> copies;
  const Argument *argument = nullptr;
  const Value &object = *getUnderlyingObject(&pointer, /*MaxLookup=*/0);
  Born born{nullptr, nullptr};
  if (!find_copies(object, points_to, copies, callers == 0 ? nullptr : &argument, born.birth))
    return false;
  if (born.birth != nullptr)
    born.object = dyn_cast<Instruction>(&object);
  // Callers are asked first, which is cheap: most pass on an object that they have not allocated.
  const auto is_unpublished_in_caller = [&](const Use &use) {
    const auto *call = dyn_cast<CallBase>(use.getUser());
    return call != nullptr && call->isCallee(&use) && argument->getArgNo() < call->arg_size() &&
           is_unpublished(*call->getArgOperand(argument->getArgNo()), *call, points_to, known_to,
                          callers - 1);
  };
  if (argument != nullptr && (!argument->getParent()->hasLocalLinkage() ||
                              !all_of(argument->getParent()->uses(), is_unpublished_in_caller)))
    return false;
  return none_of(copies, [&](const Value *copy) {
    return is_published_before(*copy, instruction, born, points_to);
  });
}

} // namespace

bool is_unpublished(const Value &pointer, const Instruction &instruction,
                    const PointsToAnalysis &points_to, const Function *known_to) {
  return is_unpublished(pointer, instruction, points_to, known_to, /*callers=*/3);
}

namespace {

// The pointers into one object that its function computes from `addresses`, themselves included.
SmallSetVector<const Value *, 8> aliases_of(ArrayRef<const Value *> addresses) {
  SmallSetVector<const Value *, 8> aliases(addresses.begin(), addresses.end());
  for (unsigned i = 0; i < aliases.size(); ++i)
    for (const Use &use : aliases[i]->uses()) {
      const auto *store = dyn_cast<StoreInst>(use.getUser());
      const auto *call = dyn_cast<CallBase>(use.getUser());
      if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst>(use.getUser()) ||
          (call != nullptr && call->isArgOperand(&use) && call->getType()->isPointerTy())) {
        aliases.insert(use.getUser());
      } else if (store != nullptr && use.get() == store->getValueOperand() &&
                 is_plain_variable(*store->getPointerOperand())) {
        for (const User *user : store->getPointerOperand()->users())
          if (isa<LoadInst>(user))
            aliases.insert(user);
      }
    }
  return aliases;
}

// Whether functions tell others of what they are given.
class Tellers {
public:
  explicit Tellers(const PointsToAnalysis &points_to) : points_to_(points_to) {}

  // Whether no use of the addresses that may come before `at` does, or none at all; calls are
  // followed so many deep.
  bool leave_untold(ArrayRef<const Value *> addresses, const Instruction *at, unsigned calls) {
    const SmallSetVector<const Value *, 8> aliases = aliases_of(addresses);
    return all_of(aliases, [&](const Value *alias) {
      return all_of(alias->uses(), [&](const Use &use) {
        const auto *user = dyn_cast<Instruction>(use.getUser());
        return user != nullptr && (user == at || (at != nullptr && !may_follow(*at, *user)) ||
                                   !tells(use, aliases, calls));
      });
    });
  }

private:
  bool tells(const Use &use, const SmallSetVector<const Value *, 8> &aliases, unsigned calls) {
    const auto *call = dyn_cast<CallBase>(use.getUser());
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    if (callee != nullptr && !callee->isDeclaration() && !callee->isVarArg() &&
        callee->arg_size() == call->arg_size() && call->isArgOperand(&use)) {
      std::vector<const Value *> given;
      for (const Argument &argument : callee->args())
        if (aliases.contains(call->getArgOperand(argument.getArgNo())))
          given.push_back(&argument);
      if (calls == 0)
        return true;
      const auto [known, fresh] = tells_.try_emplace(given, true); // if it calls itself
      return fresh ? tells_[given] = !leave_untold(given, nullptr, calls - 1) : known->second;
    }
    const auto *store = dyn_cast<StoreInst>(use.getUser());
    if (store != nullptr && (is_plain_variable(*store->getPointerOperand()) ||
                             aliases.contains(getUnderlyingObject(store->getPointerOperand(), 0))))
      return false;
    return publishes(use, points_to_) ||
           isa<PtrToIntInst, InsertValueInst, InsertElementInst>(use.getUser());
  }

  const PointsToAnalysis &points_to_;
  std::map<std::vector<const Value *>, bool> tells_; // by arguments of functions
};

} // namespace

bool is_untold(const Value &address, const Instruction *at, const PointsToAnalysis &points_to) {
  constexpr unsigned kMostCalls = 8; // constructors of members and bases, and what they call
  return Tellers(points_to).leave_untold({&address}, at, kMostCalls);
}

} // namespace tandem
