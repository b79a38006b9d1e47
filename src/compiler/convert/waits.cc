// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/waits.h"

#include "compiler/convert/records.h"
#include "compiler/effects/effects.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/converted_operations.h"
#include "compiler/sections/origin.h"
#include "compiler/sections/section.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <array>
#include <cerrno>

namespace tandem {
namespace {

using namespace llvm;

constexpr StringRef kWait = "pthread_cond_wait";
constexpr StringRef kTimed = "pthread_cond_timedwait";
constexpr StringRef kClocked = "pthread_cond_clockwait";
constexpr StringRef kSignal = "pthread_cond_signal";
constexpr StringRef kBroadcast = "pthread_cond_broadcast";
// sleepers.c's way to tell a clock.
constexpr int kNoDeadline = -1;
constexpr int kConditionsClock = -2;
// The highest of the library's clocks that a wait may have: CLOCK_MONOTONIC.
constexpr unsigned kHighestClock = 1;
constexpr std::uint64_t kSecond = 1'000'000'000;
// A pthread_cond_t's first bytes: enough to tell its place from its neighbours'.
constexpr std::uint64_t kConditionBytes = 4;
// On a sleep: the names of the condition and of the lock.
constexpr const char *kWaitNames = "tandem.wait";
// Of the library, by which it signals nothing, whatever they are given.
constexpr std::array<StringRef, 11> kSilent{"free",    "realloc", "munmap",      "memset",
                                            "memcpy",  "memmove", "bzero",       "_ZdlPv",
                                            "_ZdlPvm", "memcmp",  "__cxa_atexit"};
// Functions put into their callers one after another, at most.
constexpr unsigned kMostRounds = 64;

bool is_call_of(const CallBase &call, ArrayRef<StringRef> names) {
  const Function *callee = called_function(call);
  return callee != nullptr && callee->isDeclaration() && is_contained(names, callee->getName());
}

std::string place_or_name(const Instruction &instruction) {
  const std::string place = source_place(instruction);
  return place.empty() ? source_name(*instruction.getFunction()) : place;
}

ConditionOperation operation_at(const CallBase &call, std::string condition, std::string lock) {
  const DebugLoc &at = call.getDebugLoc();
  return {at ? at->getFilename().str() : "", at ? at.getLine() : 0,
          source_name(*call.getFunction()), std::move(condition), std::move(lock)};
}

// The lock that waits of `function` give up is its caller's, and it operates on no other.
bool waits_for_caller(const Function &function, const LockCalls &calls) {
  const std::vector<const LockSite *> sites = calls.sites(function);
  return !sites.empty() && all_of(sites, [&](const LockSite *site) {
    return site->operation == LockOperation::wait && !site->named && site->targets.size() == 1 &&
           origin_of(site->targets.front().base, function.getParent()->getDataLayout());
  });
}

// Makes values of the function's own variables, so that its locks are seen to be its arguments also
// where it is in its callers.
void promote_variables(Function &function) {
  std::vector<AllocaInst *> variables;
  for (Instruction &instruction : function.getEntryBlock())
    if (auto *variable = dyn_cast<AllocaInst>(&instruction);
        variable != nullptr && isAllocaPromotable(variable))
      variables.push_back(variable);
  DominatorTree tree(function);
  PromoteMemToReg(variables, tree);
}

// Puts functions like `int wait_for(pthread_cond_t *c, pthread_mutex_t *m)` into those that call
// them and know the lock's name.
void put_into_callers(Function &function) {
  std::vector<CallBase *> callers;
  for (User *user : function.users()) {
    auto *call = dyn_cast<CallBase>(user);
    if (call != nullptr && call->getCalledOperand() == &function &&
        call->getFunction() != &function)
      callers.push_back(call);
  }
  if (callers.empty())
    return;
  promote_variables(function);
  for (CallBase *call : callers) {
    InlineFunctionInfo info;
    InlineFunction(*call, info);
  }
  if (function.use_empty() && function.hasLocalLinkage())
    function.eraseFromParent();
}

class Waits {
public:
  Waits(Module &module, const ConversionFile &file, const std::set<std::string> &known)
      : module_(module), file_(file), known_(known) {}

  Result<std::vector<ConditionOperation>> convert() {
    for (unsigned round = 0; round < kMostRounds; ++round) {
      const LockCalls calls(module_);
      Function *wrapper = nullptr;
      for (Function &function : module_)
        if (wrapper == nullptr && !tried_.contains(&function) && waits_for_caller(function, calls))
          wrapper = &function;
      if (wrapper == nullptr)
        break;
      tried_.insert(wrapper);
      put_into_callers(*wrapper);
    }
    const LockCalls calls(module_);
    const Result<NamedLocks> named = NamedLocks::match(module_, file_, calls, known_);
    if (!named)
      return named.error();
    std::vector<const LockSite *> waits;
    for (const Function &function : module_)
      for (const LockSite *site : calls.sites(function))
        if (site->operation == LockOperation::wait && named->section_of(*site) &&
            isa<CallInst>(site->call) && is_call_of(*site->call, {kWait, kTimed, kClocked}))
          waits.push_back(site);
    if (waits.empty())
      return std::move(result_);
    if (Status good = check_program(*waits.front()); !good)
      return good.error();
    for (const LockSite *site : waits)
      rewrite(cast<CallInst>(*const_cast<CallBase *>(site->call)), *site);
    return std::move(result_);
  }

private:
  [[nodiscard]] Status check_program(const LockSite &wait) const {
    const auto refuse = [&](const User &by, std::string_view why) {
      const auto *instruction = dyn_cast<Instruction>(&by);
      return Error{
          fmt::format("{}: lock '{}' is given up by a condition wait, and {} ({}); keep "
                      "it a lock",
                      place_or_name(*wait.call), wait.locks.front(), why,
                      instruction == nullptr ? "by pointer" : place_or_name(*instruction))};
    };
    if (const Function *cancel = module_.getFunction("pthread_cancel");
        cancel != nullptr && cancel->isDeclaration() && !cancel->use_empty())
      return refuse(**cancel->user_begin(), "the program cancels threads, which could not wait for "
                                            "the lock again");
    if (const Function *shared = module_.getFunction("pthread_condattr_setpshared");
        shared != nullptr && shared->isDeclaration())
      for (const User *user : shared->users()) {
        const auto *call = dyn_cast<CallBase>(user);
        const auto *told =
            call == nullptr ? nullptr : dyn_cast<ConstantInt>(call->getArgOperand(1));
        if (told == nullptr || !told->isZero())
          return refuse(*user, "the program may make conditions that several processes share");
      }
    return Unit{};
  }

  CallInst *call(IRBuilder<> &builder, StringRef name, Type *result, ArrayRef<Value *> arguments) {
    SmallVector<Type *> types;
    for (const Value *argument : arguments)
      types.push_back(argument->getType());
    FunctionCallee callee =
        module_.getOrInsertFunction(name, FunctionType::get(result, types, false));
    if (auto *function = dyn_cast<Function>(callee.getCallee()))
      function->setDoesNotThrow();
    return builder.CreateCall(callee, arguments);
  }

  // A local variable: what the section computes and the sleep needs, or the wait's result.
  static AllocaInst *local(Function &function, Type *type, const char *name) {
    IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    return builder.CreateAlloca(type, nullptr, name);
  }

  void note(CallInst &sleep, const CallInst &wait, const LockSite &site) {
    LLVMContext &context = module_.getContext();
    const std::string condition = access_path(wait.getArgOperand(0), 0).print();
    sleep.setMetadata(kWaitNames,
                      MDNode::get(context, {MDString::get(context, condition),
                                            MDString::get(context, site.locks.front())}));
    result_.push_back(operation_at(wait, condition, site.locks.front()));
  }

  // What the library would refuse, before it gives up the lock: such a wait only returns.
  Value *is_valid(IRBuilder<> &builder, const CallInst &wait, Value *nanoseconds) {
    Value *valid = builder.CreateICmpULT(nanoseconds, builder.getInt64(kSecond));
    if (is_call_of(wait, {kClocked}))
      valid = builder.CreateAnd(
          valid, builder.CreateICmpULE(wait.getArgOperand(2), builder.getInt32(kHighestClock)));
    return valid;
  }

  void rewrite(CallInst &wait, const LockSite &site) {
    Function &function = *wait.getFunction();
    Value *condition = wait.getArgOperand(0);
    Value *lock = wait.getArgOperand(1);
    const bool limited = !is_call_of(wait, {kWait});
    IRBuilder<> builder(&wait);
    Type *word = builder.getInt32Ty();
    Type *wide = builder.getInt64Ty();
    AllocaInst *taken = local(function, wide, "tandem.ticket");
    AllocaInst *attributes = local(function, word, "tandem.attributes");
    AllocaInst *result = local(function, word, "tandem.woken");
    Value *clock = builder.getInt32(kNoDeadline);
    AllocaInst *seconds = nullptr;
    AllocaInst *nanoseconds = nullptr;
    if (limited) {
      const bool clocked = is_call_of(wait, {kClocked});
      clock = clocked ? wait.getArgOperand(2) : builder.getInt32(kConditionsClock);
      Value *deadline = wait.getArgOperand(clocked ? 3 : 2);
      seconds = local(function, wide, "tandem.seconds");
      nanoseconds = local(function, wide, "tandem.nanoseconds");
      builder.CreateStore(builder.CreateAlignedLoad(wide, deadline, Align(8)), seconds);
      Value *fraction = builder.CreateAlignedLoad(
          wide, builder.CreateConstGEP1_64(builder.getInt8Ty(), deadline, 8), Align(8));
      builder.CreateStore(fraction, nanoseconds);
      builder.CreateStore(builder.getInt32(EINVAL), result);
      builder.SetInsertPoint(
          SplitBlockAndInsertIfThen(is_valid(builder, wait, fraction), &wait, false,
                                    MDBuilder(module_.getContext()).createLikelyBranchWeights()));
      builder.SetCurrentDebugLocation(wait.getDebugLoc());
    }
    builder.CreateStore(call(builder, kHeldTaken, wide, {}), taken);
    // Once the lock is given up the condition may be gone: then it is an address only.
    builder.CreateStore(call(builder, kHeldAttributes, word, {condition}), attributes);
    call(builder, "pthread_mutex_unlock", word, {lock});
    const auto load = [&](AllocaInst *variable) -> Value * {
      return variable == nullptr ? static_cast<Value *>(builder.getInt64(0))
                                 : builder.CreateLoad(wide, variable);
    };
    CallInst *sleep = call(builder, kHeldSleep, word,
                           {condition, load(taken), builder.CreateLoad(word, attributes), clock,
                            load(seconds), load(nanoseconds)});
    note(*sleep, wait, site);
    builder.CreateStore(sleep, result);
    call(builder, "pthread_mutex_lock", word, {lock});
    builder.SetInsertPoint(&wait);
    wait.replaceAllUsesWith(builder.CreateLoad(word, result));
    wait.eraseFromParent();
  }

  Module &module_;
  const ConversionFile &file_;
  const std::set<std::string> &known_;
  std::set<const Function *> tried_;
  std::vector<ConditionOperation> result_;
};

std::string name_on(const CallBase &sleep, unsigned which) {
  const MDNode *names = sleep.getMetadata(kWaitNames);
  return names == nullptr ? "" : cast<MDString>(names->getOperand(which))->getString().str();
}

class Signals {
public:
  Signals(Module &module, const LockCalls &calls, const PointsToAnalysis &points_to)
      : module_(module), points_to_(points_to) {
    for (Function &function : module_)
      for (Instruction &instruction : instructions(function))
        if (auto *call = dyn_cast<CallBase>(&instruction)) {
          if (sleep_at(*call) != nullptr)
            sleeps_.push_back({call, ranges(*call->getArgOperand(0))});
          else if (const LockSite *site = calls.at(*call);
                   site != nullptr && site->operation == LockOperation::wait)
            append_range(real_, ranges(*call->getArgOperand(0)));
          else if (is_call_of(*call, {kSignal, kBroadcast}))
            signals_.push_back(call);
        }
  }

  Result<std::vector<ConditionOperation>> convert() {
    if (sleeps_.empty())
      return std::move(result_);
    for (Status (Signals::*check)() :
         {&Signals::check_outside, &Signals::check_names, &Signals::check_marked})
      if (Status good = (this->*check)(); !good)
        return good.error();
    for (CallBase *signal : signals_)
      rewrite(*signal);
    return std::move(result_);
  }

private:
  using Ranges = std::vector<ObjectRange>;
  struct Sleep {
    const CallBase *call;
    Ranges conditions;
  };

  [[nodiscard]] Ranges ranges(const Value &condition) const {
    return points_to_.objects(condition, kConditionBytes);
  }

  // Object 0, and nothing at all, may be any.
  static bool may_meet(const Ranges &a, const Ranges &b) {
    const auto unknown = [](const Ranges &ranges) {
      return ranges.empty() ||
             any_of(ranges, [](const ObjectRange &range) { return range.object == 0; });
    };
    return unknown(a) || unknown(b) || any_of(a, [&](const ObjectRange &one) {
             return any_of(b, [&](const ObjectRange &other) {
               return one.object == other.object && one.begin < other.end && other.begin < one.end;
             });
           });
  }

  [[nodiscard]] const Sleep *sleep_for(const Ranges &condition) const {
    const auto found =
        find_if(sleeps_, [&](const Sleep &sleep) { return may_meet(sleep.conditions, condition); });
    return found == sleeps_.end() ? nullptr : &*found;
  }

  [[nodiscard]] Error refuse(const Instruction &at, const Sleep &sleep,
                             std::string_view what) const {
    return Error{fmt::format("{}: {}, and a thread waits for it with the converted lock '{}' at "
                             "{}; keep that lock",
                             place_or_name(at), what, lock_of_wait(*sleep.call),
                             place_or_name(*sleep.call))};
  }

  // Code outside the program that may know a condition by being given it.
  Status check_outside() {
    for (const Function &function : module_)
      for (const Instruction &instruction : instructions(function)) {
        const auto *call = dyn_cast<CallBase>(&instruction);
        const Function *callee = call == nullptr ? nullptr : called_function(*call);
        if (callee == nullptr || !callee->isDeclaration() || callee->isIntrinsic() ||
            callee->getName().starts_with("pthread_") ||
            callee->getName().starts_with("_TANDEM_") || is_contained(kSilent, callee->getName()))
          continue;
        const std::optional<LockFunction> known = lock_function(*callee);
        const bool notifies = known && (known->signals || known->operation == LockOperation::wait);
        for (const Use &argument : call->args()) {
          if (!argument->getType()->isPointerTy())
            continue;
          const AccessPath path = access_path(argument.get(), 0);
          const bool is_condition = is_condition_type(path.type);
          if (!is_condition && !(notifies && argument.getOperandNo() == 0))
            continue;
          if (const Sleep *sleep = sleep_for(ranges(*argument.get())))
            return refuse(instruction, *sleep,
                          fmt::format("condition '{}' is given to '{}', code outside the program",
                                      path.print(), shown_name(*callee)));
        }
      }
    return Unit{};
  }

  // The variable that the condition may lie in and that code outside the program can name.
  [[nodiscard]] const GlobalVariable *named_outside(const Sleep &sleep) const {
    const auto outside = [](const Value *object) {
      const auto *global = dyn_cast_or_null<GlobalVariable>(object);
      return global != nullptr && !global->hasLocalLinkage() ? global : nullptr;
    };
    if (const auto *global = outside(getUnderlyingObject(sleep.call->getArgOperand(0))))
      return global;
    for (const ObjectRange &range : sleep.conditions)
      if (range.object != 0)
        if (const auto *global = outside(points_to_.label(range.object)))
          return global;
    return nullptr;
  }

  Status check_names() {
    for (const Sleep &sleep : sleeps_)
      if (const GlobalVariable *global = named_outside(sleep))
        return Error{fmt::format("{}: a thread waits {}, and the condition may lie in '{}', which "
                                 "code outside the program can name; keep '{}' a lock",
                                 place_or_name(*sleep.call), describe_wait(*sleep.call),
                                 source_name(*global), lock_of_wait(*sleep.call))};
    return Unit{};
  }

  // A section that the program marks goes on where a converted lock in it is released.
  Status check_marked() {
    SetVector<const Function *> inside;
    std::optional<Error> found;
    const auto look = [&](const Instruction &instruction) {
      if (const CallBase *sleep = sleep_at(instruction); sleep != nullptr && !found)
        found =
            Error{fmt::format("{}: a thread waits here {}, which may be inside of a section "
                              "that the program marks: a section cannot give up the middle of "
                              "itself; keep '{}' a lock",
                              place_or_name(*sleep), describe_wait(*sleep), lock_of_wait(*sleep))};
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        for (const Function *target : points_to_.targets(*call))
          inside.insert(target);
    };
    for (const Section &section : discover_sections(module_)) {
      if (section.kind == SectionKind::lock_region)
        continue;
      if (section.body.empty())
        inside.insert(section.function);
      for (const Instruction *instruction : section.body)
        look(*instruction);
    }
    for (std::size_t i = 0; i < inside.size(); ++i) // grows
      for (const Instruction &instruction : instructions(*inside[i]))
        look(instruction);
    if (found)
      return *found;
    return Unit{};
  }

  void rewrite(CallBase &signal) {
    const Ranges condition = ranges(*signal.getArgOperand(0));
    if (sleep_for(condition) == nullptr)
      return;
    IRBuilder<> builder(&signal);
    FunctionCallee wake = module_.getOrInsertFunction(
        is_call_of(signal, {kSignal}) ? kHeldSignal : kHeldBroadcast,
        FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false));
    cast<Function>(wake.getCallee())->setDoesNotThrow();
    builder.CreateCall(wake, {signal.getArgOperand(0)});
    if (isa<InvokeInst>(signal) || (!real_.empty() && may_meet(condition, real_)))
      return; // also for those who wait really
    result_.push_back(operation_at(signal, access_path(signal.getArgOperand(0), 0).print(), ""));
    signal.replaceAllUsesWith(Constant::getNullValue(signal.getType()));
    signal.eraseFromParent();
  }

  Module &module_;
  const PointsToAnalysis &points_to_;
  std::vector<Sleep> sleeps_;
  Ranges real_; // conditions that are waited for really
  std::vector<CallBase *> signals_;
  std::vector<ConditionOperation> result_;
};

} // namespace

Result<std::vector<ConditionOperation>> convert_waits(Module &module, const ConversionFile &file,
                                                      const std::set<std::string> &known) {
  return Waits(module, file, known).convert();
}

Result<std::vector<ConditionOperation>> convert_signals(Module &module, const LockCalls &calls,
                                                        const PointsToAnalysis &points_to) {
  return Signals(module, calls, points_to).convert();
}

const CallBase *sleep_at(const Instruction &instruction) {
  const auto *call = dyn_cast<CallBase>(&instruction);
  const Function *callee = call == nullptr ? nullptr : called_function(*call);
  return callee != nullptr && callee->getName() == kHeldSleep ? call : nullptr;
}

bool has_sleepers(const Module &module) { return module.getFunction(kHeldSleep) != nullptr; }

std::string describe_wait(const CallBase &sleep) {
  return fmt::format("with '{}' for '{}'", name_on(sleep, 1), name_on(sleep, 0));
}

std::string lock_of_wait(const CallBase &sleep) { return name_on(sleep, 1); }

} // namespace tandem
