// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/enforce.h"

#include "base/doing.h"
#include "compiler/effects/actions.h"
#include "compiler/enforce/allocations.h"
#include "compiler/enforce/inlining.h"
#include "compiler/enforce/short.h"
#include "compiler/enforce/shrink.h"
#include "compiler/enforce/single.h"
#include "compiler/instrument/barriers.h"
#include "compiler/instrument/clones.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/converted_operations.h"
#include "compiler/sections/told.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"

namespace tandem {
namespace {

using namespace llvm;

// Properties that _TANDEM_begin takes, and the bit of its answer that is asked for
// (libitm.h).
constexpr std::uint32_t kInstrumentedCode = 0x1;
constexpr std::uint32_t kUninstrumentedCode = 0x2;
constexpr std::uint32_t kHasNoAbort = 0x8;
constexpr std::uint32_t kBeginsGuardedBy = 0x1'0000;  // ours, with kHasGuardedByCode
constexpr std::uint32_t kHasGuardedByCode = 0x2'0000; // and kRunGuardedBy (runtime/abi/itm.h)
constexpr std::uint32_t kDoesGoIrrevocable = 0x40;
constexpr std::uint32_t kRunUninstrumentedCode = 0x2;
constexpr std::uint32_t kAborted = 0x10;
constexpr std::uint32_t kRunGuardedBy = 0x100;

bool asks_cancelled(const CallInst &call) {
  return call.getCalledFunction() != nullptr && call.getCalledFunction()->getName() == kCancelled;
}

bool writes_elsewhere(const Instruction &instruction) {
  const auto *store = dyn_cast<StoreInst>(&instruction);
  return store != nullptr ? !isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()))
                          : instruction.mayWriteToMemory() && !isa<CallBase>(instruction);
}

// Whether the section is one of a lock that guards its data from its very begin, and not only one
// that it calls, or behind something that it writes.
bool begins_guarded_by(const Function &body) {
  // Blocks in a row: a body that was taken out of a function begins with an empty one.
  const BasicBlock *block = &body.getEntryBlock();
  for (SmallPtrSet<const BasicBlock *, 4> seen; block != nullptr && seen.insert(block).second;
       block = block->getSingleSuccessor())
    for (const Instruction &instruction : *block) {
      if (writes_elsewhere(instruction) || isa<MemIntrinsic>(instruction) ||
          list_operation(instruction))
        return false;
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || isa<IntrinsicInst>(call))
        continue;
      const Function *callee = called_function(*call);
      if (callee == nullptr || !callee->getName().starts_with(kHeldPrefix))
        return callee != nullptr && callee->getName() == kGuardedByFirst;
    }
  return false;
}

// A section's body as a function of its own. A variadic one takes a pointer to the caller's va_list
// instead of the variable arguments, and starts its own lists as copies of it. `passable`: a block
// with a way past it, which takes as last argument whether to go there.
Function &split_body(Function &section, bool passable = false) {
  FunctionType *type = section.getFunctionType();
  Module &module = *section.getParent();
  SmallVector<Type *> parameters(type->params());
  if (section.isVarArg())
    parameters.push_back(PointerType::getUnqual(module.getContext()));
  if (passable)
    parameters.push_back(Type::getInt1Ty(module.getContext()));
  type = FunctionType::get(type->getReturnType(), parameters, false);
  Function *body = Function::Create(type, GlobalValue::InternalLinkage, section.getAddressSpace(),
                                    section.getName() + ".tandem.body", &module);
  body->copyAttributesFrom(&section);
  body->setVisibility(GlobalValue::DefaultVisibility);
  body->setDSOLocal(true);
  body->setComdat(nullptr);
  std::vector<std::pair<BasicBlock *, BlockAddress *>> taken; // for computed goto
  for (BasicBlock &block : section)
    if (block.hasAddressTaken())
      taken.emplace_back(&block, BlockAddress::get(&section, &block));
  body->splice(body->begin(), &section);
  for (const auto &[block, address] : taken) {
    address->replaceAllUsesWith(BlockAddress::get(body, block));
    address->destroyConstant();
  }
  for (auto [from, to] : zip(section.args(), body->args())) {
    from.replaceAllUsesWith(&to);
    to.takeName(&from);
  }
  body->setSubprogram(section.getSubprogram());
  section.setSubprogram(nullptr);
  if (!body->hasOptNone())
    body->removeFnAttr(Attribute::NoInline);
  if (passable)
    for (Instruction &instruction : make_early_inc_range(instructions(*body)))
      if (auto *call = dyn_cast<CallInst>(&instruction); call != nullptr && asks_cancelled(*call)) {
        call->replaceAllUsesWith(std::prev(body->arg_end()));
        call->eraseFromParent();
      }
  if (!section.isVarArg())
    return *body;
  SmallVector<VAStartInst *> starts;
  for (Instruction &instruction : instructions(*body))
    if (auto *start = dyn_cast<VAStartInst>(&instruction))
      starts.push_back(start);
  Argument *list = std::prev(body->arg_end());
  Barriers::mark_list(*list);
  for (VAStartInst *start : starts) {
    IRBuilder<> builder(start);
    builder.CreateIntrinsic(Intrinsic::vacopy, {builder.getPtrTy()}, {start->getArgList(), list});
    start->eraseFromParent();
  }
  return *body;
}

// Ask for the phase, and leave it (runtime/phases/inline.h).
constexpr BracketCalls kOwnLocks{"_TANDEM_inline_phase_enter", "_TANDEM_inline_phase_leave"};
constexpr BracketCalls kOwnColours{"_TANDEM_inline_phase_enter_colours",
                                   "_TANDEM_inline_phase_leave_colours"};

// Whether a transaction may wait for another thread: it calls a wrapper of a lock or of a wait.
bool may_block(const Module &module) {
  constexpr std::array kWaits = {"mutex_", "mtx_", "spin_", "rwlock_", "sem_", "cond_", "cnd_"};
  return any_of(module, [&](const Function &function) {
    const StringRef name = function.getName();
    return name.starts_with("_ZGTt") && !function.use_empty() &&
           any_of(kWaits, [&](StringRef part) { return name.contains(part); });
  });
}

class Wrapper {
public:
  Wrapper(Function &section, Constant *descriptor)
      : section_(section), module_(*section.getParent()), descriptor_(descriptor) {}

  // Gives the emptied section its new body: the colours' exclusive locks around the plain body.
  void build_locked(Function &body) {
    IRBuilder<> builder(BasicBlock::Create(module_.getContext(), "entry", &section_));
    const SmallVector<Value *> arguments = arguments_of(builder);
    Value *result = call(builder, body, arguments);
    finish(builder, result);
    bracket_function(section_, kColours, descriptor_);
    set_attributes();
  }

  // Gives the emptied section its new body: begin, the plain body or the clone, commit. `clone` is
  // null where the section is always serial: irrevocable from its begin, and alone. `guarded_by`:
  // the clone for Mode::guarded_by, if there is one.
  void build(Function &body, Function *clone, Function *guarded_by) {
    // Their locals must not move into the frame that begin returns to twice.
    for (Function *attempt : {&body, clone, guarded_by})
      if (attempt != nullptr) {
        attempt->removeFnAttr(Attribute::AlwaysInline);
        attempt->addFnAttr(Attribute::NoInline);
      }
    LLVMContext &context = module_.getContext();
    IRBuilder<> builder(BasicBlock::Create(context, "entry", &section_));
    const SmallVector<Value *> arguments = arguments_of(builder);
    const bool both = clone != nullptr && !may_wait();
    Value *action = begin(builder, (may_be_undone() ? 0 : kHasNoAbort) |
                                       (begins_guarded_by(body) ? kBeginsGuardedBy : 0) |
                                       (guarded_by != nullptr ? kHasGuardedByCode : 0) |
                                       (clone == nullptr ? kDoesGoIrrevocable : kInstrumentedCode) |
                                       (both || clone == nullptr ? kUninstrumentedCode : 0));
    BasicBlock *commit = BasicBlock::Create(context, "commit");
    SmallVector<std::pair<Value *, BasicBlock *>> results;
    const auto run = [&](Function &version) {
      results.emplace_back(call(builder, version, arguments), builder.GetInsertBlock());
      builder.CreateBr(commit);
    };
    // One that begin may ask for by the bit. No branch that is never taken would keep a version in
    // the program.
    const auto run_where_asked = [&](Function &version, std::uint32_t bit, StringRef name) {
      BasicBlock *block = BasicBlock::Create(context, name, &section_);
      BasicBlock *next = BasicBlock::Create(context, "transactional", &section_);
      builder.CreateCondBr(builder.CreateICmpNE(builder.CreateAnd(action, builder.getInt32(bit)),
                                                builder.getInt32(0)),
                           block, next);
      builder.SetInsertPoint(block);
      run(version);
      builder.SetInsertPoint(next);
    };
    if (guarded_by != nullptr)
      run_where_asked(*guarded_by, kRunGuardedBy, "guarded_by");
    if (both)
      run_where_asked(body, kRunUninstrumentedCode, "plain");
    run(clone == nullptr ? body : *clone);
    commit->insertInto(&section_);
    builder.SetInsertPoint(commit);
    Value *result = results.front().first;
    if (results.size() > 1 && !section_.getReturnType()->isVoidTy()) {
      PHINode *any =
          builder.CreatePHI(section_.getReturnType(), static_cast<unsigned>(results.size()));
      for (const auto &[value, from] : results)
        any->addIncoming(value, from);
      result = any;
    }
    builder.CreateCall(runtime("_ITM_commitTransaction", builder.getVoidTy(), {}));
    finish(builder, result);
    commit_on_exception();
    set_attributes();
  }

  // Gives the emptied section its new body: begin, the clone, commit; and where begin returns
  // because the transaction was cancelled, a result of zero, or (`passable`) the way past the
  // block, which belongs to what is around it.
  void build_cancellable(Function &body, Function &clone, bool passable) {
    for (Function *attempt : {&body, &clone}) {
      attempt->removeFnAttr(Attribute::AlwaysInline);
      attempt->addFnAttr(Attribute::NoInline);
    }
    IRBuilder<> builder(BasicBlock::Create(module_.getContext(), "entry", &section_));
    BasicBlock *run = BasicBlock::Create(module_.getContext(), "run", &section_);
    BasicBlock *cancelled = BasicBlock::Create(module_.getContext(), "cancelled", &section_);
    BasicBlock *leave = BasicBlock::Create(module_.getContext(), "leave", &section_);
    SmallVector<Value *> arguments = arguments_of(builder);
    Value *action = begin(builder, kInstrumentedCode);
    Value *undone = builder.CreateICmpNE(builder.CreateAnd(action, builder.getInt32(kAborted)),
                                         builder.getInt32(0));
    builder.CreateCondBr(undone, cancelled, run,
                         MDBuilder(module_.getContext()).createUnlikelyBranchWeights());
    SmallVector<std::pair<Value *, BasicBlock *>> results;
    if (passable)
      arguments.push_back(builder.getFalse());
    builder.SetInsertPoint(run);
    results.emplace_back(call(builder, clone, arguments), run);
    builder.CreateCall(runtime("_ITM_commitTransaction", builder.getVoidTy(), {}));
    builder.CreateBr(leave);
    builder.SetInsertPoint(cancelled);
    Type *type = section_.getReturnType();
    if (passable) {
      arguments.back() = builder.getTrue();
      BasicBlock *inside = BasicBlock::Create(module_.getContext(), "inside", &section_);
      BasicBlock *outside = BasicBlock::Create(module_.getContext(), "outside", &section_);
      Value *state = builder.CreateCall(runtime("_ITM_inTransaction", builder.getInt32Ty(), {}));
      builder.CreateCondBr(builder.CreateICmpNE(state, builder.getInt32(0)), inside, outside);
      for (auto [block, target] : {std::pair{inside, &clone}, std::pair{outside, &body}}) {
        builder.SetInsertPoint(block);
        CallInst *passing = call(builder, *target, arguments);
        passing->setDoesNotThrow();
        results.emplace_back(passing, block);
        builder.CreateBr(leave);
      }
    } else {
      results.emplace_back(type->isVoidTy() ? nullptr : Constant::getNullValue(type), cancelled);
      builder.CreateBr(leave);
    }
    builder.SetInsertPoint(leave);
    PHINode *result = nullptr;
    if (!type->isVoidTy()) {
      result = builder.CreatePHI(type, static_cast<unsigned>(results.size()));
      for (auto [value, from] : results)
        result->addIncoming(value, from);
    }
    finish(builder, result);
    commit_on_exception();
    set_attributes();
  }

  // Gives the emptied section its new body: asks for the phase of its part of the program, and runs
  // `body` as it is or `enforced`, the body that the section had so far.
  void build_by_phase(Function &body, Function &enforced, const BracketCalls &phase,
                      std::uint32_t part) {
    IRBuilder<> builder(BasicBlock::Create(module_.getContext(), "entry", &section_));
    BasicBlock *plain = BasicBlock::Create(module_.getContext(), "own_locks", &section_);
    BasicBlock *other = BasicBlock::Create(module_.getContext(), "enforced", &section_);
    BasicBlock *leave = BasicBlock::Create(module_.getContext(), "leave", &section_);
    const SmallVector<Value *> arguments = arguments_of(builder);
    Value *by_locks = builder.CreateCall(
        runtime(phase.enter, builder.getInt32Ty(), {builder.getPtrTy(), builder.getInt32Ty()}),
        {descriptor_, builder.getInt32(part)});
    builder.CreateCondBr(builder.CreateICmpNE(by_locks, builder.getInt32(0)), plain, other,
                         MDBuilder(module_.getContext()).createLikelyBranchWeights());
    builder.SetInsertPoint(plain);
    CallInst *plain_result = call(builder, body, arguments);
    always_inline(*plain_result, body); // while it is there: it may become an invoke below
    builder.CreateBr(leave);
    builder.SetInsertPoint(other);
    Value *other_result = call(builder, enforced, arguments);
    builder.CreateBr(leave);
    builder.SetInsertPoint(leave);
    PHINode *result = nullptr;
    if (!section_.getReturnType()->isVoidTy()) {
      result = builder.CreatePHI(section_.getReturnType(), 2);
      result->addIncoming(plain_result, plain);
      result->addIncoming(other_result, other);
    }
    builder.CreateCall(runtime(phase.leave, builder.getVoidTy(), {builder.getPtrTy()}),
                       {descriptor_});
    finish(builder, result);
    if (!section_.doesNotThrow()) {
      EscapeEnumerator exits(section_, "tandem.leave", /*HandleExceptions=*/true);
      while (IRBuilder<> *at = exits.Next())
        if (isa<ResumeInst>(&*at->GetInsertPoint()))
          at->CreateCall(runtime(phase.leave, at->getVoidTy(), {at->getPtrTy()}), {descriptor_});
    }
    set_attributes();
    // Nothing begins twice in this frame: it and the plain body may be inlined.
    for (Function *function : {&section_, &body})
      if (!function->hasOptNone())
        function->removeFnAttr(Attribute::NoInline);
    for (User *user : body.users())
      if (auto *other_call = dyn_cast<CallBase>(user);
          other_call != nullptr && other_call->getFunction() != &section_)
        other_call->setIsNoInline();
    inline_only_call();
    describe(body);
  }

private:
  // A call becomes part of its caller, if it may. The frame of a caller that is called again below
  // itself stays as it is: LLVM sees to that only where the inliner decides.
  static void always_inline(CallBase &call, const Function &callee) {
    const Function &caller = *call.getFunction();
    const auto same = [&](StringRef attribute) { // or it may not fit the processor that runs it
      return caller.getFnAttribute(attribute) == callee.getFnAttribute(attribute);
    };
    if (!caller.hasOptNone() && !callee.hasOptNone() && !callee.isVarArg() &&
        AttributeFuncs::areInlineCompatible(caller, callee) && same("target-cpu") &&
        same("target-features") && may_get_frame(caller, callee))
      call.addFnAttr(Attribute::AlwaysInline);
  }

  // A section that one place calls becomes part of it, as it would without its enforced version:
  // that one refers to it, too, which is why the inliner would not take the call for the last one.
  void inline_only_call() {
    if (!section_.hasLocalLinkage())
      return;
    CallBase *only = nullptr;
    for (User *user : section_.users())
      if (auto *found = dyn_cast<CallBase>(user);
          found != nullptr && found->getCalledFunction() == &section_) {
        if (only != nullptr || found->getFunction() == &section_)
          return;
        only = found;
      }
    if (only != nullptr && !only->isNoInline())
      always_inline(*only, section_);
  }

  // What debuggers see: the plain code that becomes part of the section keeps its lines only where
  // the section has lines, too.
  void describe(const Function &body) {
    const DISubprogram *program = body.getSubprogram();
    if (program == nullptr || section_.getSubprogram() != nullptr)
      return;
    LLVMContext &context = module_.getContext();
    DISubprogram *own = MDNode::replaceWithDistinct(program->clone());
    own->replaceRetainedNodes(DINodeArray(MDTuple::get(context, {})));
    section_.setSubprogram(own);
    for (Instruction &instruction : instructions(section_))
      if (isa<CallBase>(instruction) && !instruction.getDebugLoc())
        instruction.setDebugLoc(DILocation::get(context, own->getScopeLine(), 0, own));
  }

  // sizeof(va_list) on x86-64; others have no larger one.
  static constexpr std::uint64_t kVaListBytes = 32;

  FunctionCallee runtime(StringRef name, Type *result, ArrayRef<Type *> arguments) {
    FunctionCallee callee =
        module_.getOrInsertFunction(name, FunctionType::get(result, arguments, false));
    if (auto *declared = dyn_cast<Function>(callee.getCallee()))
      declared->setDoesNotThrow();
    return callee;
  }

  // What the bodies are called with: the section's arguments, and the list of variable ones.
  SmallVector<Value *> arguments_of(IRBuilder<> &builder) {
    SmallVector<Value *> arguments;
    for (Argument &argument : section_.args())
      arguments.push_back(&argument);
    if (section_.isVarArg()) {
      list_ = builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), kVaListBytes));
      list_->setAlignment(Align(16));
      builder.CreateIntrinsic(Intrinsic::vastart, {builder.getPtrTy()}, {list_});
      arguments.push_back(list_);
    }
    return arguments;
  }

  void finish(IRBuilder<> &builder, Value *result) {
    if (list_ != nullptr)
      builder.CreateIntrinsic(Intrinsic::vaend, {builder.getPtrTy()}, {list_});
    if (section_.getReturnType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(result);
  }

  // Whether the program asks the runtime to undo transactions: then they are undoable even alone.
  bool may_be_undone() const { return calls_one_of({"tandem_retry", "tandem_wait"}); }

  // Whether the program waits for conditions: only the transactional versions of those calls let
  // others run meanwhile, so sections run their clones even where they are alone.
  bool may_wait() const {
    return calls_one_of({"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
                         "cnd_wait", "cnd_timedwait"});
  }

  bool calls_one_of(ArrayRef<StringRef> names) const {
    return any_of(names, [&](StringRef name) {
      const Function *function = module_.getFunction(name);
      return function != nullptr && !function->use_empty();
    });
  }

  Value *begin(IRBuilder<> &builder, std::uint32_t properties) {
    FunctionCallee callee = module_.getOrInsertFunction(
        "_TANDEM_begin",
        FunctionType::get(builder.getInt32Ty(), {builder.getInt32Ty(), builder.getPtrTy()}, false));
    auto *declared = cast<Function>(callee.getCallee());
    declared->addFnAttr(Attribute::ReturnsTwice);
    declared->setDoesNotThrow();
    CallInst *call = builder.CreateCall(callee, {builder.getInt32(properties), descriptor_});
    call->addFnAttr(Attribute::ReturnsTwice);
    return call;
  }

  CallInst *call(IRBuilder<> &builder, Function &target, ArrayRef<Value *> arguments) {
    CallInst *call = builder.CreateCall(&target, arguments);
    call->setCallingConv(target.getCallingConv());
    // byval, sret, sign extension and the like are part of the calling convention.
    AttributeList attributes = target.getAttributes();
    SmallVector<AttributeSet> parameters;
    for (unsigned i = 0; i < arguments.size(); ++i)
      parameters.push_back(attributes.getParamAttrs(i));
    call->setAttributes(AttributeList::get(module_.getContext(), AttributeSet(),
                                           attributes.getRetAttrs(), parameters));
    return call;
  }

  void commit_on_exception() {
    if (section_.doesNotThrow())
      return;
    EscapeEnumerator exits(section_, "tandem.commit", /*HandleExceptions=*/true);
    while (IRBuilder<> *at = exits.Next()) {
      auto *resume = dyn_cast<ResumeInst>(&*at->GetInsertPoint());
      if (resume == nullptr)
        continue; // a return: committed already
      Value *exception = at->CreateExtractValue(resume->getValue(), {0});
      at->CreateCall(runtime("_ITM_commitTransactionEH", at->getVoidTy(), {at->getPtrTy()}),
                     {exception});
    }
  }

  void set_attributes() {
    section_.removeFnAttr(Attribute::Memory);
    section_.removeFnAttr(Attribute::NoSync);
    section_.removeFnAttr(Attribute::WillReturn);
    section_.removeFnAttr(Attribute::NoFree);
    section_.removeFnAttr(Attribute::AlwaysInline);
    section_.addFnAttr(Attribute::NoInline);
  }

  Function &section_;
  Module &module_;
  Constant *descriptor_;
  AllocaInst *list_ = nullptr; // of a variadic section
};

// A section that is a transaction, or one instruction.
struct Atomic {
  std::size_t index;  // in the report
  Function &function; // the marked function, or the part of it that must be atomic
  Function &body;
};

// One that shares a colour with what cannot be undone would have to look at the colour. Under stm
// there are none: whoever is irrevocable is alone.
bool is_coloured(const ReportSection &section, Enforcement mode) {
  return mode == Enforcement::hybrid &&
         (section.klass != SectionClass::pure || is_contained(section.colours, kProcessColour));
}

// Sections of which short versions are tried first; how many.
std::uint64_t build_shorts(ArrayRef<Atomic> atomics, const Report &report, Enforcement mode,
                           function_ref<bool(std::size_t)> may_be) {
  Simplifier simplifier;
  std::uint64_t built = 0;
  for (const Atomic &atomic : atomics) {
    // A variadic one's body takes a list in place of the variable arguments.
    if (is_coloured(report.sections[atomic.index], mode) || atomic.function.isVarArg() ||
        !may_be(atomic.index))
      continue;
    Function *version = short_version(atomic.body, simplifier);
    if (version == nullptr)
      continue;
    Function &transaction = split_body(atomic.function);
    transaction.setName(atomic.function.getName() + ".tandem.transaction");
    build_short(atomic.function, *version, transaction);
    ++built;
  }
  return built;
}

} // namespace

ReportInstrumentation enforce_by_transactions(Module &module, const std::vector<Section> &sections,
                                              const Report &report, const Cancels &cancels,
                                              const Catalogue &catalogue, Descriptors &descriptors,
                                              const HowTransactions &how) {
  const bool own_locks = how.phases == PhaseKind::own_locks;
  const Actions actions(module, catalogue);
  std::vector<std::pair<std::size_t, std::vector<Instruction *>>> shared;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].kind == SectionKind::lock_region)
      continue;
    const Doing what(told("preparing", sections[i]));
    // Not where it would stay in the section, nor where a cancel would have to give it back.
    if (!own_locks && cancels[i].empty())
      allocate_first(*sections[i].function, catalogue);
    std::vector<Instruction *> instructions = shared_instructions(*sections[i].function, actions);
    // Nobody can tell whether one that shares nothing is atomic: it stays plain code.
    if (!instructions.empty() || own_locks || !cancels[i].empty())
      shared.emplace_back(i, std::move(instructions));
  }
  std::vector<Atomic> atomics;
  const std::set<std::size_t> singles =
      own_locks ? std::set<std::size_t>() : single_operations(module, report, shared);
  for (const auto &[i, instructions] : shared) {
    const Doing what(told("enforcing", sections[i]));
    if (singles.contains(i)) {
      Function &body = split_body(*sections[i].function);
      atomics.push_back({i, *sections[i].function, body});
      build_atomic(*sections[i].function, body, instructions, descriptors.of(i));
      continue;
    }
    // Not out of the program's own locks: other threads can tell when these are acquired. Nor where
    // a cancel leaves the section: it must leave all of it.
    const bool cancellable = !cancels[i].empty();
    Function &function = own_locks || cancellable ? *sections[i].function
                                                  : shrink(*sections[i].function, instructions);
    atomics.push_back(
        {i, function, split_body(function, cancellable && sections[i].kind == SectionKind::block)});
  }
  TransactionalClones clones(module, actions, catalogue, how.inline_barriers);
  std::map<const Function *, Function *> body_of;
  for (const Atomic &atomic : atomics) {
    if (!cancels[atomic.index].empty()) {
      clones.nests(atomic.function);
      continue;
    }
    body_of[&atomic.function] = &atomic.body;
    clones.stands_for(atomic.function, atomic.body);
  }
  for (const Atomic &atomic : atomics) {
    if (singles.contains(atomic.index))
      continue;
    const Doing what(told("enforcing", sections[atomic.index]));
    const ReportSection &described = report.sections[atomic.index];
    if (!cancels[atomic.index].empty()) {
      Wrapper(atomic.function, descriptors.of(atomic.index))
          .build_cancellable(atomic.body, clones.clone_of(atomic.body),
                             sections[atomic.index].kind == SectionKind::block);
      continue;
    }
    const bool plain_only =
        described.irrevocable_at == IrrevocableAt::begin || !clones.can_clone(atomic.function);
    Wrapper wrapper(atomic.function, descriptors.of(atomic.index));
    if (plain_only && descriptors.mode() == Enforcement::hybrid &&
        described.klass == SectionClass::non_revocable)
      wrapper.build_locked(atomic.body);
    else if (plain_only)
      wrapper.build(atomic.body, nullptr, nullptr);
    else
      wrapper.build(atomic.body, &clones.clone_of(atomic.function),
                    begins_guarded_by(atomic.body) && descriptors.mode() != Enforcement::htm &&
                            !is_coloured(described, descriptors.mode())
                        ? &clones.clone_of(atomic.function, Version::guarded_by)
                        : nullptr);
  }
  clones.instrument();
  // A plain body runs inside a section already: sections that it calls are subsumed.
  for (const Atomic &atomic : atomics)
    for (Instruction &instruction : instructions(atomic.body))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (const auto found = body_of.find(call->getCalledFunction());
            found != body_of.end() && !found->first->isVarArg())
          call->setCalledFunction(found->second);
  const std::uint64_t short_sections =
      how.short_sections && descriptors.mode() != Enforcement::htm
          ? build_shorts(atomics, report, descriptors.mode(),
                         [&](std::size_t i) { return !singles.contains(i) && cancels[i].empty(); })
          : 0;
  // A lock that is taken while colours are held must not be one for which a thread holds up others.
  const bool by_phase = own_locks || (how.phases == PhaseKind::colours && !may_block(module));
  for (const Atomic &atomic : atomics) {
    if (!by_phase || singles.contains(atomic.index))
      continue;
    const Doing what(told("enforcing", sections[atomic.index]));
    Function &enforced = split_body(atomic.function);
    enforced.setName(atomic.function.getName() + ".tandem.enforced");
    enforced.addFnAttr(Attribute::NoInline);
    Wrapper(atomic.function, descriptors.of(atomic.index))
        .build_by_phase(atomic.body, enforced, own_locks ? kOwnLocks : kOwnColours,
                        how.parts.empty() ? 0 : how.parts[atomic.index]);
  }
  if (Function *asked = module.getFunction(kCancelled))
    asked->eraseFromParent();
  ReportInstrumentation counts = clones.counts();
  counts.atomics = singles.size();
  counts.short_sections = short_sections;
  return counts;
}

} // namespace tandem
