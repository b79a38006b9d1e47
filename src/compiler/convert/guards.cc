// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/guards.h"

#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

namespace tandem {
namespace {

using namespace llvm;

// Members of std::condition_variable that are in the library's own code, by what pthread has in
// their place: the object is a pthread_cond_t.
struct Condition {
  StringRef member;
  const char *function;
};
constexpr Condition kConditions[] = {
    {"_ZNSt18condition_variableC1Ev", "pthread_cond_init"},
    {"_ZNSt18condition_variableC2Ev", "pthread_cond_init"},
    {"_ZNSt18condition_variableD1Ev", "pthread_cond_destroy"},
    {"_ZNSt18condition_variableD2Ev", "pthread_cond_destroy"},
    {"_ZNSt18condition_variable10notify_oneEv", "pthread_cond_signal"},
    {"_ZNSt18condition_variable10notify_allEv", "pthread_cond_broadcast"},
    {"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", "pthread_cond_wait"},
};

// Classes of the library: lock_function() does not know members that only help others.
constexpr StringRef kThin[] = {
    "5mutex",
    "15recursive_mutex",
    "11timed_mutex",
    "21recursive_timed_mutex",
    "12shared_mutex",
    "18shared_timed_mutex",
    "22__shared_mutex_pthread",
    "12__mutex_base",
    "22__recursive_mutex_base",
    "18__timed_mutex_impl",
    "10lock_guardI",
    "11unique_lockI",
    "11shared_lockI",
    "11scoped_lockI",
    "9__condvar",
    "18condition_variable",
};

// Whether the library's function, which has a body here, only brings a lock, a guard or a condition
// to the pthread library. One that takes several locks at once is an algorithm of its own.
bool is_thin(const Function &function) {
  StringRef name = function.getName();
  if (function.isDeclaration() || !is_library_function(function) ||
      name.contains("condition_variable_any"))
    return false;
  if (name.contains("__gthread_") || name.contains("__glibcxx_rwlock"))
    return true;
  if (const std::optional<LockFunction> does = lock_function(function))
    return does->locks.size() <= 1;
  return (name.consume_front("_ZNSt") || name.consume_front("_ZNKSt")) &&
         any_of(kThin, [&](StringRef member) { return name.starts_with(member); });
}

void call_pthread(CallBase &call, const char *name) {
  Module &module = *call.getModule();
  IRBuilder<> builder(&call);
  Type *pointer = builder.getPtrTy();
  SmallVector<Value *, 2> arguments{call.getArgOperand(0)};
  if (StringRef(name) == "pthread_cond_wait") // std::unique_lock begins with the mutex's address
    arguments.push_back(builder.CreateLoad(pointer, call.getArgOperand(1)));
  else if (StringRef(name) == "pthread_cond_init")
    arguments.push_back(Constant::getNullValue(pointer));
  const SmallVector<Type *, 2> types(arguments.size(), pointer);
  FunctionCallee callee =
      module.getOrInsertFunction(name, FunctionType::get(builder.getInt32Ty(), types, false));
  builder.CreateCall(callee, arguments)->setDebugLoc(call.getDebugLoc());
  if (auto *invoke = dyn_cast<InvokeInst>(&call)) {
    builder.CreateBr(invoke->getNormalDest());
    invoke->getUnwindDest()->removePredecessor(invoke->getParent());
  }
  call.eraseFromParent();
}

void replace_conditions(Module &module, SetVector<Function *> &changed) {
  for (const Condition &condition : kConditions) {
    const Function *member = module.getFunction(condition.member);
    if (member == nullptr || !member->isDeclaration())
      continue;
    for (const User *user : make_early_inc_range(member->users()))
      if (const auto *call = dyn_cast<CallBase>(user);
          call != nullptr && called_function(*call) == member) {
        changed.insert(const_cast<Function *>(call->getFunction()));
        call_pthread(*const_cast<CallBase *>(call), condition.function);
      }
  }
}

// A wait throws only where its thread is cancelled.
void call_waits(Module &module) {
  if (module.getFunction("pthread_cancel") != nullptr)
    return;
  for (const char *name : {"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait"})
    if (const Function *function = module.getFunction(name); function != nullptr)
      for (const User *user : make_early_inc_range(function->users()))
        if (const auto *invoke = dyn_cast<InvokeInst>(user);
            invoke != nullptr && called_function(*invoke) == function)
          changeToCall(const_cast<InvokeInst *>(invoke));
}

// Puts in the calls that are there. Result: whether there were any.
bool put_in(Module &module, SetVector<Function *> &changed) {
  SmallVector<CallBase *> calls;
  for (Function &function : module)
    if (!is_library_function(function))
      for (Instruction &instruction : instructions(function))
        if (auto *call = dyn_cast<CallBase>(&instruction))
          if (const Function *callee = called_function(*call);
              callee != nullptr && is_thin(*callee))
            calls.push_back(call);
  bool done = false;
  for (CallBase *call : calls) {
    Function &caller = *call->getFunction();
    // Without debug information of its own, the inlined code takes the source place of the call.
    stripDebugInfo(*const_cast<Function *>(called_function(*call)));
    InlineFunctionInfo info;
    if (!InlineFunction(*call, info).isSuccess())
      continue;
    changed.insert(&caller);
    done = true;
  }
  return done;
}

// Where a function keeps the exception that is under way stays in memory: the enforcement of a
// section looks for it there. Result: the accesses, which were made volatile.
SmallVector<WeakVH> hold_exceptions(Function &function) {
  SmallVector<WeakVH> held;
  for (Instruction &instruction : instructions(function)) {
    auto *part = dyn_cast<ExtractValueInst>(&instruction);
    if (part == nullptr || !isa<LandingPadInst>(part->getAggregateOperand()))
      continue;
    for (User *user : part->users()) {
      auto *store = dyn_cast<StoreInst>(user);
      if (store == nullptr || !isa<AllocaInst>(store->getPointerOperand()))
        continue;
      for (User *access : store->getPointerOperand()->users())
        if (auto *load = dyn_cast<LoadInst>(access); load != nullptr && !load->isVolatile()) {
          load->setVolatile(true);
          held.emplace_back(load);
        } else if (auto *other = dyn_cast<StoreInst>(access);
                   other != nullptr && !other->isVolatile()) {
          other->setVolatile(true);
          held.emplace_back(other);
        }
    }
  }
  return held;
}

void release_exceptions(const SmallVector<WeakVH> &held) {
  for (const WeakVH &access : held)
    if (auto *load = dyn_cast_or_null<LoadInst>(access))
      load->setVolatile(false);
    else if (auto *store = dyn_cast_or_null<StoreInst>(access))
      store->setVolatile(false);
}

// Whether an exception may leave the function, or the search for its handler come by: that needs
// its unwind information, whatever a clean-up then does. Another definition may be used than one
// that is not exact.
bool may_throw(const Function &function) {
  return !function.hasExactDefinition() ||
         any_of(instructions(function),
                [](const Instruction &by) { return by.mayThrow(/*IncludePhaseOneUnwind=*/true); });
}

// Makes calls of what throws nothing plain ones, beginning with these functions. Result: the
// callers that had a way for an exception.
SetVector<Function *> call_plainly(ArrayRef<Function *> functions) {
  SetVector<Function *> callers;
  SetVector<Function *> work(functions.begin(), functions.end());
  while (!work.empty()) {
    Function &function = *work.pop_back_val();
    if (may_throw(function))
      continue;
    function.setDoesNotThrow();
    for (User *user : make_early_inc_range(function.users())) {
      auto *call = dyn_cast<CallBase>(user);
      if (call == nullptr || called_function(*call) != &function)
        continue;
      Function &caller = *call->getFunction();
      if (auto *invoke = dyn_cast<InvokeInst>(call)) {
        changeToCall(invoke);
        callers.insert(&caller);
      }
      if (!caller.doesNotThrow())
        work.insert(&caller);
    }
  }
  return callers;
}

// Answers whether an address is null where it cannot be, as that of a member of `this`, and that of
// a lock which has been acquired: guards ask for that before they release a lock, and before they
// acquire it again.
void fold_null_tests(Function &function) {
  SmallVector<std::pair<const CallBase *, const Value *>, 4> acquired; // with the lock's address
  for (const Instruction &instruction : instructions(function))
    if (const auto *call = dyn_cast<CallBase>(&instruction))
      if (const Function *callee = called_function(*call); callee != nullptr)
        if (const std::optional<unsigned> lock = acquired_argument(*callee);
            lock && *lock < call->arg_size())
          acquired.emplace_back(call, call->getArgOperand(*lock));
  const DominatorTree dominators(function);
  const SimplifyQuery query(function.getParent()->getDataLayout());
  for (Instruction &instruction : make_early_inc_range(instructions(function))) {
    auto *test = dyn_cast<ICmpInst>(&instruction);
    if (test == nullptr || !test->isEquality() || !isa<ConstantPointerNull>(test->getOperand(1)) ||
        (!isKnownNonZero(test->getOperand(0), query) &&
         none_of(acquired, [&](const auto &acquisition) {
           const auto &[call, lock] = acquisition;
           return lock == test->getOperand(0) && dominators.dominates(call, test);
         })))
      continue;
    test->replaceAllUsesWith(
        ConstantInt::getBool(test->getType(), test->getPredicate() == ICmpInst::ICMP_NE));
    test->eraseFromParent();
  }
}

// Functions that nothing calls any more: what is left in the module of the library's operations is
// what is used.
void erase_unused(Module &module) {
  for (bool more = true; more;) {
    more = false;
    for (Function &function : make_early_inc_range(module))
      if (is_thin(function) && function.use_empty() && function.isDiscardableIfUnused()) {
        function.eraseFromParent();
        more = true;
      }
  }
}

} // namespace

void take_guards_apart(Module &module) {
  // Members of members: a guard's calls the mutex's, that the wrapper of pthread's, and one of a
  // condition that waits until a time calls clocks on the way.
  constexpr unsigned kMostDeep = 16;
  SetVector<Function *> changed;
  for (unsigned depth = 0; depth < kMostDeep && put_in(module, changed); ++depth) {
  }
  replace_conditions(module, changed);
  call_waits(module);
  fold_guards(changed.getArrayRef());
  erase_unused(module);
}

void fold_guards(ArrayRef<Function *> functions) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager analyses;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(analyses);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, analyses, components, modules);
  // Guards become values, and whether one holds its lock is known where that does not depend on a
  // condition of the program's.
  FunctionPassManager values;
  values.addPass(SROAPass(SROAOptions::ModifyCFG));
  FunctionPassManager passes;
  passes.addPass(SCCPPass());
  passes.addPass(SimplifyCFGPass());
  const auto fold = [&](Function &function) {
    const SmallVector<WeakVH> held = hold_exceptions(function);
    analyses.invalidate(function, values.run(function, analyses));
    fold_null_tests(function);
    analyses.invalidate(function, PreservedAnalyses::none());
    analyses.invalidate(function, passes.run(function, analyses));
    release_exceptions(held);
  };
  for (Function *function : functions)
    fold(*function);
  for (Function *caller : call_plainly(functions)) {
    analyses.invalidate(*caller, PreservedAnalyses::none());
    fold(*caller);
  }
}

bool throws_with_lock(const Function &wrapper, const LockCalls &calls) {
  ValueToValueMapTy copies;
  Function *copy = CloneFunction(const_cast<Function *>(&wrapper), copies);
  copy->setComdat(nullptr);
  copy->setLinkage(GlobalValue::InternalLinkage);
  bool throws = false;
  for (const LockSite *site : calls.sites(wrapper)) {
    auto *call = cast<CallBase>(copies[site->call]);
    if (site->wrapper != nullptr)
      throws = throws || throws_with_lock(*site->wrapper, calls);
    else if (site->operation == LockOperation::lock && call->getType()->isIntegerTy())
      call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
    call->setDoesNotThrow();
  }
  if (!throws) {
    fold_guards(copy);
    throws = may_throw(*copy);
  }
  copy->eraseFromParent();
  return throws;
}

} // namespace tandem
