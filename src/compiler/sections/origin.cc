// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/origin.h"

#include "compiler/sections/called_function.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

namespace tandem {
namespace {

using namespace llvm;

// Longer chains of loads and variables than this are no wrapper's.
constexpr unsigned kMaxDepth = 8;

// Whether nothing is done with a variable but to load from it, and to store this value there once.
bool only_passes_on(const AllocaInst &variable, const StoreInst &store) {
  return all_of(variable.users(), [&](const User *user) {
    const auto *intrinsic = dyn_cast<IntrinsicInst>(user);
    return user == &store || isa<LoadInst>(user) ||
           (intrinsic != nullptr && intrinsic->isLifetimeStartOrEnd());
  });
}

// The variable that a variable's address is stored in, if that is another name of it: what is
// loaded from there is only loaded from and stored to.
const AllocaInst *alias_by(const StoreInst &store) {
  const auto *alias = dyn_cast<AllocaInst>(store.getPointerOperand());
  return alias != nullptr && !store.isVolatile() && only_passes_on(*alias, store) &&
                 all_of(alias->users(),
                        [](const User *user) {
                          return !isa<LoadInst>(user) || all_of(user->users(), [&](const User *by) {
                            const auto *inner = dyn_cast<StoreInst>(by);
                            return isa<LoadInst>(by) ||
                                   (inner != nullptr && inner->getValueOperand() != user);
                          });
                        })
             ? alias
             : nullptr;
}

// The stores to a variable, by all of its names. False: its address gets elsewhere, as to a call
// that may write there.
bool find_stores(const AllocaInst &variable, SmallVectorImpl<const StoreInst *> &stores) {
  for (const User *user : variable.users()) {
    const auto *store = dyn_cast<StoreInst>(user);
    if (store == nullptr) {
      const auto *intrinsic = dyn_cast<IntrinsicInst>(user);
      if (!isa<LoadInst>(user) && (intrinsic == nullptr || !intrinsic->isLifetimeStartOrEnd()))
        return false;
      continue;
    }
    if (store->getPointerOperand() == &variable) {
      stores.push_back(store);
      continue;
    }
    const AllocaInst *alias = alias_by(*store);
    if (alias == nullptr)
      return false;
    for (const User *load : alias->users())
      for (const User *by : load->users())
        if (const auto *inner = dyn_cast<StoreInst>(by); inner != nullptr && isa<LoadInst>(load))
          stores.push_back(inner);
  }
  return true;
}

// What a load of a local variable that holds one value only reads; else the value itself.
const Value *through_variables(const Value *value) {
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    SmallPtrSet<const Value *, 4> found;
    sources(value, found);
    if (found.size() != 1 || *found.begin() == value)
      break;
    value = *found.begin();
  }
  return value;
}

bool same_value(const Value *a, const Value *b, unsigned depth) {
  a = through_variables(a);
  b = through_variables(b);
  if (a == b)
    return true;
  const auto *left = dyn_cast<Instruction>(a);
  const auto *right = dyn_cast<Instruction>(b);
  if (left == nullptr || right == nullptr || depth == 0 || isa<CallBase, PHINode>(left) ||
      !left->isSameOperationAs(right))
    return false;
  for (const auto &[one, other] : zip(left->operands(), right->operands()))
    if (!same_value(one.get(), other.get(), depth - 1))
      return false;
  return !isa<AllocaInst>(left);
}

} // namespace

bool same_value(const Value &a, const Value &b) { return same_value(&a, &b, kMaxDepth); }

bool same_address(const Value &a, std::int64_t offset_of_a, const Value &b,
                  std::int64_t offset_of_b, const DataLayout &layout) {
  const auto [left, before] = base_of(&a, layout);
  const auto [right, behind] = base_of(&b, layout);
  return before + offset_of_a == behind + offset_of_b && same_value(left, right, kMaxDepth);
}

void sources(const Value *value, SmallPtrSetImpl<const Value *> &found, unsigned depth) {
  value = value->stripPointerCasts();
  const auto *load = dyn_cast<LoadInst>(value);
  const AllocaInst *slot = load == nullptr ? nullptr : variable_at(load->getPointerOperand());
  if (slot == nullptr || depth > 4) {
    if (!isa<ConstantPointerNull>(value))
      found.insert(value);
    return;
  }
  SmallVector<const StoreInst *, 4> stores;
  if (!find_stores(*slot, stores))
    found.insert(value); // the variable's address escapes: anything may be in it
  for (const StoreInst *store : stores)
    sources(store->getValueOperand(), found, depth + 1);
}

const AllocaInst *variable_at(const Value *pointer) {
  if (const auto *variable = dyn_cast<AllocaInst>(pointer))
    return variable;
  const auto *load = dyn_cast<LoadInst>(pointer);
  const auto *alias = load == nullptr ? nullptr : dyn_cast<AllocaInst>(load->getPointerOperand());
  if (alias == nullptr)
    return nullptr;
  const StoreInst *only = nullptr;
  for (const User *user : alias->users())
    if (const auto *store = dyn_cast<StoreInst>(user); store != nullptr) {
      if (only != nullptr)
        return nullptr;
      only = store;
    }
  const auto *variable = only == nullptr ? nullptr : dyn_cast<AllocaInst>(only->getValueOperand());
  return variable != nullptr && alias_by(*only) == alias ? variable : nullptr;
}

const StoreInst *single_store(const AllocaInst &variable) {
  SmallVector<const StoreInst *, 4> stores;
  return find_stores(variable, stores) && stores.size() == 1 &&
                 stores.front()->getValueOperand()->getType() == variable.getAllocatedType()
             ? stores.front()
             : nullptr;
}

std::pair<const Value *, std::int64_t> base_of(const Value *address, const DataLayout &layout) {
  std::int64_t offset = 0;
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    address = address->stripPointerCastsSameRepresentation();
    if (const auto *gep = dyn_cast<GEPOperator>(address)) {
      APInt constant(layout.getIndexTypeSizeInBits(gep->getType()), 0);
      if (!gep->accumulateConstantOffset(layout, constant))
        break;
      offset += constant.getSExtValue();
      address = gep->getPointerOperand();
      continue;
    }
    if (const auto *call = dyn_cast<CallBase>(address)) {
      const Function *callee = called_function(*call);
      if (callee == nullptr)
        break;
      if (const auto *number = is_element_of_array(*callee)
                                   ? dyn_cast<ConstantInt>(call->getArgOperand(1))
                                   : nullptr;
          number != nullptr && call->getRetDereferenceableBytes() != 0)
        offset +=
            number->getSExtValue() * static_cast<std::int64_t>(call->getRetDereferenceableBytes());
      else if (!returns_its_argument(*callee))
        break;
      address = call->getArgOperand(0);
      continue;
    }
    SmallPtrSet<const Value *, 4> found;
    sources(address, found);
    if (found.size() != 1 || *found.begin() == address)
      break;
    address = *found.begin();
  }
  return {address, offset};
}

std::optional<Origin> origin_of(const Value *value, const DataLayout &layout, unsigned depth) {
  const auto [base, offset] = base_of(value, layout);
  if (const auto *argument = dyn_cast<Argument>(base))
    return Origin{argument->getArgNo(), {offset}};
  const auto *load = dyn_cast<LoadInst>(base);
  if (load == nullptr || isa<AllocaInst>(load->getPointerOperand()) || depth > kMaxDepth)
    return std::nullopt;
  std::optional<Origin> from = origin_of(load->getPointerOperand(), layout, depth + 1);
  if (from)
    from->offsets.push_back(offset);
  return from;
}

} // namespace tandem
