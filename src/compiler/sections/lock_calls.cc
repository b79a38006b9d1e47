// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/lock_calls.h"

#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/origin.h"
#include "compiler/sections/trylock.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tandem {
namespace {

using namespace llvm;

// Guards that are made from guards, wrappers that call wrappers: deeper nests are no thin wrappers.
constexpr unsigned kMaxDepth = 8;

// Stores that a wrapper may do: to its own variables; a constructor and a destructor to `this`; of
// -fprofile-arcs to its counters.
bool is_private_store(const StoreInst &store, const DataLayout &layout) {
  const Value *base = base_of(store.getPointerOperand(), layout).first;
  if (isa<GlobalVariable>(base) && base->getName().starts_with("__llvm_gcov_ctr"))
    return true;
  if (isa<AllocaInst>(store.getPointerOperand()->stripInBoundsOffsets()))
    return true;
  const auto *argument = dyn_cast<Argument>(base);
  return argument != nullptr && argument->getArgNo() == 0 &&
         is_constructor_or_destructor(*store.getFunction());
}

// Calls that a wrapper may do besides the operation: they compute nothing, or never return.
bool is_idle_call(const CallBase &call) {
  const Function *callee = called_function(call);
  return isa<IntrinsicInst>(call) || call.doesNotReturn() ||
         (callee != nullptr && (callee->doesNotReturn() || returns_its_argument(*callee) ||
                                callee->getName() == "__clang_call_terminate" ||
                                callee->getName().starts_with("__cxa_")));
}

// Calls by which a loop of trylocks waits between two of them.
bool is_pause(const CallBase &call) {
  if (const auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand()))
    return is_contained({"", "pause", "rep; nop", "rep;nop", "nop", "yield"},
                        StringRef(assembly->getAsmString()).trim(" \t\n;"));
  const Function *callee = called_function(call);
  return callee != nullptr && callee->isDeclaration() &&
         is_contained({"sched_yield", "pthread_yield", "thrd_yield", "usleep", "nanosleep"},
                      callee->getName());
}

// Whether the call has the arguments that the binding is about.
bool has_arguments(const CallBase &call, const Binding &binding) {
  return binding.field.argument < call.arg_size() &&
         (binding.unknown || binding.variable != nullptr ||
          binding.value.argument < call.arg_size());
}

// The pointer that `copy` puts `offset` bytes into the variable `guard` from a constant
// initialiser.
const Value *initial_value(const MemCpyInst &copy, const Value &guard, std::int64_t offset) {
  const DataLayout &layout = copy.getModule()->getDataLayout();
  const auto *source = dyn_cast<GlobalVariable>(copy.getSource()->stripPointerCasts());
  if (base_of(copy.getDest(), layout) != std::pair<const Value *, std::int64_t>{&guard, 0} ||
      source == nullptr || !source->isConstant() || !source->hasInitializer())
    return nullptr;
  const Constant *field =
      ConstantFoldLoadFromConst(const_cast<Constant *>(source->getInitializer()),
                                copy.getDest()->getType(), APInt(64, offset), layout);
  return field == nullptr || field->isNullValue() ? nullptr : field;
}

} // namespace

LockCalls::LockCalls(const Module &module) {
  find_library_calls(module);
  // Constructors are bound before sites are looked at, so that destructors find their lock.
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    SetVector<const Function *> fresh;
    for (const Function &function : module) {
      if (function.isDeclaration() || library_.contains(&function))
        continue;
      const auto known = bindings_.find(&function);
      const std::size_t before = known == bindings_.end() ? 0 : known->second.size();
      // A function that returns a guard makes it where its caller wants it, as a constructor does.
      if (is_constructor_or_destructor(function) || function.hasStructRetAttr())
        find_bindings(function);
      const auto now = bindings_.find(&function);
      const bool bound = now != bindings_.end() && now->second.size() > before;
      if (find_wrapper(function) || bound)
        fresh.insert(&function);
    }
    if (fresh.empty())
      break;
    // New bindings may name what was not named before.
    for (auto &[instruction, site] : sites_)
      if (any_of(site.targets, [](const Target &lock) { return lock.offsets.size() > 1; }))
        set_paths(site);
    for (const Function &function : module) {
      if (library_.contains(&function))
        continue;
      for (const Instruction &instruction : instructions(function))
        if (const auto *call = dyn_cast<CallBase>(&instruction))
          if (const Function *callee = called_function(*call);
              callee != nullptr && fresh.contains(callee))
            if (const auto found = wrappers_.find(callee); found != wrappers_.end())
              apply(*call, found->second.does, found->second.own, callee);
    }
  }
  name_by_trylock();
  for (auto &[instruction, site] : sites_)
    if (site.guard)
      site.empty = is_contained(disowned_.lookup(site.call->getFunction()),
                                base_of(site.call->getArgOperand(0), module.getDataLayout()).first);
}

// A pointer that a trylock wrapper returned is the lock: name it so where it is released.
void LockCalls::name_by_trylock() {
  for (auto &[instruction, site] : sites_) {
    if (site.named || site.targets.size() != 1 || site.targets[0].offsets.size() != 1)
      continue;
    SmallPtrSet<const Value *, 4> found;
    sources(site.targets[0].base, found);
    const LockSite *origin = nullptr;
    for (const Value *value : found) {
      const auto *producer = dyn_cast<Instruction>(value);
      const LockSite *producing = producer == nullptr ? nullptr : at(*producer);
      if (producing == nullptr || (origin != nullptr && origin->locks != producing->locks)) {
        origin = nullptr;
        break;
      }
      origin = producing;
    }
    if (origin != nullptr && origin->named) {
      site.locks = std::vector<std::string>(origin->locks);
      site.roots = std::vector<const GlobalVariable *>(origin->roots);
      site.named = true;
      site.own = true;
    }
  }
}

void LockCalls::find_library_calls(const Module &module) {
  DenseMap<const Function *, LockFunction> known;
  for (const Function &function : module) {
    if (!function.isDeclaration() && is_library_function(function))
      library_.insert(&function);
    std::optional<LockFunction> does = lock_function(function);
    if (!does)
      continue;
    bindings_[&function] = does->bindings;
    known.try_emplace(&function, std::move(*does));
  }
  for (const Function &function : module) {
    if (library_.contains(&function))
      continue;
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      if (const auto found = known.find(callee); callee != nullptr && found != known.end())
        apply(*call, found->second, {}, nullptr);
    }
  }
}

void LockCalls::apply(const CallBase &call, const LockFunction &does, std::vector<Target> targets,
                      const Function *wrapper) {
  for (const Origin &lock : does.locks) {
    if (lock.argument >= call.arg_size())
      return;
    targets.push_back({call.getArgOperand(lock.argument), lock.offsets});
  }
  if (does.tests) {
    const DataLayout &layout = call.getModule()->getDataLayout();
    tests_[&call] = base_of(call.getArgOperand(0), layout).first;
  }
  LockSite site;
  site.call = &call;
  site.primitive = does.primitive;
  site.size = does.size;
  site.shared = does.shared;
  site.wrapper = wrapper;
  site.acquired = does.acquired;
  site.runs_code = does.runs_code;
  site.guard = does.destroys;
  if (does.disowns)
    disowned_[call.getFunction()].push_back(
        base_of(call.getArgOperand(*does.disowns), call.getModule()->getDataLayout()).first);
  site.targets = std::move(targets);
  if (does.operation && !site.targets.empty()) {
    site.operation = *does.operation;
    set_paths(site);
    sites_[&call] = std::move(site);
  } else if (does.signals) {
    set_paths(site);
    signals_.push_back({&call, site.locks.front(), does.primitive});
  }
}

void LockCalls::set_paths(LockSite &site) const {
  site.locks.clear();
  site.roots.clear();
  site.resolved.clear();
  site.named = true;
  for (const Target &unresolved : site.targets) {
    const Target target = resolve(unresolved, *site.call->getFunction());
    const AccessPath path = access_path(target.base, site.size, target.offsets.front());
    // Where the guard is all that is known, it stands for its lock.
    site.locks.push_back(target.offsets.size() == 1 ? path.print() : path.text);
    site.roots.push_back(target.offsets.size() == 1 ? path.global : nullptr);
    site.named = site.named && site.roots.back() != nullptr;
    site.resolved.push_back(target);
  }
}

LockSite::Target LockCalls::resolve(Target target, const Function &function) const {
  const DataLayout &layout = function.getParent()->getDataLayout();
  for (unsigned depth = 0; depth < kMaxDepth && target.offsets.size() > 1; ++depth) {
    const auto [base, offset] = base_of(target.base, layout);
    std::optional<Target> bound = bound_to(*base, offset + target.offsets.front(), function);
    if (!bound)
      break;
    // What the field holds is an address: the first of the remaining offsets is added to it.
    bound->offsets.back() += target.offsets[1];
    bound->offsets.append(target.offsets.begin() + 2, target.offsets.end());
    target = std::move(*bound);
  }
  return target;
}

std::optional<LockSite::Target> LockCalls::bound_to(const Value &guard, std::int64_t offset,
                                                    const Function &function) const {
  if (!isa<AllocaInst>(guard))
    return std::nullopt;
  const DataLayout &layout = function.getParent()->getDataLayout();
  std::optional<Target> found;
  for (const Instruction &instruction : instructions(function)) {
    if (const auto *store = dyn_cast<StoreInst>(&instruction);
        store != nullptr && store->getValueOperand()->getType()->isPointerTy()) {
      if (base_of(store->getPointerOperand(), layout) != std::pair{&guard, offset} ||
          isa<ConstantPointerNull>(store->getValueOperand()))
        continue;
      if (found)
        return std::nullopt;
      found = Target{store->getValueOperand(), {0}};
      continue;
    }
    if (const auto *copy = dyn_cast<MemCpyInst>(&instruction)) {
      const Value *field = initial_value(*copy, guard, offset);
      if (field != nullptr && found)
        return std::nullopt;
      if (field != nullptr)
        found = Target{field, {0}};
      continue;
    }
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    const auto known = callee == nullptr ? bindings_.end() : bindings_.find(callee);
    if (known == bindings_.end())
      continue;
    for (const Binding &binding : known->second) {
      if (!has_arguments(*call, binding))
        continue;
      const auto [base, inner] = base_of(call->getArgOperand(binding.field.argument), layout);
      if (base != &guard || inner + binding.field.offsets.back() != offset)
        continue;
      if (found || binding.unknown)
        return std::nullopt;
      found = Target{binding.variable != nullptr ? binding.variable
                                                 : call->getArgOperand(binding.value.argument),
                     binding.value.offsets};
    }
  }
  return found;
}

// Which of its arguments a constructor keeps in `this`, or a function in what it returns.
void LockCalls::find_bindings(const Function &function) {
  const DataLayout &layout = function.getParent()->getDataLayout();
  std::vector<Binding> found;
  // Keeps `value`, an address, in `field`.
  const auto add = [&](Origin field, const Value *value, const Origin &behind) {
    const auto [base, offset] = base_of(value, layout);
    const auto *variable = dyn_cast<GlobalVariable>(base);
    if (variable != nullptr && variable->isConstant()) // a table of virtual functions
      return;
    std::optional<Origin> kept =
        variable != nullptr ? Origin{0, {offset}} : origin_of(value, layout);
    if (field.offsets.size() != 1 || isa<ConstantPointerNull>(value))
      return;
    if (!kept) {
      found.push_back({std::move(field), {}, nullptr, true});
      return;
    }
    kept->offsets.back() += behind.offsets.front();
    kept->offsets.append(behind.offsets.begin() + 1, behind.offsets.end());
    found.push_back({std::move(field), std::move(*kept), variable});
  };
  for (const Instruction &instruction : instructions(function)) {
    if (const auto *store = dyn_cast<StoreInst>(&instruction)) {
      if (isa<AllocaInst>(store->getPointerOperand()) ||
          !store->getValueOperand()->getType()->isPointerTy())
        continue;
      if (const std::optional<Origin> field = origin_of(store->getPointerOperand(), layout))
        add(*field, store->getValueOperand(), {});
      continue;
    }
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    const auto known =
        callee == nullptr || callee == &function ? bindings_.end() : bindings_.find(callee);
    if (known == bindings_.end())
      continue;
    for (const Binding &binding : known->second) {
      if (!has_arguments(*call, binding))
        continue;
      std::optional<Origin> field = origin_of(call->getArgOperand(binding.field.argument), layout);
      if (!field)
        continue;
      field->offsets.back() += binding.field.offsets.back();
      if (binding.unknown) {
        found.push_back({std::move(*field), {}, nullptr, true});
        continue;
      }
      add(std::move(*field),
          binding.variable != nullptr ? binding.variable
                                      : call->getArgOperand(binding.value.argument),
          binding.value);
    }
  }
  if (!found.empty())
    bindings_[&function] = std::move(found);
}

// The one operation of a function that does nothing else: no other call, no store but to its own
// variables. Null where there is none. `pauses`: whether it also waits a moment, as loops do.
const LockSite *LockCalls::only_site(const Function &function, bool &pauses) const {
  const DataLayout &layout = function.getParent()->getDataLayout();
  const LockSite *only = nullptr;
  for (const Instruction &instruction : instructions(function)) {
    if (const auto *store = dyn_cast<StoreInst>(&instruction)) {
      if (!is_private_store(*store, layout))
        return nullptr;
    } else if (const auto *call = dyn_cast<CallBase>(&instruction)) {
      if (is_idle_call(*call))
        continue;
      if (is_pause(*call)) {
        pauses = true;
        continue;
      }
      const auto found = sites_.find(call);
      if (found == sites_.end()) {
        // A guard that a constructor makes of its members.
        const Function *callee = called_function(*call);
        if (callee != nullptr && library_.contains(callee) &&
            is_constructor_or_destructor(function))
          continue;
        return nullptr;
      }
      if (only != nullptr || found->second.operation == LockOperation::wait)
        return nullptr;
      only = &found->second;
    }
  }
  return only;
}

// Whether the function may return without the operation, for another reason than that it was given
// no lock: its callers' regions depend on why, so it is no wrapper (unwrap.h puts it into them).
static bool is_conditional(const Function &function, const LockSite &site) {
  if (site.operation == LockOperation::trylock || site.guard ||
      is_constructor_or_destructor(function))
    return false;
  SmallPtrSet<const BasicBlock *, 8> seen;
  SmallVector<const BasicBlock *, 8> work{&function.getEntryBlock()};
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    if (block == site.call->getParent() || !seen.insert(block).second)
      continue;
    if (isa<ReturnInst>(block->getTerminator()))
      return true;
    const auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    const auto *compare = branch == nullptr || branch->isUnconditional()
                              ? nullptr
                              : dyn_cast<ICmpInst>(branch->getCondition());
    if (compare != nullptr && isa<ConstantPointerNull>(compare->getOperand(1)))
      work.push_back(branch->getSuccessor(compare->getPredicate() == ICmpInst::ICMP_EQ ? 1 : 0));
    else
      append_range(work, successors(block));
  }
  return false;
}

// Whether the lock is an element of an array whose number the function is given: only its callers
// tell which (unwrap.h puts it into them).
static bool is_element_given(const LockSite &site, const DataLayout &layout) {
  return any_of(site.targets, [&](const LockSite::Target &target) {
    const auto *element = dyn_cast_or_null<GetElementPtrInst>(target.base);
    return element != nullptr && !element->hasAllConstantIndices() &&
           any_of(element->indices(), [&](const Use &index) {
             const Value *number = index.get();
             while (isa<SExtInst, ZExtInst, TruncInst>(number))
               number = cast<Instruction>(number)->getOperand(0);
             return !isa<Constant>(number) && origin_of(number, layout).has_value();
           });
  });
}

bool LockCalls::find_wrapper(const Function &function) {
  if (function.isDeclaration() || function.isVarArg() || wrappers_.contains(&function))
    return false;
  bool pauses = false;
  const LockSite *only = only_site(function, pauses);
  const bool loops = only != nullptr && acquires_in_loop(function, *only, *this);
  if (only == nullptr || (pauses && !loops) || is_conditional(function, *only) ||
      (only->named && is_element_given(*only, function.getParent()->getDataLayout())))
    return false;
  Wrapper wrapper;
  LockFunction &does = wrapper.does;
  does.operation = only->operation;
  does.size = only->size;
  does.destroys = only->guard;
  does.primitive = only->primitive;
  does.shared = only->shared;
  does.acquired = only->acquired;
  if (loops) {
    does.operation = LockOperation::lock;
    does.acquired = Acquired::always;
  } else if (only->operation == LockOperation::lock && function.getReturnType()->isIntegerTy()) {
    // Where the text does not tell what the result means, its callers' does (unwrap.h).
    const std::optional<Acquired> result = returned_result(function, *only);
    if (!result)
      return false;
    does.acquired = *result;
  } else if (only->operation == LockOperation::trylock) {
    // The result must be recognisable at the call: a pointer to the lock, or the operation's own.
    if (function.getReturnType()->isPointerTy()) {
      does.acquired = Acquired::nonzero;
    } else {
      const std::optional<Acquired> result = returned_result(function, *only);
      if (!result)
        return false;
      does.acquired = *result;
    }
  }
  const DataLayout &layout = function.getParent()->getDataLayout();
  for (const Target &unresolved : only->targets) {
    Target target = resolve(unresolved, function);
    std::optional<Origin> lock = origin_of(target.base, layout);
    if (only->named) {
      wrapper.own.push_back(std::move(target));
    } else if (lock) {
      lock->offsets.back() += target.offsets.front();
      lock->offsets.append(target.offsets.begin() + 1, target.offsets.end());
      does.locks.push_back(std::move(*lock));
    } else {
      return false;
    }
  }
  wrappers_.try_emplace(&function, std::move(wrapper));
  return true;
}

const LockSite *LockCalls::at(const Instruction &instruction) const {
  if (!isa<CallBase>(instruction)) // as are all sites; asked of every instruction, many times
    return nullptr;
  const auto found = sites_.find(&instruction);
  return found == sites_.end() ? nullptr : &found->second;
}

std::vector<const LockSite *> LockCalls::sites(const Function &function) const {
  std::vector<const LockSite *> result;
  for (const Instruction &instruction : instructions(function))
    if (const LockSite *site = at(instruction))
      result.push_back(site);
  return result;
}

} // namespace tandem
