// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/unwrap.h"

#include "compiler/sections/access_path.h"
#include "compiler/sections/blocks.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/origin.h"
#include "compiler/sections/regions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <set>

namespace tandem {
namespace {

using namespace llvm;

// Wrappers of wrappers, one level a round.
constexpr unsigned kMostRounds = 16;

// Instructions of a function that is a wrapper whatever its callers do: with a switch and a log it
// has a hundred; of one that is still put into its callers, and of all its copies: a program has
// some hundred calls of it.
constexpr std::size_t kSmall = 100;
constexpr std::size_t kLargest = 600;
constexpr std::size_t kMostCopied = 40000;

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
  if (!can_copy(function) || function.isInterposable())
    return "it calls itself, or jumps in a way that cannot be copied";
  if (size > kLargest || size * calls.size() > kMostCopied)
    return "it is too large to be put into its callers";
  return "";
}

// What a function leaves of locks that its caller knows of.
struct Leak {
  std::set<std::string> held;     // some path returns with one that it has acquired
  std::set<std::string> released; // some path releases one that it has not
  bool waits = false;             // gives one up for as long as it waits
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

Leak leak_of(const Function &function, const LockCalls &calls, const ForeignReleases &foreign) {
  Leak leak;
  DenseSet<const CallBase *> ends;
  for (const Region &region : find_regions_in(function, calls, foreign)) {
    if (region.shape == RegionShape::escapes && region.entry.operation == LockOperation::wait)
      leak.waits = true;
    else if (region.shape == RegionShape::escapes)
      add_names(region.entry, leak.held);
    ends.insert(region.exits.begin(), region.exits.end());
    ends.insert(region.partial.begin(), region.partial.end());
  }
  for (const LockSite *site : calls.sites(function))
    if (site->operation == LockOperation::unlock && !site->empty && !site->guard &&
        !ends.contains(site->call))
      add_names(*site, leak.released);
  return leak;
}

using Leaks = DenseMap<const Function *, Leak>;

// Whether what a function leaves becomes whole in one that calls it: its own text, or another
// function that it calls, has the other end.
bool completes(const Function &caller, const Function &function, const Leak &leak,
               const Leaks &leaks) {
  const auto fits = [&](const Leak &other) {
    return have_common(leak.held, other.released) || have_common(leak.released, other.held);
  };
  if (fits(leaks.lookup(&caller)))
    return true;
  return any_of(instructions(caller), [&](const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    return callee != nullptr && callee != &function && fits(leaks.lookup(callee));
  });
}

// Whether the function creates or joins the thread that its caller names: which one that is only
// the caller tells.
bool passes_thread_on(const Function &function) {
  const DataLayout &layout = function.getParent()->getDataLayout();
  return any_of(instructions(function), [&](const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    if (callee == nullptr || !callee->isDeclaration())
      return false;
    const StringRef name = callee->getName();
    const bool creates = name == "pthread_create" || name == "thrd_create";
    const bool joins = name == "pthread_join" || name == "thrd_join";
    const unsigned number = joins ? 0 : name == "pthread_create" ? 2 : 1;
    return (creates || joins) && number < call->arg_size() &&
           isa<Argument>(base_of(call->getArgOperand(number), layout).first);
  });
}

// Whether a function is to be put into its callers: it is as small as wrappers are, or what it
// leaves becomes whole there.
bool is_wrapper(const Function &function, const Leaks &leaks) {
  const std::vector<CallBase *> calls = direct_calls(function);
  const Leak leak = leaks.lookup(&function);
  if (calls.empty())
    return false;
  if (leak.waits || passes_thread_on(function))
    return true;
  return !(leak.held.empty() && leak.released.empty()) &&
         (function.getInstructionCount() <= kSmall || any_of(calls, [&](const CallBase *call) {
            return completes(*call->getFunction(), function, leak, leaks);
          }));
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

// The function that a table of the program has where a call by pointer looks; null where that may
// change.
Function *function_in_table(const CallBase &call) {
  const auto *load = dyn_cast<LoadInst>(call.getCalledOperand());
  if (load == nullptr)
    return nullptr;
  const DataLayout &layout = call.getModule()->getDataLayout();
  const auto [base, offset] = base_of(load->getPointerOperand(), layout);
  const auto *table = dyn_cast<GlobalVariable>(base);
  if (table == nullptr || !table->hasDefinitiveInitializer() || offset < 0 ||
      !(table->isConstant() || (table->hasLocalLinkage() && is_never_written(*table))))
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

// One level of wrappers; whether there was one.
bool unwrap_round(Module &module, function_ref<bool(const Function &)> keep,
                  DenseSet<const Function *> &done, std::vector<std::string> &names) {
  std::vector<Function *> wrappers;
  {
    const LockCalls calls(module);
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
      copied |= call->getFunction() != function && InlineFunction(*call, info).isSuccess();
    }
    if (!copied)
      continue;
    names.push_back(source_name(*function));
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
  while (location != nullptr && location->getInlinedAt() != nullptr)
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
  for (unsigned round = 0; round < kMostRounds; ++round)
    if (!unwrap_round(module, keep, done, names))
      break;
  return names;
}

} // namespace tandem
