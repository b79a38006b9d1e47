// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/short.h"

#include "compiler/effects/actions.h"
#include "compiler/enforce/inlining.h"
#include "compiler/instrument/barriers.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/converted_operations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#include <algorithm>

namespace tandem {
namespace {

using namespace llvm;

// While a section runs in place nobody else reads or commits, so it must not be long.
constexpr std::size_t kMostAccesses = 32;
constexpr std::size_t kMostInstructions = 300;
constexpr int kMostLevels = 4; // of calls
constexpr std::size_t kMostPlaces = 6;
constexpr std::int64_t kNear = 32; // bytes between accesses that are one place

// Whether every object that the address may be in is a variable of this function.
bool is_local(const Value *address) {
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(address, objects, nullptr, /*MaxLookup=*/0);
  return all_of(objects, [](const Value *object) { return isa<AllocaInst>(object); });
}

// Whether some object that the address may be in is an argument that the caller made a copy for:
// the transaction gets the same one, so what is stored there has to be stored back.
bool is_by_value(const Value *address) {
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(address, objects, nullptr, /*MaxLookup=*/0);
  return any_of(objects, [](const Value *object) {
    const auto *argument = dyn_cast<Argument>(object);
    return argument != nullptr && argument->hasByValAttr();
  });
}

// What an instruction is to a section that runs in place.
enum class Kind : std::uint8_t { computes, reads, writes, leads_away };

Kind kind_of(const Instruction &instruction) {
  if (const auto *load = dyn_cast<LoadInst>(&instruction)) {
    if (!load->isSimple() || load->getPointerAddressSpace() != 0)
      return Kind::leads_away;
    return is_local(load->getPointerOperand()) || Barriers::is_unwritten(*load) ? Kind::computes
                                                                                : Kind::reads;
  }
  if (const auto *store = dyn_cast<StoreInst>(&instruction)) {
    if (!store->isSimple() || store->getPointerAddressSpace() != 0)
      return Kind::leads_away;
    const Value *address = store->getPointerOperand();
    return is_local(address) || (Barriers::is_private(address) && !is_by_value(address))
               ? Kind::computes
               : Kind::writes;
  }
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction))
    return is_harmless(*intrinsic) ? Kind::computes : Kind::leads_away;
  if (isa<BranchInst, SwitchInst, ReturnInst, AllocaInst>(instruction))
    return Kind::computes;
  return instruction.isTerminator() || isa<CallBase>(instruction) || instruction.isEHPad() ||
                 instruction.mayReadOrWriteMemory()
             ? Kind::leads_away
             : Kind::computes;
}

// How often blocks of a function run.
class Frequencies {
public:
  explicit Frequencies(const Function &function)
      : dominators_(const_cast<Function &>(function)), loops_(dominators_),
        probabilities_(function, loops_), frequencies_(function, probabilities_, loops_) {}

  // In at least half of the function's executions.
  bool often(const BasicBlock &block) const {
    return frequencies_.getBlockFreq(&block).getFrequency() * 2 >=
           frequencies_.getEntryFreq().getFrequency();
  }
  const DominatorTree &dominators() const { return dominators_; }

private:
  DominatorTree dominators_;
  LoopInfo loops_;
  BranchProbabilityInfo probabilities_;
  BlockFrequencyInfo frequencies_;
};

// Whether the value can be computed before the section begins: from its arguments and from memory
// that no section writes. `needed`: gets the instructions for that, operands first.
bool known_before(Value *value, const BasicBlock &first, SetVector<Instruction *> &needed) {
  auto *instruction = dyn_cast<Instruction>(value);
  if (instruction == nullptr || needed.contains(instruction))
    return true;
  const auto *load = dyn_cast<LoadInst>(instruction);
  const bool is_read = load != nullptr && Barriers::is_unwritten(*load) &&
                       load->getParent() == &first && !is_local(load->getPointerOperand());
  if (!is_read && !isa<GetElementPtrInst, CastInst>(instruction) &&
      !(isa<BinaryOperator>(instruction) && !instruction->isIntDivRem()))
    return false;
  if (!all_of(instruction->operands(),
              [&](Value *operand) { return known_before(operand, first, needed); }))
    return false;
  needed.insert(instruction);
  return true;
}

bool calls(const Instruction &instruction, StringRef name) {
  const auto *call = dyn_cast<CallInst>(&instruction);
  const Function *callee = call == nullptr ? nullptr : called_function(*call);
  return callee != nullptr && callee->getName() == name;
}
// What is neither inlined nor left out: it says what a section has to hold.
bool is_mark(const Instruction &instruction) {
  return calls(instruction, kGuardedByAcquire) || calls(instruction, kGuardedByOther);
}

// The acquisition of the lock that guards its data whose section this is: it comes before all
// accesses, and which lock it is is known before. Null: there is none.
CallInst *lock_of(Function &section) {
  BasicBlock &first = section.getEntryBlock();
  const auto acquisition = find_if(
      first, [](const Instruction &instruction) { return kind_of(instruction) != Kind::computes; });
  if (acquisition == first.end() || !calls(*acquisition, kGuardedByAcquire))
    return nullptr;
  auto &call = cast<CallInst>(*acquisition);
  SetVector<Instruction *> needed;
  return known_before(call.getArgOperand(0), first, needed) ? &call : nullptr;
}

// Calls that do nothing, and give 0.
void erase_calls(Function &function, function_ref<bool(const CallInst &)> goes) {
  for (BasicBlock &block : function)
    for (Instruction &instruction : make_early_inc_range(block))
      if (auto *call = dyn_cast<CallInst>(&instruction); call != nullptr && goes(*call)) {
        if (!call->getType()->isVoidTy())
          call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
        call->eraseFromParent();
      }
}

// Takes out what is done for the list of the converted locks that the thread holds: a section
// leaves it as it was, and only a trylock, which leads away, looks at it meanwhile. Where a region
// that stays real has a lock, the section leads away before that is asked for.
void forget_held(Function &function) {
  const auto is_for_list = [](const CallInst &call) {
    const StringRef name = called_function(call)->getName();
    return name == kHeldAcquire || name == kHeldRelease || name == kHeldRestore ||
           name == kHeldRefused || name == kHeldNest ||
           (name == kHeldRefuse && isa<ConstantPointerNull>(call.getArgOperand(0))) ||
           name == kGuardedByFirst || (name.starts_with(kOwnLock) && !name.contains("trylock"));
  };
  erase_calls(function, [&](const CallInst &call) {
    return called_function(call) != nullptr && is_for_list(call);
  });
}

// Calls of small functions that most executions make become these functions. False where one is
// left.
bool inline_calls(Function &function, Simplifier &simplifier) {
  for (int level = 0;; ++level) {
    forget_held(function);
    simplifier.run(function);
    SmallVector<CallBase *> calls;
    {
      const Frequencies frequencies(function);
      for (BasicBlock &block : function)
        if (frequencies.often(block))
          for (Instruction &instruction : block)
            if (auto *call = dyn_cast<CallBase>(&instruction);
                call != nullptr && kind_of(*call) == Kind::leads_away && !is_mark(*call))
              calls.push_back(call);
    }
    if (calls.empty())
      return true;
    if (level == kMostLevels || function.getInstructionCount() > kMostInstructions ||
        !all_of(calls, [](const CallBase *call) { return can_inline(*call); }))
      return false;
    for (const WeakTrackingVH &left : SmallVector<WeakTrackingVH>(calls.begin(), calls.end())) {
      auto *call = cast_if_present<CallBase>(static_cast<Value *>(left));
      if (call == nullptr) // gone with what another one made unreachable
        continue;
      InlineFunctionInfo info;
      if (!InlineFunction(*call, info, /*MergeAttributes=*/true).isSuccess())
        return false;
    }
  }
}

// The parts of a section that matter to its version that runs in place.
struct Parts {
  SmallVector<Instruction *> cuts;     // where it leads away; at most one of a block
  SmallVector<Instruction *> accesses; // that others may see, and that come before a cut
  SmallVector<StoreInst *> stores;     // of these
  bool is_short = false;
};

Parts parts_of(Function &function) {
  Parts parts;
  if (function.getInstructionCount() > kMostInstructions || has_cycle(function))
    return parts;
  const Frequencies frequencies(function);
  const Instruction *lock = lock_of(function);
  bool writes = lock != nullptr; // in most executions; what only reads does not want the clock
  for (BasicBlock &block : function) {
    const auto away = find_if(block, [lock](const Instruction &instruction) {
      return kind_of(instruction) == Kind::leads_away && &instruction != lock;
    });
    if (away != block.end()) {
      if (frequencies.often(block))
        return parts;
      parts.cuts.push_back(&*away);
    }
    for (Instruction &instruction : make_range(block.begin(), away)) {
      const Kind kind = kind_of(instruction);
      if (kind != Kind::computes && &instruction != lock)
        parts.accesses.push_back(&instruction);
      if (kind != Kind::writes)
        continue;
      parts.stores.push_back(cast<StoreInst>(&instruction));
      writes |= frequencies.often(block);
    }
  }
  const DominatorTree &dominators = frequencies.dominators();
  // Each cut must know what has been stored when it is reached.
  const bool undone = all_of(parts.cuts, [&](Instruction *cut) {
    return all_of(parts.stores, [&](StoreInst *store) {
      return dominators.dominates(store, cut) ||
             !isPotentiallyReachable(store, cut, /*ExclusionSet=*/nullptr, &dominators);
    });
  });
  parts.is_short = writes && undone && parts.accesses.size() <= kMostAccesses;
  return parts;
}

// Before each cut: what was stored is stored back, the last store first.
void store_back(Function &function, const Parts &parts) {
  const DominatorTree dominators(function);
  DenseMap<StoreInst *, Value *> before;
  for (Instruction *cut : parts.cuts) {
    SmallVector<StoreInst *> done;
    copy_if(parts.stores, std::back_inserter(done),
            [&](StoreInst *store) { return dominators.dominates(store, cut); });
    sort(done, [&](StoreInst *a, StoreInst *b) { return a != b && dominators.dominates(b, a); });
    for (StoreInst *store : done) {
      Value *&old = before[store];
      if (old == nullptr) {
        IRBuilder<> builder(store);
        old = builder.CreateAlignedLoad(store->getValueOperand()->getType(),
                                        store->getPointerOperand(), store->getAlign(), "before");
      }
      IRBuilder<> builder(cut);
      builder.CreateAlignedStore(old, store->getPointerOperand(), store->getAlign());
    }
  }
}

FunctionCallee runtime(Module &module, StringRef name, Type *result, ArrayRef<Type *> arguments) {
  FunctionCallee callee =
      module.getOrInsertFunction(name, FunctionType::get(result, arguments, false));
  if (auto *declared = dyn_cast<Function>(callee.getCallee())) {
    declared->setDoesNotThrow();
    declared->addFnAttr(Attribute::NonLazyBind);
  }
  return callee;
}

// A call with the section's arguments. byval, sret, sign extension and the like are part of the
// calling convention.
CallInst *call_with_same(IRBuilder<> &builder, Function &section, Function &target) {
  SmallVector<Value *> arguments;
  SmallVector<AttributeSet> parameters;
  for (Argument &argument : section.args()) {
    arguments.push_back(&argument);
    parameters.push_back(target.getAttributes().getParamAttrs(argument.getArgNo()));
  }
  CallInst *call = builder.CreateCall(&target, arguments);
  call->setCallingConv(target.getCallingConv());
  call->setAttributes(AttributeList::get(section.getContext(), AttributeSet(),
                                         target.getAttributes().getRetAttrs(), parameters));
  return call;
}

// Memory that the section accesses: all of it is known before it begins.
struct Place {
  Value *base;
  std::int64_t from; // bytes from `base`
  std::int64_t to;
};

// The places of all accesses, none where one is not known before. What it takes to compute them is
// moved to the end of `entry`.
SmallVector<Place> places_of(const Parts &parts, BasicBlock &first, BasicBlock &entry) {
  const DataLayout &layout = first.getModule()->getDataLayout();
  SetVector<Instruction *> needed;
  SmallVector<Place> all;
  for (Instruction *access : parts.accesses) {
    Value *address = getLoadStorePointerOperand(access);
    APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
    Value *base =
        address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
    if (!known_before(base, first, needed))
      return {};
    const auto bytes = static_cast<std::int64_t>(
        layout.getTypeStoreSize(getLoadStoreType(access)).getFixedValue());
    all.push_back({base, offset.getSExtValue(), offset.getSExtValue() + bytes});
  }
  sort(all, [](const Place &a, const Place &b) { return a.from < b.from; });
  SmallVector<Place> places;
  for (const Place &one : all) {
    auto near = find_if(places, [&](const Place &place) {
      return place.base == one.base && one.from <= place.to + kNear;
    });
    if (near == places.end())
      places.push_back(one);
    else
      near->to = std::max(near->to, one.to);
  }
  if (places.size() > kMostPlaces)
    return {};
  for (Instruction *instruction : needed)
    instruction->moveBefore(entry, entry.end());
  return places;
}

// An array of struct tandem_short_place (runtime/transaction/short.h); null for none.
Value *build_places(IRBuilder<> &builder, ArrayRef<Place> places) {
  if (places.empty())
    return ConstantPointerNull::get(builder.getPtrTy());
  Function *section = builder.GetInsertBlock()->getParent();
  ArrayType *type = ArrayType::get(builder.getInt64Ty(), 2 * places.size());
  BasicBlock &entry = section->getEntryBlock();
  Value *array = IRBuilder<>(&entry, entry.begin()).CreateAlloca(type, nullptr, "places");
  const auto put = [&](std::size_t at, Value *value) {
    builder.CreateStore(value, builder.CreateConstInBoundsGEP2_64(type, array, 0, at));
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place &place = places[i];
    put(2 * i,
        builder.CreatePtrToInt(builder.CreatePtrAdd(place.base, builder.getInt64(place.from)),
                               builder.getInt64Ty()));
    put(2 * i + 1, builder.getInt64(place.to - place.from));
  }
  return array;
}

// Moves the version's code into the section.
void take_over(Function &section, Function &version, BasicBlock &entry) {
  BasicBlock &first = version.getEntryBlock();
  for (Instruction &instruction : make_early_inc_range(first))
    if (auto *local = dyn_cast<AllocaInst>(&instruction);
        local && isa<Constant>(local->getArraySize()))
      local->moveBefore(entry, entry.begin());
  section.splice(section.end(), &version);
  for (auto [from, to] : zip(version.args(), section.args())) {
    to.setName(from.getName());
    from.replaceAllUsesWith(&to);
  }
}

// The begins, at the end of `entry`.
CallInst *begin_guarded_by(CallInst &lock, Value *skipped, BasicBlock &entry) {
  SetVector<Instruction *> needed;
  known_before(lock.getArgOperand(0), *lock.getParent(), needed); // lock_of has asked
  for (Instruction *instruction : needed)
    instruction->moveBefore(entry, entry.end());
  IRBuilder<> builder(&entry);
  CallInst *begin =
      builder.CreateCall(runtime(*entry.getModule(), "_TANDEM_inline_short_begin_guarded_by",
                                 builder.getInt64Ty(), {builder.getPtrTy(), builder.getPtrTy()}),
                         {skipped, lock.getArgOperand(0)}, "word");
  lock.replaceAllUsesWith(Constant::getNullValue(lock.getType()));
  lock.eraseFromParent();
  return begin;
}
CallInst *begin_by_places(const Parts &parts, Value *skipped, BasicBlock &first,
                          BasicBlock &entry) {
  const SmallVector<Place> places = places_of(parts, first, entry);
  IRBuilder<> builder(&entry);
  return builder.CreateCall(runtime(*entry.getModule(), "_TANDEM_short_begin", builder.getInt64Ty(),
                                    {builder.getPtrTy(), builder.getPtrTy(), builder.getInt32Ty()}),
                            {skipped, build_places(builder, places),
                             builder.getInt32(static_cast<std::uint32_t>(places.size()))},
                            "time");
}

} // namespace

Function *short_version(Function &body, Simplifier &simplifier) {
  if (body.isVarArg() || body.hasOptNone() || body.hasPersonalityFn() ||
      any_of(body, [](const BasicBlock &block) { return block.hasAddressTaken(); }))
    return nullptr;
  ValueToValueMapTy map;
  Function *version = CloneFunction(&body, map);
  version->setName(body.getName() + ".tandem.short");
  const bool inlined = inline_calls(*version, simplifier);
  // Where no lock guards its data, what the section holds is enough for all of them.
  if (none_of(instructions(*version),
              [](const Instruction &instruction) { return calls(instruction, kGuardedByAcquire); }))
    erase_calls(*version, [](const CallInst &call) { return calls(call, kGuardedByOther); });
  if (inlined && parts_of(*version).is_short)
    return version;
  version->eraseFromParent();
  return nullptr;
}

void build_short(Function &section, Function &version, Function &transaction) {
  Module &module = *section.getParent();
  LLVMContext &context = module.getContext();
  Type *nothing = Type::getVoidTy(context);
  Type *word = Type::getInt64Ty(context);
  Type *pointer = PointerType::getUnqual(context);
  const Parts parts = parts_of(version);
  store_back(version, parts);
  Constant *skipped = ConstantPointerNull::get(cast<PointerType>(pointer));
  if (!parts.cuts.empty())
    skipped = new GlobalVariable(
        module, Type::getInt32Ty(context), /*isConstant=*/false, GlobalValue::InternalLinkage,
        ConstantInt::get(Type::getInt32Ty(context), 0), section.getName() + ".tandem.skipped");

  BasicBlock *entry = BasicBlock::Create(context, "entry", &section);
  BasicBlock *other = BasicBlock::Create(context, "transaction", &section);
  BasicBlock *first = &version.getEntryBlock();
  CallInst *lock = lock_of(version);
  const StringRef end =
      lock != nullptr ? "_TANDEM_inline_short_end_guarded_by" : "_TANDEM_short_end";
  const StringRef undone =
      lock != nullptr ? "_TANDEM_short_undone_guarded_by" : "_TANDEM_short_undone";
  take_over(section, version, *entry);
  section.setSubprogram(version.getSubprogram());
  version.setSubprogram(nullptr);
  version.eraseFromParent();
  CallInst *time = lock != nullptr ? begin_guarded_by(*lock, skipped, *entry)
                                   : begin_by_places(parts, skipped, *first, *entry);
  IRBuilder<> builder(entry);
  builder.CreateCondBr(builder.CreateIsNotNull(time), first, other,
                       MDBuilder(context).createLikelyBranchWeights());
  for (Instruction *cut : parts.cuts) {
    BasicBlock *block = cut->getParent();
    changeToUnreachable(cut);
    block->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(block);
    builder.CreateCall(runtime(module, undone, nothing, {word, pointer}), {time, skipped});
    builder.CreateBr(other);
  }
  for (BasicBlock &block : section)
    if (auto *leaves = dyn_cast_if_present<ReturnInst>(block.getTerminator())) {
      builder.SetInsertPoint(leaves);
      builder.CreateCall(runtime(module, end, nothing, {word}), {time});
    }
  builder.SetInsertPoint(other);
  CallInst *result = call_with_same(builder, section, transaction);
  result->setIsNoInline();
  if (section.getReturnType()->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(result);
  removeUnreachableBlocks(section);
  transaction.addFnAttr(Attribute::NoInline);
  section.removeFnAttr(Attribute::NoInline); // nothing begins twice in this frame
}

} // namespace tandem
