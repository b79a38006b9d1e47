// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/unwrap.h"

#include "compiler/sections/access_path.h"
#include "compiler/sections/blocks.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/condition_reads.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/origin.h"
#include "compiler/sections/regions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

#include <optional>
#include <set>

namespace tandem {
namespace {

using namespace llvm;

// Wrappers of wrappers, one level a round.
constexpr unsigned kMostRounds = 16;

// Instructions of a function that is a wrapper whatever its callers do: with a switch and a log it
// has a hundred; of one that is still put into its callers, and of all its copies: a program has
// some hundred calls of it.
constexpr std::size_t kSmall = 120;
constexpr std::size_t kLargest = 400;
constexpr std::size_t kMostCopied = 20000;

// A call whose frame, or whose number of runs, the code behind it knows.
bool needs_its_frame(const Instruction &instruction) {
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (call == nullptr)
    return false;
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(call))
    return is_contained({Intrinsic::returnaddress, Intrinsic::frameaddress,
                         Intrinsic::addressofreturnaddress, Intrinsic::sponentry},
                        intrinsic->getIntrinsicID());
  const Function *callee = called_function(*call);
  return callee != nullptr && is_block_marker(*callee);
}

std::vector<CallBase *> direct_calls(const Function &function) {
  std::vector<CallBase *> calls;
  for (const User *user : function.users())
    if (const auto *call = dyn_cast<CallBase>(user);
        call != nullptr && call->getCalledOperand() == &function)
      calls.push_back(const_cast<CallBase *>(call)); // NOLINT: of a module that is ours to change
  return calls;
}

bool is_annotated(const Function &function) {
  return any_of(function.users(), [](const User *user) {
    return isa<ConstantStruct>(user) && any_of(user->users(), [](const User *array) {
             return any_of(array->users(), [](const User *holder) {
               const auto *global = dyn_cast<GlobalVariable>(holder);
               return global != nullptr && global->getName() == "llvm.global.annotations";
             });
           });
  });
}

bool can_copy(const Function &function) {
  return isInlineViable(const_cast<Function &>(function)).isSuccess(); // NOLINT: it only reads
}

// Why a function cannot be put into the callers that name it.
std::string why_not_copied(const Function &function) {
  const std::vector<CallBase *> calls = direct_calls(function);
  const std::size_t size = function.getInstructionCount();
  if (calls.empty())
    return function.hasAddressTaken() ? "it is only called by pointer"
                                      : "nothing in the program calls it";
  if (is_annotated(function) || any_of(instructions(function), needs_its_frame))
    return "it has sections of its own, or looks at its frame";
  if (any_of(instructions(function), [](const Instruction &at) { return isa<VAStartInst>(at); }))
    return "it takes any number of arguments";
  if (any_of(instructions(function), [](const Instruction &at) {
        const auto *call = dyn_cast<CallBase>(&at);
        return call != nullptr && call->hasFnAttr(Attribute::ReturnsTwice);
      }))
    return "it calls setjmp or the like";
  if (!can_copy(function) || function.isInterposable())
    return "it calls itself, or jumps in a way that cannot be copied";
  if (size > kLargest || size * calls.size() > kMostCopied)
    return "it is too large to be put into its callers";
  return "";
}

// What a function leaves of locks that its caller knows of.
struct Leak {
  std::set<std::string> held;     // it returns with one that it has acquired
  std::set<std::string> released; // it releases one that it has not acquired
  bool waits = false;             // gives one that its caller names up for as long as it waits
  bool is_given = false;          // its caller names what it returns with
  bool works = false;             // it does more than that
  // It also has the other end of one that it returns with: it may acquire and release on the same
  // condition, which its paths do not tell.
  bool has_both = false;
};

// The last name in an access path, a field's or a variable's: "mutex" of `c->stats.mutex`, "m" of
// `*m`, "locks[]" of `locks[]`.
std::string last_name(const std::string &path) {
  const std::size_t end = path.find_last_of(".>*");
  return end == std::string::npos ? path : path.substr(end + 1);
}

void add_names(const LockSite &site, std::set<std::string> &names) {
  for (const std::string &lock : site.locks)
    names.insert(last_name(lock));
}

bool have_common(const std::set<std::string> &a, const std::set<std::string> &b) {
  return any_of(a, [&](const std::string &name) { return b.contains(name); });
}

// Whether the caller names the lock. Who waits with a guard of its own may find the lock by another
// way than who holds it (a condition variable that has a pointer to its lock): that stays one call.
bool is_given(const LockSite &site) {
  const DataLayout &layout = site.call->getModule()->getDataLayout();
  const auto &targets = site.operation == LockOperation::wait ? site.targets : site.resolved;
  return any_of(targets, [&](const LockSite::Target &target) {
    return target.base != nullptr && origin_of(target.base, layout).has_value();
  });
}

// Whether a function does more than lock, count and report: it returns an object, or calls
// functions of the program that come back.
bool works(const Function &function, const LockCalls &calls) {
  return function.getReturnType()->isPointerTy() ||
         any_of(instructions(function), [&](const Instruction &instruction) {
           const auto *call = dyn_cast<CallBase>(&instruction);
           if (call == nullptr || call->doesNotReturn() || calls.at(*call) != nullptr)
             return false;
           const Function *callee = called_function(*call);
           return callee == nullptr ? call->isIndirectCall()
                                    : !callee->isDeclaration() && !callee->doesNotReturn() &&
                                          !calls.is_wrapper(*callee);
         });
}

Leak leak_of(const Function &function, const LockCalls &calls, const ForeignReleases &foreign) {
  Leak leak;
  DenseSet<const CallBase *> ends;
  for (const Region &region : find_regions_in(function, calls, foreign)) {
    ends.insert(region.exits.begin(), region.exits.end());
    ends.insert(region.partial.begin(), region.partial.end());
    if (region.shape != RegionShape::escapes)
      continue;
    if (region.entry.operation == LockOperation::wait) {
      leak.waits = leak.waits || is_given(region.entry);
      continue;
    }
    add_names(region.entry, leak.held);
    leak.is_given = leak.is_given || is_given(region.entry);
    const auto releases = [&](const CallBase *end) {
      const LockSite *site = calls.at(*end);
      return site == nullptr || site->operation == LockOperation::unlock;
    };
    leak.has_both = leak.has_both || any_of(region.exits, releases) || !region.partial.empty();
  }
  for (const LockSite *site : calls.sites(function))
    if (site->operation == LockOperation::unlock && !site->empty && !site->guard &&
        !ends.contains(site->call))
      add_names(*site, leak.released);
  leak.works = works(function, calls);
  // Two locks of one name: which end is whose the text does not tell.
  std::set<std::string> acquired;
  for (const LockSite *site : calls.sites(function))
    if (site->operation == LockOperation::lock || site->operation == LockOperation::trylock)
      add_names(*site, acquired);
  leak.has_both = leak.has_both || have_common(acquired, leak.released);
  return leak;
}

using Leaks = DenseMap<const Function *, Leak>;

// Whether what a function releases is what functions that it calls return with: their caller is
// where such a lock is held, and releases nothing of its own caller's.
bool gets_what_it_releases(const Function &function, const Leak &leak, const Leaks &leaks) {
  return any_of(instructions(function), [&](const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    const auto found = leaks.find(callee);
    return callee != nullptr && found != leaks.end() &&
           have_common(found->second.held, leak.released);
  });
}

// Whether the function creates or joins the thread that its caller names: which one that is only
// the caller tells.
bool passes_thread_on(const Function &function) {
  if (is_library_function(function))
    return false;
  const DataLayout &layout = function.getParent()->getDataLayout();
  return any_of(instructions(function), [&](const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    if (callee == nullptr || !callee->isDeclaration())
      return false;
    const StringRef name = callee->getName();
    const bool creates = name == "pthread_create" || name == "thrd_create";
    const bool joins =
        name == "pthread_join" || name == "thrd_join" || name == "_ZNSt6thread4joinEv";
    const unsigned number = joins ? 0 : name == "pthread_create" ? 2 : 1;
    return (creates || joins) && number < call->arg_size() &&
           isa<Argument>(base_of(call->getArgOperand(number), layout).first);
  });
}

// The argument that a value is computed from, with nothing but constants; null where that is not
// so.
const Argument *argument_behind(const Value &value, unsigned depth = 6) {
  if (depth == 0)
    return nullptr;
  if (const auto *load = dyn_cast<LoadInst>(&value)) {
    const auto *slot = dyn_cast<AllocaInst>(load->getPointerOperand());
    const StoreInst *store = slot == nullptr ? nullptr : only_store(*slot);
    return store == nullptr ? nullptr : dyn_cast<Argument>(store->getValueOperand());
  }
  const auto *instruction = dyn_cast<Instruction>(&value);
  if (instruction == nullptr || !isa<CastInst, BinaryOperator, CmpInst>(instruction))
    return nullptr;
  const bool constant =
      instruction->getNumOperands() == 1 || isa<Constant>(instruction->getOperand(1));
  return constant ? argument_behind(*instruction->getOperand(0), depth - 1) : nullptr;
}

// Whether callers choose by a constant which of its operations a function does: `lock(m, UNLOCK)`.
bool is_told_what_to_do(const Function &function) {
  const std::vector<CallBase *> calls = direct_calls(function);
  return any_of(function, [&](const BasicBlock &block) {
    const Instruction &end = *block.getTerminator();
    const auto *branch = dyn_cast<BranchInst>(&end);
    const auto *choice = dyn_cast<SwitchInst>(&end);
    const Value *condition = choice != nullptr                              ? choice->getCondition()
                             : branch != nullptr && branch->isConditional() ? branch->getCondition()
                                                                            : nullptr;
    const Argument *argument = condition == nullptr ? nullptr : argument_behind(*condition);
    return argument != nullptr && argument->getType()->isIntegerTy() &&
           all_of(calls, [&](const CallBase *call) { // of older C with fewer arguments, too
             return argument->getArgNo() < call->arg_size() &&
                    isa<ConstantInt>(call->getArgOperand(argument->getArgNo()));
           });
  });
}

// Whether a function is to be put into its callers: it acquires, or releases, or waits with a lock
// of theirs, and is as small as wrappers are; or does nothing but the one or the other, as it is
// told. One that acquires a lock of its own and goes on to work for the caller, such as one that
// looks something up and returns it locked, is none.
bool is_wrapper(const Function &function, const Leaks &leaks) {
  const std::size_t size = function.getInstructionCount();
  if (direct_calls(function).empty())
    return false;
  if (passes_thread_on(function))
    return true;
  const auto found = leaks.find(&function);
  if (found == leaks.end() || size > kSmall)
    return false;
  const Leak &leak = found->second;
  if (leak.has_both)
    return !leak.works && is_told_what_to_do(function);
  if (leak.held.empty())
    return leak.waits || (!leak.released.empty() && !gets_what_it_releases(function, leak, leaks));
  return leak.released.empty() && (leak.is_given || !leak.works);
}

// The functions of the source that were put into callers, for operation_place().
constexpr StringRef kUnwrapped = "tandem.unwrapped";

void remember(Module &module, DISubprogram *function) {
  NamedMDNode *list = module.getOrInsertNamedMetadata(kUnwrapped);
  if (function != nullptr && !is_contained(list->operands(), function))
    list->addOperand(function);
}

// Whether a function only computes an address, from what it is given: `lock_of(x)` is `&x->m`. It
// may lock on the way, as a wrapper that returns the lock does.
bool is_accessor(const Function &function, const LockCalls &calls, unsigned depth = 0) {
  return depth < 4 && !function.isDeclaration() && !is_library_function(function) &&
         function.getReturnType()->isPointerTy() && function.getInstructionCount() <= kSmall &&
         !any_of(
             instructions(function),
             [&](const Instruction &instruction) {
               if (const auto *store = dyn_cast<StoreInst>(&instruction))
                 return !isa<AllocaInst>(store->getPointerOperand());
               const auto *call = dyn_cast<CallBase>(&instruction);
               if (call == nullptr || isa<IntrinsicInst>(call) || call->doesNotReturn())
                 return instruction.mayWriteToMemory() && call == nullptr;
               const LockSite *site = calls.at(*call);
               if (site != nullptr)
                 return site->operation != LockOperation::lock;
               const Function *callee = called_function(*call);
               return callee == nullptr ||
                      (!returns_its_argument(*callee) && !is_accessor(*callee, calls, depth + 1));
             }) &&
         why_not_copied(function).empty();
}

// The call by which an address was computed; null where none was.
CallBase *computed_by(const Value *address, const DataLayout &layout) {
  for (unsigned depth = 0; depth < 8; ++depth) {
    address = base_of(address, layout).first;
    if (const auto *call = dyn_cast<CallBase>(address))
      return const_cast<CallBase *>(call); // NOLINT: of a module that is ours to change
    if (const auto *load = dyn_cast<LoadInst>(address))
      address = load->getPointerOperand();
    else if (const auto *element = dyn_cast<GEPOperator>(address))
      address = element->getPointerOperand();
    else
      return nullptr;
  }
  return nullptr;
}

// What a pointer is, through local variables that are given one value each. With `dominators` only
// where they were given it on every way to where it is read: then this is the value that promoting
// the variables to registers would put there, so the one that was computed last. Without, what is
// read may be undefined, or the value of an earlier time if that is not constant.
const Value *exactly(const Value *value, const DominatorTree *dominators) {
  for (unsigned depth = 0; depth < 8; ++depth) {
    const auto *load = dyn_cast<LoadInst>(value);
    const AllocaInst *variable =
        load == nullptr || load->isVolatile() ? nullptr : variable_at(load->getPointerOperand());
    const StoreInst *store =
        variable == nullptr || !variable->isStaticAlloca() ? nullptr : single_store(*variable);
    if (store == nullptr || (dominators != nullptr && !dominators->dominates(store, load)))
      break;
    value = store->getValueOperand();
  }
  return value;
}

// Takes the ways out of the program on which the address of a lock that the function has acquired
// would be null: clean-ups and guards ask for that before they release it.
void fold_null_tests(Module &module) {
  // With the addresses of their locks.
  DenseMap<const Function *, SmallVector<std::pair<const CallBase *, const Value *>, 4>>
      acquisitions;
  for (const Function &operation : module)
    if (const std::optional<unsigned> lock = acquired_argument(operation))
      for (const CallBase *call : direct_calls(operation))
        if (*lock < call->arg_size())
          acquisitions[call->getFunction()].emplace_back(call, call->getArgOperand(*lock));
  for (Function &function : module) {
    const auto acquired = acquisitions.find(&function);
    if (acquired == acquisitions.end())
      continue;
    std::optional<DominatorTree> dominators;
    SmallVector<std::pair<ICmpInst *, bool>> known;
    for (BasicBlock &block : function) {
      auto *branch = dyn_cast<BranchInst>(block.getTerminator());
      auto *test = branch == nullptr || branch->isUnconditional()
                       ? nullptr
                       : dyn_cast<ICmpInst>(branch->getCondition());
      if (test == nullptr || !test->isEquality() ||
          !isa<ConstantPointerNull>(test->getOperand(1)) || !test->hasOneUse())
        continue;
      if (!dominators)
        dominators.emplace(function);
      // As values in registers: where the acquisition comes first on every way, it was of this one.
      const Value *value = exactly(test->getOperand(0), &*dominators);
      if (any_of(acquired->second, [&](const auto &acquisition) {
            const auto &[call, lock] = acquisition;
            return exactly(lock, &*dominators) == value && dominators->dominates(call, test);
          }))
        known.emplace_back(test, test->getPredicate() == ICmpInst::ICMP_NE);
    }
    for (const auto &[test, holds] : known) {
      auto *branch = cast<BranchInst>(*test->user_begin());
      test->replaceAllUsesWith(ConstantInt::getBool(module.getContext(), holds));
      test->eraseFromParent();
      ConstantFoldTerminator(branch->getParent());
    }
    if (!known.empty())
      removeUnreachableBlocks(function);
  }
}

// Puts accessors in where they give the address of a lock, so that both ends of a region are
// computed alike. Result: their names.
std::vector<std::string> open_accessors(Module &module, const LockCalls &calls,
                                        function_ref<bool(const Function &)> keep) {
  const DataLayout &layout = module.getDataLayout();
  SetVector<CallBase *> found;
  for (const Function &function : module)
    for (const LockSite *site : calls.sites(function))
      for (const LockSite::Target &target : site->resolved)
        if (CallBase *call = target.base == nullptr ? nullptr : computed_by(target.base, layout))
          if (const Function *callee = called_function(*call);
              callee != nullptr && callee != &function && !keep(*callee) &&
              is_accessor(*callee, calls))
            found.insert(call);
  std::vector<std::string> names;
  SetVector<Function *> opened;
  for (CallBase *call : found) {
    Function &callee = *const_cast<Function *>(called_function(*call)); // NOLINT: as above
    InlineFunctionInfo info;
    if (!InlineFunction(*call, info).isSuccess())
      continue;
    names.push_back(source_name(callee));
    remember(module, callee.getSubprogram());
    opened.insert(&callee);
  }
  for (Function *callee : opened)
    if (callee->hasLocalLinkage() && callee->use_empty())
      callee->eraseFromParent();
  return names;
}

bool calls_any(const Function &function, const DenseSet<const Function *> &of) {
  return any_of(instructions(function), [&](const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    return callee != nullptr && of.contains(callee);
  });
}

// Whether nothing in the program writes to a variable, or may.
bool is_never_written(const Value &address, unsigned depth = 0) {
  if (const auto *global = dyn_cast<GlobalVariable>(&address); global != nullptr)
    if (global->isConstant())
      return true;
  return depth < 8 && all_of(
                          address.users(),
                          [&](const User *user) {
                            return isa<LoadInst>(user) ||
                                   ((isa<GetElementPtrInst>(user) || isa<ConstantExpr>(user)) &&
                                    is_never_written(*user, depth + 1));
                          });
}

} // namespace

bool never_changes(const GlobalVariable &variable) {
  return variable.isConstant() || (variable.hasLocalLinkage() && is_never_written(variable));
}

namespace {

// The function that a table of the program, or a variable that only passes it on, has where a call
// by pointer looks; null where that may change.
Function *function_in_table(const CallBase &call) {
  const auto *load = dyn_cast<LoadInst>(call.getCalledOperand());
  if (load == nullptr)
    return nullptr;
  if (const auto *only = dyn_cast<Function>(exactly(load, nullptr)))
    return only->getFunctionType() == call.getFunctionType()
               ? const_cast<Function *>(only) // NOLINT: of a module that is ours to change
               : nullptr;
  const DataLayout &layout = call.getModule()->getDataLayout();
  const auto [base, offset] = base_of(load->getPointerOperand(), layout);
  const auto *table = dyn_cast<GlobalVariable>(base);
  if (table == nullptr || !table->hasDefinitiveInitializer() || offset < 0 ||
      !never_changes(*table))
    return nullptr;
  const Constant *found = ConstantFoldLoadFromConst(
      const_cast<Constant *>(table->getInitializer()), // NOLINT: it reads
      load->getType(), APInt(64, static_cast<std::uint64_t>(offset)), layout);
  const auto *function =
      found == nullptr ? nullptr : dyn_cast<Function>(found->stripPointerCasts());
  return function != nullptr && function->getFunctionType() == call.getFunctionType()
             ? const_cast<Function *>(function) // NOLINT: of a module that is ours to change
             : nullptr;
}

// Calls of lock operations through tables that never change call them by name; whether there was
// one.
bool bind_tables(Module &module) {
  std::vector<std::pair<CallBase *, Function *>> found;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&instruction); call != nullptr && call->isIndirectCall())
        if (Function *target = function_in_table(*call); target != nullptr)
          found.emplace_back(call, target);
  if (found.empty())
    return false;
  const LockCalls calls(module);
  bool changed = false;
  for (const auto &[call, target] : found)
    if (lock_function(*target) || !calls.sites(*target).empty()) {
      call->setCalledFunction(target);
      changed = true;
    }
  return changed;
}

// The constant that a variable of a copy has throughout; null where it has none.
Constant *only_constant(AllocaInst &slot) {
  Constant *only = nullptr;
  for (User *user : slot.users()) {
    if (const auto *load = dyn_cast<LoadInst>(user);
        load != nullptr && !load->isVolatile() && load->getType() == slot.getAllocatedType())
      continue;
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(user);
        intrinsic != nullptr && intrinsic->isLifetimeStartOrEnd())
      continue;
    auto *store = dyn_cast<StoreInst>(user);
    if (store == nullptr || store->isVolatile() || store->getPointerOperand() != &slot ||
        store->getValueOperand()->getType() != slot.getAllocatedType() || only != nullptr)
      return nullptr;
    only = dyn_cast<ConstantInt>(store->getValueOperand()); // an address says more as a variable
    if (only == nullptr)
      return nullptr;
  }
  return only;
}

// Computes in a copy what its caller has given it as numbers, and takes the ways out of it that
// these rule out: a wrapper that is told whether to lock does or does not.
void fold(Function &caller, ArrayRef<AllocaInst *> slots) {
  const DataLayout &layout = caller.getParent()->getDataLayout();
  SmallSetVector<Instruction *, 16> work;
  const auto replace = [&](Instruction &value, Constant &by) {
    for (User *user : value.users())
      if (auto *instruction = dyn_cast<Instruction>(user))
        work.insert(instruction);
    value.replaceAllUsesWith(&by);
  };
  for (AllocaInst *slot : slots)
    if (Constant *constant = only_constant(*slot))
      for (User *user : slot->users())
        if (auto *load = dyn_cast<LoadInst>(user))
          replace(*load, *constant);
  bool decided = false;
  while (!work.empty()) {
    Instruction &instruction = *work.pop_back_val();
    if (instruction.isTerminator())
      decided |= ConstantFoldTerminator(instruction.getParent(), /*DeleteDeadConditions=*/false);
    else if (Constant *value = ConstantFoldInstruction(&instruction, layout))
      replace(instruction, *value);
  }
  if (decided)
    removeUnreachableBlocks(caller);
}

bool was_unwrapped(const Module &module, const DILocation &place) {
  const NamedMDNode *list = module.getNamedMetadata(kUnwrapped);
  return list != nullptr && is_contained(list->operands(), place.getScope()->getSubprogram());
}

// One level of wrappers; whether there was one.
bool unwrap_round(Module &module, const LockCalls &calls, function_ref<bool(const Function &)> keep,
                  DenseSet<const Function *> &done, std::vector<std::string> &names) {
  std::vector<Function *> wrappers;
  {
    const ForeignReleases foreign = find_foreign_releases(module, calls);
    Leaks leaks;
    for (Function &function : module)
      if (!function.isDeclaration() && !calls.is_wrapper(function) &&
          !calls.sites(function).empty())
        leaks[&function] = leak_of(function, calls, foreign);
    for (Function &function : module)
      if (!function.isDeclaration() && !done.contains(&function) && !keep(function) &&
          is_wrapper(function, leaks))
        wrappers.push_back(&function);
  }
  const DenseSet<const Function *> all(wrappers.begin(), wrappers.end());
  bool changed = false;
  for (Function *function : wrappers) {
    if (calls_any(*function, all)) // in the next round: it may be balanced then
      continue;
    done.insert(function);
    if (!why_not_copied(*function).empty())
      continue;
    bool copied = false;
    for (CallBase *call : direct_calls(*function)) {
      InlineFunctionInfo info;
      Function &caller = *call->getFunction();
      if (&caller == function || !InlineFunction(*call, info).isSuccess())
        continue;
      fold(caller, info.StaticAllocas);
      copied = true;
    }
    if (!copied)
      continue;
    names.push_back(source_name(*function));
    remember(module, function->getSubprogram());
    changed = true;
    if (function->hasLocalLinkage() && function->use_empty()) {
      done.erase(function);
      function->eraseFromParent();
    }
  }
  return changed;
}

} // namespace

const DILocation *operation_place(const Instruction &call) {
  const DILocation *location = call.getDebugLoc().get();
  while (location != nullptr && location->getInlinedAt() != nullptr &&
         was_unwrapped(*call.getModule(), *location))
    location = location->getInlinedAt();
  return location;
}

std::string why_not_unwrapped(const Function &function) {
  std::string why = why_not_copied(function);
  if (why.empty() && !function.hasLocalLinkage())
    why = "code outside the program may call it";
  if (why.empty() && function.hasAddressTaken())
    why = "it is also called by pointer";
  return why;
}

std::vector<std::string> unwrap_locks(Module &module, function_ref<bool(const Function &)> keep) {
  std::vector<std::string> names;
  if (bind_tables(module))
    names.emplace_back("a table");
  DenseSet<const Function *> done;
  for (unsigned round = 0; round < kMostRounds; ++round) {
    fold_null_tests(module);
    std::optional<LockCalls> calls(std::in_place, module);
    const std::vector<std::string> opened = open_accessors(module, *calls, keep);
    names.insert(names.end(), opened.begin(), opened.end());
    if (!opened.empty())
      calls.emplace(module);
    if (!unwrap_round(module, *calls, keep, done, names) && opened.empty())
      break;
  }
  return names;
}

} // namespace tandem
