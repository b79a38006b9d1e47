// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/instrument/barriers.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"

namespace tandem {
namespace {

using namespace llvm;

// Metadata of loads. Passes that merge loads keep it only if they know it, so that it may get lost
// and never appears.
constexpr StringRef kUnwritten = "tandem.unwritten";

// Whether the address in `root` is only ever used to access it here: not passed on, stored or
// returned. A callee would reach it through barriers, which may buffer what a plain access then
// misses.
bool stays_here(const Value &root) {
  SmallVector<const Use *, 16> work;
  const auto add = [&](const Value &value) {
    for (const Use &use : value.uses())
      work.push_back(&use);
  };
  add(root);
  SmallPtrSet<const User *, 16> seen; // of addresses
  while (!work.empty()) {
    const Use *use = work.pop_back_val();
    const User *user = use->getUser();
    if (isa<LoadInst>(user) || isa<ICmpInst>(user) || isa<VAArgInst>(user))
      continue;
    if (isa<GetElementPtrInst>(user) || isa<BitCastInst>(user) || isa<AddrSpaceCastInst>(user)) {
      if (seen.insert(user).second)
        add(*user);
      continue;
    }
    if (const auto *store = dyn_cast<StoreInst>(user))
      if (getUnderlyingObject(store->getValueOperand(), 0) != &root)
        continue;
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(user)) {
      const Intrinsic::ID id = intrinsic->getIntrinsicID();
      if (isa<MemIntrinsic>(intrinsic) || intrinsic->isAssumeLikeIntrinsic() ||
          id == Intrinsic::vastart || id == Intrinsic::vaend || id == Intrinsic::vacopy)
        continue;
    }
    // The callee gets a copy.
    if (const auto *call = dyn_cast<CallBase>(user))
      if (call->isArgOperand(use) && call->isByValArgument(call->getArgOperandNo(use)))
        continue;
    return false;
  }
  return true;
}

} // namespace

bool Barriers::is_private(const Value *address) {
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(address, objects, nullptr, /*MaxLookup=*/0);
  return all_of(objects, [](const Value *object) {
    if (const auto *global = dyn_cast<GlobalVariable>(object))
      return global->isConstant();
    if (const auto *argument = dyn_cast<Argument>(object))
      return argument->hasByValAttr() && stays_here(*argument);
    return isa<AllocaInst>(object) && stays_here(*object);
  });
}

// The names that clang's and gcc's instrumentation gives its counters.
bool Barriers::is_counter(const Value *address) {
  const auto *global = dyn_cast<GlobalVariable>(getUnderlyingObject(address, 0));
  return global != nullptr && (global->getName().starts_with("__profc_") ||
                               global->getName().starts_with("__llvm_gcov_ctr") ||
                               global->getName().starts_with("__sancov_gen_"));
}

void Barriers::mark_unwritten(LoadInst &load) {
  load.setMetadata(kUnwritten, MDNode::get(load.getContext(), {}));
}

bool Barriers::stays_plain(const Value *address, bool captured) {
  std::uint64_t &count = captured              ? counts_.captured
                         : is_counter(address) ? counts_.counters
                         : is_private(address) ? counts_.plain
                                               : counts_.barriers;
  ++count;
  return &count != &counts_.barriers;
}

FunctionCallee Barriers::function(StringRef name, Type *result, ArrayRef<Type *> arguments) {
  FunctionCallee callee =
      module_.getOrInsertFunction(name, FunctionType::get(result, arguments, false));
  if (auto *declared = dyn_cast<Function>(callee.getCallee()))
    declared->setDoesNotThrow();
  return callee;
}

StringRef Barriers::suffix(Type *type) const {
  if (type->isFloatTy())
    return "F";
  if (type->isDoubleTy())
    return "D";
  if (type->isPointerTy() && type->getPointerAddressSpace() == 0)
    return "U8";
  if (!type->isIntegerTy())
    return "";
  switch (type->getIntegerBitWidth()) {
  case 8:
    return "U1";
  case 16:
    return "U2";
  case 32:
    return "U4";
  case 64:
    return "U8";
  default:
    return "";
  }
}

AllocaInst *Barriers::temporary(Function &function, Type *type) {
  BasicBlock &entry = function.getEntryBlock();
  IRBuilder<> builder(&entry, entry.begin());
  return builder.CreateAlloca(type, nullptr, "tandem.copy");
}

void Barriers::replace_load(LoadInst &load) {
  if (load.hasMetadata(kUnwritten)) {
    ++counts_.unwritten;
    return;
  }
  if (stays_plain(load.getPointerOperand(), captured_.read.contains(&load)))
    return;
  IRBuilder<> builder(&load);
  Type *type = load.getType();
  Type *pointer = builder.getPtrTy();
  Value *result = nullptr;
  if (const StringRef kind = suffix(type); !kind.empty()) {
    Type *carried = type->isPointerTy() ? builder.getInt64Ty() : type;
    result = builder.CreateCall(function(("_ITM_R" + kind).str(), carried, {pointer}),
                                {load.getPointerOperand()});
    if (type->isPointerTy())
      result = builder.CreateIntToPtr(result, type);
  } else {
    AllocaInst *copy = temporary(*load.getFunction(), type);
    const TypeSize size = module_.getDataLayout().getTypeStoreSize(type);
    builder.CreateCall(
        function("_ITM_memcpyRtWn", builder.getVoidTy(), {pointer, pointer, builder.getInt64Ty()}),
        {copy, load.getPointerOperand(), builder.getInt64(size.getFixedValue())});
    result = builder.CreateLoad(type, copy);
  }
  result->takeName(&load);
  load.replaceAllUsesWith(result);
  load.eraseFromParent();
}

void Barriers::replace_store(StoreInst &store) {
  if (stays_plain(store.getPointerOperand(), captured_.written.contains(&store)))
    return;
  IRBuilder<> builder(&store);
  Value *value = store.getValueOperand();
  Type *type = value->getType();
  Type *pointer = builder.getPtrTy();
  if (const StringRef kind = suffix(type); !kind.empty()) {
    if (type->isPointerTy())
      value = builder.CreatePtrToInt(value, builder.getInt64Ty());
    builder.CreateCall(
        function(("_ITM_W" + kind).str(), builder.getVoidTy(), {pointer, value->getType()}),
        {store.getPointerOperand(), value});
  } else {
    AllocaInst *copy = temporary(*store.getFunction(), type);
    builder.CreateStore(value, copy);
    const TypeSize size = module_.getDataLayout().getTypeStoreSize(type);
    builder.CreateCall(
        function("_ITM_memcpyRnWt", builder.getVoidTy(), {pointer, pointer, builder.getInt64Ty()}),
        {store.getPointerOperand(), copy, builder.getInt64(size.getFixedValue())});
  }
  store.eraseFromParent();
}

void Barriers::replace_copy(MemTransferInst &copy) {
  const bool from_captured = captured_.read.contains(&copy);
  const bool to_captured = captured_.written.contains(&copy);
  const bool from_private = from_captured || is_private(copy.getSource());
  const bool to_private = to_captured || is_private(copy.getDest());
  if (from_private && to_private) {
    ++(from_captured || to_captured ? counts_.captured : counts_.plain);
    return;
  }
  ++counts_.barriers;
  IRBuilder<> builder(&copy);
  std::string name = isa<MemMoveInst>(copy) ? "_ITM_memmove" : "_ITM_memcpy";
  name += from_private ? "Rn" : "Rt";
  name += to_private ? "Wn" : "Wt";
  Type *pointer = builder.getPtrTy();
  builder.CreateCall(function(name, builder.getVoidTy(), {pointer, pointer, builder.getInt64Ty()}),
                     {copy.getDest(), copy.getSource(),
                      builder.CreateZExtOrTrunc(copy.getLength(), builder.getInt64Ty())});
  copy.eraseFromParent();
}

void Barriers::replace_by_value(CallBase &call, unsigned argument) {
  Value *source = call.getArgOperand(argument);
  if (source->getType()->getPointerAddressSpace() != 0 || stays_plain(source, /*captured=*/false))
    return;
  Type *type = call.getParamByValType(argument);
  const DataLayout &layout = module_.getDataLayout();
  AllocaInst *copy = temporary(*call.getFunction(), type);
  copy->setAlignment(std::max(copy->getAlign(),
                              call.getParamAlign(argument).value_or(layout.getABITypeAlign(type))));
  IRBuilder<> builder(&call);
  Type *pointer = builder.getPtrTy();
  builder.CreateCall(
      function("_ITM_memcpyRtWn", builder.getVoidTy(), {pointer, pointer, builder.getInt64Ty()}),
      {copy, source, builder.getInt64(layout.getTypeAllocSize(type).getFixedValue())});
  call.setArgOperand(argument, copy);
}

void Barriers::replace_set(MemSetInst &set) {
  if (stays_plain(set.getDest(), captured_.written.contains(&set)))
    return;
  IRBuilder<> builder(&set);
  builder.CreateCall(function("_ITM_memsetW", builder.getVoidTy(),
                              {builder.getPtrTy(), builder.getInt32Ty(), builder.getInt64Ty()}),
                     {set.getDest(), builder.CreateZExt(set.getValue(), builder.getInt32Ty()),
                      builder.CreateZExtOrTrunc(set.getLength(), builder.getInt64Ty())});
  set.eraseFromParent();
}

} // namespace tandem
