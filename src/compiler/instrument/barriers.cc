// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/instrument/barriers.h"

#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

#include <optional>

namespace tandem {
namespace {

using namespace llvm;

// Metadata of loads. Passes that merge loads keep it only if they know it, so that it may get lost
// and never appears.
constexpr StringRef kUnwritten = "tandem.unwritten";
// The runtime's accesses, and their inline versions (runtime/abi/inline_barriers.h).
const std::string kCalled = "_ITM_";
const std::string kOurs = "_TANDEM_"; // what libitm does not have
const std::string kInlined = kInlinedAccess;
constexpr StringRef kThread = "_TANDEM_thread_4";
// Which accesses are inlined. An inlined write is some 200 bytes of code, and time for the
// optimiser in proportion; a log of what is overwritten is a fifth of that. In a function with few
// of them: all but those that are estimated to run in less than one of kRarest calls (three even
// branches deep, or behind an unlikely one). In others: those that run kOften times in a call, and
// all logs but rare ones. In an output no more than kMost: memcached's link, with all of a form of
// 300 bytes inlined, took four times as long as with none.
constexpr std::uint64_t kMost = 640;
constexpr std::uint64_t kFew = 32;
constexpr std::uint64_t kRarest = 8;
constexpr std::uint64_t kOften = 4;
// Attribute of arguments.
constexpr StringRef kResultSlot = "tandem-result";
constexpr StringRef kList = "tandem-list";

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
    if (const auto *argument = dyn_cast<Argument>(object);
        argument != nullptr &&
        argument->getParent()->getAttributes().hasParamAttr(argument->getArgNo(), kList))
      return true;
    if (const auto *argument = dyn_cast<Argument>(object))
      return (argument->hasByValAttr() || argument->getParent()->getAttributes().hasParamAttr(
                                              argument->getArgNo(), kResultSlot)) &&
             stays_here(*argument);
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

bool Barriers::is_unwritten(const LoadInst &load) {
  return load.getMetadata(kUnwritten) != nullptr;
}

void Barriers::mark_result(Argument &argument) {
  argument.getParent()->addParamAttr(argument.getArgNo(),
                                     Attribute::get(argument.getContext(), kResultSlot));
}

void Barriers::mark_list(Argument &argument) {
  argument.getParent()->addParamAttr(argument.getArgNo(),
                                     Attribute::get(argument.getContext(), kList));
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
  if (auto *declared = dyn_cast<Function>(callee.getCallee())) {
    declared->setDoesNotThrow();
    declared->addFnAttr(Attribute::NonLazyBind); // a call through the table, without a stub
    // The calling convention's extensions, which the other side relies on.
    if (result->isIntegerTy() && result->getIntegerBitWidth() < 32)
      declared->addRetAttr(Attribute::ZExt);
    for (unsigned i = 0; i < arguments.size(); ++i)
      if (arguments[i]->isIntegerTy() && arguments[i]->getIntegerBitWidth() < 32)
        declared->addParamAttr(i, Attribute::ZExt);
  }
  return callee;
}

namespace {

// Whether accesses are to be inlined: the code is to be fast rather than small, and is not what
// hardly ever runs. Functions that allocate on the stack as they go keep calls: they are rare, and
// inlining has not been tested there.
bool is_worth_inlining(const Function &function) {
  return !function.hasOptNone() && !function.hasOptSize() && !function.hasMinSize() &&
         !function.hasFnAttribute(Attribute::Cold) &&
         none_of(instructions(function), [](const Instruction &instruction) {
           const auto *slot = dyn_cast<AllocaInst>(&instruction);
           return slot != nullptr && !slot->isStaticAlloca();
         });
}

} // namespace

void Barriers::start(Function &function, Plain captured) {
  captured_ = std::move(captured);
  function_ = &function;
  thread_ = nullptr;
  inlined_.clear();
  usual_.clear();
  if (!inlines_ || !is_worth_inlining(function))
    return;
  const DominatorTree dominators(function);
  const LoopInfo loops(dominators);
  const BranchProbabilityInfo branches(function, loops);
  const BlockFrequencyInfo frequencies(function, branches, loops);
  const std::uint64_t entry = frequencies.getEntryFreq().getFrequency();
  const bool few = count_if(instructions(function), [](const Instruction &instruction) {
                     const Value *address = getLoadStorePointerOperand(&instruction);
                     return address != nullptr && !is_private(address);
                   }) <= static_cast<std::ptrdiff_t>(kFew);
  const std::uint64_t least = few ? entry / kRarest : entry * kOften;
  for (const BasicBlock &block : function) {
    const std::uint64_t frequency = frequencies.getBlockFreq(&block).getFrequency();
    if (frequency >= least)
      inlined_.insert(&block);
    if (frequency >= entry / kRarest)
      usual_.insert(&block);
  }
}

bool Barriers::inlines_at(const BasicBlock &place) const { return inlined_.contains(&place); }

Value *Barriers::thread() {
  if (thread_ != nullptr)
    return thread_;
  BasicBlock &entry = function_->getEntryBlock();
  IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  Type *pointer = builder.getPtrTy();
  auto *variable = cast<GlobalVariable>(module_.getOrInsertGlobal(kThread, pointer, [&] {
    return new GlobalVariable(module_, pointer, /*isConstant=*/false, GlobalValue::ExternalLinkage,
                              nullptr, kThread, nullptr, GlobalValue::InitialExecTLSModel);
  }));
  return thread_ =
             builder.CreateLoad(pointer, builder.CreateThreadLocalAddress(variable), "thread");
}

CallInst *Barriers::access(IRBuilderBase &builder, const std::string &name, Type *result,
                           ArrayRef<Value *> arguments, bool aligned) {
  const bool inlined = aligned && made_ < kMost && inlines_at(*builder.GetInsertBlock());
  made_ += inlined ? 1 : 0;
  const std::string &called = name.starts_with("add") ? kOurs : kCalled;
  return call(builder, (inlined ? kInlined : called) + name, result, arguments, inlined);
}

CallInst *Barriers::call(IRBuilderBase &builder, const std::string &name, Type *result,
                         ArrayRef<Value *> arguments, bool inlined) {
  SmallVector<Value *, 3> given(arguments);
  if (inlined)
    given.push_back(thread());
  SmallVector<Type *, 3> types;
  for (Value *argument : given)
    types.push_back(argument->getType());
  return builder.CreateCall(function(name, result, types), given);
}

StringRef Barriers::suffix(Type *type) const {
  if (type->isFloatTy())
    return "U4";
  if (type->isDoubleTy())
    return "U8";
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

Type *Barriers::bits(Type *type) const {
  const TypeSize size = module_.getDataLayout().getTypeSizeInBits(type);
  return IntegerType::get(module_.getContext(), static_cast<unsigned>(size.getFixedValue()));
}

AllocaInst *Barriers::temporary(Function &function, Type *type) {
  BasicBlock &entry = function.getEntryBlock();
  IRBuilder<> builder(&entry, entry.begin());
  return builder.CreateAlloca(type, nullptr, "tandem.copy");
}

namespace {

// Whether the block goes on to write what it reads here.
bool is_written_next(const LoadInst &load) {
  constexpr unsigned kFar = 32; // instructions: an update is near
  unsigned seen = 0;
  for (const Instruction *next = load.getNextNode(); next != nullptr && seen < kFar;
       next = next->getNextNode(), ++seen)
    if (const auto *store = dyn_cast<StoreInst>(next);
        store != nullptr && store->getPointerOperand() == load.getPointerOperand())
      return true;
  return false;
}

} // namespace

// Whether the access is aligned to its width: any that is not of a packed structure.
bool Barriers::is_aligned(Type *type, Align align) const {
  return align.value() >= module_.getDataLayout().getTypeStoreSize(type).getFixedValue();
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
  Value *result = nullptr;
  if (const StringRef kind = suffix(type); !kind.empty()) {
    Type *carried = bits(type);
    result = access(builder, ((is_written_next(load) ? "RfW" : "R") + kind).str(), carried,
                    {load.getPointerOperand()}, is_aligned(type, load.getAlign()));
    result = builder.CreateBitOrPointerCast(result, type);
  } else {
    AllocaInst *taken = temporary(*load.getFunction(), type);
    const TypeSize size = module_.getDataLayout().getTypeStoreSize(type);
    copy(builder, "_ITM_memcpyRtWn", taken, load.getPointerOperand(),
         builder.getInt64(size.getFixedValue()));
    result = builder.CreateLoad(type, taken);
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
  if (const StringRef kind = suffix(type); !kind.empty()) {
    Type *carried = bits(type);
    access(builder, ("W" + kind).str(), builder.getVoidTy(),
           {store.getPointerOperand(), builder.CreateBitOrPointerCast(value, carried)},
           is_aligned(type, store.getAlign()));
  } else {
    AllocaInst *given = temporary(*store.getFunction(), type);
    builder.CreateStore(value, given);
    const TypeSize size = module_.getDataLayout().getTypeStoreSize(type);
    copy(builder, "_ITM_memcpyRnWt", store.getPointerOperand(), given,
         builder.getInt64(size.getFixedValue()));
  }
  store.eraseFromParent();
}

namespace {

// What `store` adds to its place: the load before it in its block, and the sum or difference.
struct Addition {
  LoadInst *load;
  BinaryOperator *sum;
};

std::optional<Addition> addition_of(StoreInst &store) {
  auto *sum = dyn_cast<BinaryOperator>(store.getValueOperand());
  if (sum == nullptr || !sum->hasOneUse() || store.isVolatile() ||
      !(sum->getType()->isIntegerTy(32) || sum->getType()->isIntegerTy(64)))
    return std::nullopt;
  const auto is_read = [&](const Value *value) {
    const auto *load = dyn_cast<LoadInst>(value);
    return load != nullptr && load->hasOneUse() && load->isSimple() &&
           load->getPointerOperand() == store.getPointerOperand() &&
           load->getParent() == store.getParent();
  };
  Value *read = nullptr;
  if (sum->getOpcode() == Instruction::Add)
    read = sum->getOperand(is_read(sum->getOperand(0)) ? 0 : 1);
  else if (sum->getOpcode() == Instruction::Sub)
    read = sum->getOperand(0);
  if (read == nullptr || !is_read(read))
    return std::nullopt;
  auto *load = cast<LoadInst>(read);
  for (const Instruction *next = load->getNextNode(); next != &store; next = next->getNextNode())
    if (next->mayWriteToMemory())
      return std::nullopt;
  return Addition{load, sum};
}

} // namespace

void Barriers::replace_addition(StoreInst &store, SmallPtrSetImpl<const Instruction *> &gone) {
  const std::optional<Addition> found = addition_of(store);
  if (!found || found->load->hasMetadata(kUnwritten) || captured_.written.contains(&store) ||
      is_counter(store.getPointerOperand()) || is_private(store.getPointerOperand()))
    return;
  IRBuilder<> builder(&store);
  Value *by = found->sum->getOperand(found->sum->getOperand(0) == found->load ? 1 : 0);
  if (found->sum->getOpcode() == Instruction::Sub)
    by = builder.CreateNeg(by);
  access(builder, by->getType()->isIntegerTy(32) ? "add_4" : "add_8", builder.getVoidTy(),
         {store.getPointerOperand(), by}, is_aligned(by->getType(), store.getAlign()));
  ++counts_.deferred_updates;
  for (Instruction *erased :
       {static_cast<Instruction *>(&store), static_cast<Instruction *>(found->sum),
        static_cast<Instruction *>(found->load)}) {
    gone.insert(erased);
    erased->eraseFromParent();
  }
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
  this->copy(builder, name, copy.getDest(), copy.getSource(),
             builder.CreateZExtOrTrunc(copy.getLength(), builder.getInt64Ty()));
  copy.eraseFromParent();
}

void Barriers::copy(IRBuilderBase &builder, const std::string &name, Value *to, Value *from,
                    Value *bytes) {
  Type *pointer = builder.getPtrTy();
  builder.CreateCall(function(name, builder.getVoidTy(), {pointer, pointer, builder.getInt64Ty()}),
                     {to, from, bytes});
}

// va_start begins a list of the frame's, which is copied. Copying one is copying its bytes.
void Barriers::replace_list(IntrinsicInst &call, const ListOperation &list) {
  const bool from_private = list.read == nullptr || is_private(list.read);
  const bool to_private = is_private(list.written);
  ++(from_private && to_private ? counts_.plain : counts_.barriers);
  if (from_private && to_private)
    return;
  IRBuilder<> builder(&call);
  Value *from = list.read;
  if (from == nullptr) {
    AllocaInst *own =
        temporary(*call.getFunction(), ArrayType::get(builder.getInt8Ty(), list.bytes));
    own->setAlignment(Align(16));
    builder.CreateIntrinsic(Intrinsic::vastart, {builder.getPtrTy()}, {own});
    from = own;
  }
  copy(builder,
       std::string("_ITM_memcpyR") + (from_private ? "n" : "t") + "W" + (to_private ? "n" : "t"),
       list.written, from, builder.getInt64(list.bytes));
  call.eraseFromParent();
}

void Barriers::log(StoreInst &store) {
  Value *address = store.getPointerOperand();
  if (stays_plain(address, captured_.written.contains(&store)))
    return;
  IRBuilder<> builder(&store);
  Type *type = store.getValueOperand()->getType();
  const StringRef kind = suffix(type);
  if (kind.empty())
    return log_bytes(
        builder, address,
        builder.getInt64(module_.getDataLayout().getTypeStoreSize(type).getFixedValue()));
  const bool inlined = is_aligned(type, store.getAlign()) && usual_.contains(store.getParent());
  call(builder, (inlined ? kInlined : kCalled) + ("L" + kind).str(), builder.getVoidTy(), {address},
       inlined);
}

void Barriers::log(MemIntrinsic &write) {
  if (stays_plain(write.getDest(), captured_.written.contains(&write)))
    return;
  IRBuilder<> builder(&write);
  log_bytes(builder, write.getDest(),
            builder.CreateZExtOrTrunc(write.getLength(), builder.getInt64Ty()));
}

void Barriers::log(IntrinsicInst &call, const ListOperation &list) {
  if (stays_plain(list.written, /*captured=*/false))
    return;
  IRBuilder<> builder(&call);
  log_bytes(builder, list.written, builder.getInt64(list.bytes));
}

void Barriers::log_bytes(IRBuilderBase &builder, Value *address, Value *bytes) {
  builder.CreateCall(
      function("_ITM_LB", builder.getVoidTy(), {builder.getPtrTy(), builder.getInt64Ty()}),
      {address, bytes});
}

void Barriers::replace_by_value(CallBase &call, unsigned argument) {
  Value *source = call.getArgOperand(argument);
  if (source->getType()->getPointerAddressSpace() != 0 || stays_plain(source, /*captured=*/false))
    return;
  Type *type = call.getParamByValType(argument);
  const DataLayout &layout = module_.getDataLayout();
  AllocaInst *own = temporary(*call.getFunction(), type);
  own->setAlignment(std::max(own->getAlign(),
                             call.getParamAlign(argument).value_or(layout.getABITypeAlign(type))));
  IRBuilder<> builder(&call);
  copy(builder, "_ITM_memcpyRtWn", own, source,
       builder.getInt64(layout.getTypeAllocSize(type).getFixedValue()));
  call.setArgOperand(argument, own);
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
