// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/instrument/captured.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tandem {
namespace {

using namespace llvm;

constexpr const char *kFresh = "tandem-fresh";

bool is_address_of(const User &user) {
  return isa<GetElementPtrInst>(user) || isa<BitCastInst>(user);
}

// Whether the user accesses `pointer` and does nothing else with it: what barriers and plain code
// do alike.
bool only_accesses(const User &user, const Value &pointer) {
  if (const auto *store = dyn_cast<StoreInst>(&user))
    return store->getValueOperand() != &pointer && !store->isAtomic();
  if (const auto *load = dyn_cast<LoadInst>(&user))
    return !load->isAtomic();
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&user))
    return isa<MemIntrinsic>(intrinsic) || intrinsic->isAssumeLikeIntrinsic();
  return isa<ICmpInst>(user);
}

} // namespace

void mark_fresh(Argument &argument) {
  argument.getParent()->addParamAttr(argument.getArgNo(),
                                     Attribute::get(argument.getContext(), kFresh));
}

Captured::Captured(Function &function, IsFresh is_fresh)
    : tree_(function), is_fresh_(std::move(is_fresh)) {}

// Where something else may come to know the address: as an argument, as a value in memory, or under
// another name.
const SmallVector<const Instruction *, 4> &Captured::escapes_of(const Value &root) {
  const auto [entry, fresh] = escapes_.try_emplace(&root);
  if (!fresh)
    return entry->second;
  SmallVector<const Value *, 8> work{&root};
  SmallPtrSet<const Value *, 16> seen;
  while (!work.empty()) {
    const Value *pointer = work.pop_back_val();
    for (const User *user : pointer->users())
      if (is_address_of(*user)) {
        if (seen.insert(user).second)
          work.push_back(user);
      } else if (!only_accesses(*user, *pointer) && !isa<ReturnInst>(user)) {
        entry->second.push_back(cast<Instruction>(user));
      }
  }
  return entry->second;
}

bool Captured::holds(const Value *address, const Instruction &at) {
  const Value *object = getUnderlyingObject(address, 0);
  if (const auto *argument = dyn_cast<Argument>(object))
    return argument->getParent()->getAttributes().hasParamAttr(argument->getArgNo(), kFresh) &&
           none_of(escapes_of(*argument), [&](const Instruction *escape) {
             return isPotentiallyReachable(escape, &at, /*ExclusionSet=*/nullptr, &tree_);
           });
  const auto *root = dyn_cast<CallBase>(object);
  if (root == nullptr || !is_fresh_(*root))
    return false;
  return none_of(escapes_of(*root),
                 [&](const Instruction *escape) { return may_precede(*escape, at, *root); });
}

// Whether control may get from `escape` to `at` without coming by `root`, which makes another
// object that nobody knows yet. `root` is not behind a phi, so `at` means the one made last.
bool Captured::may_precede(const Instruction &escape, const Instruction &at, const CallBase &root) {
  const BasicBlock *made = root.getParent();
  if (escape.getParent() == made) {
    // Before `root` there are only phis, which name an object made earlier.
    if (!root.comesBefore(&escape))
      return false;
    if (at.getParent() == made)
      return !at.comesBefore(&escape);
  } else if (at.getParent() == made) {
    return false; // the block begins above `root`
  } else if (escape.getParent() == at.getParent() && !at.comesBefore(&escape)) {
    return true;
  }
  // Not by isPotentiallyReachable of two instructions or blocks: that does not leave a block to be
  // avoided even where it begins there.
  SmallVector<BasicBlock *, 8> next(successors(const_cast<BasicBlock *>(escape.getParent())));
  const SmallPtrSet<BasicBlock *, 1> again{const_cast<BasicBlock *>(made)};
  return !next.empty() && isPotentiallyReachableFromMany(next, at.getParent(), &again, &tree_);
}

bool returns_captured(const Function &function, const IsFresh &is_fresh) {
  SmallPtrSet<const Value *, 4> roots;
  for (const BasicBlock &block : function) {
    const auto *result = dyn_cast<ReturnInst>(block.getTerminator());
    if (result == nullptr)
      continue;
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(result->getReturnValue(), objects, nullptr, /*MaxLookup=*/0);
    for (const Value *object : objects) {
      if (isa<ConstantPointerNull>(object))
        continue;
      const auto *call = dyn_cast<CallBase>(object);
      if (call == nullptr || !is_fresh(*call))
        return false;
      roots.insert(call);
    }
  }
  // Behind a phi only comparisons and the return: a write there would be a barrier's.
  SmallVector<std::pair<const Value *, bool>, 8> work;
  for (const Value *root : roots)
    work.emplace_back(root, false);
  SmallPtrSet<const Value *, 16> seen;
  while (!work.empty()) {
    const auto [pointer, merged] = work.pop_back_val();
    for (const User *user : pointer->users()) {
      if (isa<ReturnInst>(user) || isa<ICmpInst>(user))
        continue;
      const bool merges = isa<PHINode>(user) || isa<SelectInst>(user);
      if (merges || (is_address_of(*user) && !merged)) {
        if (seen.insert(user).second)
          work.emplace_back(user, merged || merges);
      } else if (merged || !only_accesses(*user, *pointer)) {
        return false;
      }
    }
  }
  return !roots.empty();
}

} // namespace tandem
