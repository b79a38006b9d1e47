// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/held_locks.h"

#include "compiler/effects/unpublished.h"
#include "compiler/findings/lock_address.h"
#include "compiler/findings/place.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/flags.h"
#include "compiler/sections/hidden_operations.h"
#include "compiler/sections/origin.h"
#include "compiler/sections/trylock.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

namespace tandem {
namespace {

using namespace llvm;

// A function is looked at again when what it calls has changed; with recursion this need not come
// to rest, and the answer after this many times is as good as advice needs.
constexpr unsigned kMaxRuns = 16;

// Ways to a block that differ in what is known of local flags; beyond these, nothing is.
constexpr unsigned kMaxWays = 16;

bool acquires(const LockSite &site) {
  return site.operation == LockOperation::lock || site.operation == LockOperation::trylock;
}

LockSet intersection(const LockSet &a, const LockSet &b) {
  LockSet both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

// Makes `into` what holds after either of two paths.
void merge(HeldState &into, const HeldState &other) {
  into.must = intersection(into.must, other.must);
  into.may.insert(other.may.begin(), other.may.end());
  into.shared.insert(other.shared.begin(), other.shared.end());
  into.once = intersection(into.once, other.once);
}

// The objects that a lock may be, and where in them; nothing where that is not known.
using LockPlaces = std::set<std::pair<ObjectId, std::uint64_t>>;
std::optional<LockPlaces> places_of(const LockSite::Target &target,
                                    const PointsToAnalysis &points_to) {
  if (!points_to.has_objects() || target.base == nullptr ||
      !target.base->getType()->isPointerTy() || target.offsets.size() != 1 ||
      target.offsets.front() < 0)
    return std::nullopt;
  const std::uint64_t bytes = static_cast<std::uint64_t>(target.offsets.front()) + 1;
  LockPlaces places;
  for (const ObjectRange &range : points_to.memory(*target.base, bytes)) {
    if (range.object == 0)
      return std::nullopt;
    // Else folded: the elements of an array.
    places.emplace(range.object, range.end - range.begin == bytes ? range.end - 1 : range.begin);
  }
  return places.empty() ? std::nullopt : std::optional(places);
}

// Whether there is one such object at a time: a variable of the program, or one of main's.
bool is_single(const Value *label) {
  const auto *slot = dyn_cast_or_null<AllocaInst>(label);
  return isa_and_nonnull<GlobalVariable>(label) ||
         (slot != nullptr && slot->getFunction()->getName() == "main");
}

// A variable, and bytes from its begin.
using Element = std::pair<const GlobalVariable *, std::int64_t>;

// Of a lock in a variable, by a number from its begin: of an array, one of its elements.
std::optional<Element> element_of(const LockSite::Target &target, const DataLayout &layout) {
  if (target.base == nullptr || target.offsets.size() != 1 ||
      !target.base->getType()->isPointerTy())
    return std::nullopt;
  const auto [base, offset] = base_of(target.base, layout);
  const auto *global = dyn_cast_or_null<GlobalVariable>(base);
  return global == nullptr ? std::nullopt
                           : std::optional(Element{global, offset + target.offsets.front()});
}

} // namespace

bool is_once(const CallBase &call) {
  const Function *callee = called_function(call);
  if (callee == nullptr || call.arg_size() < 2)
    return false;
  const StringRef name = callee->getName();
  return (callee->isDeclaration() && (name == "pthread_once" || name == "call_once")) ||
         name.starts_with("_ZSt9call_onceI");
}

bool is_for_once(const Function &function) {
  return function.getName().contains("18_Prepare_execution") ||
         (!function.use_empty() && all_of(function.users(), [](const User *user) {
           const auto *call = dyn_cast<CallBase>(user);
           return call != nullptr && is_once(*call);
         }));
}

// std::call_once leaves the function for the library's proxy.
SmallVector<const Function *, 1> once_targets(const CallBase &call,
                                              const PointsToAnalysis &points_to) {
  SmallVector<const Function *, 1> run;
  const Function &once = *called_function(call);
  if (once.isDeclaration()) {
    append_range(run, points_to.targets(call));
    return run;
  }
  for (const Instruction &instruction : instructions(once)) {
    const auto *inner = dyn_cast<CallBase>(&instruction);
    const Function *prepares = inner == nullptr ? nullptr : called_function(*inner);
    if (prepares == nullptr || !prepares->getName().contains("18_Prepare_executionC"))
      continue;
    for (const Instruction &stores : instructions(*prepares))
      if (const auto *store = dyn_cast<StoreInst>(&stores))
        if (const auto *function = dyn_cast<Function>(store->getValueOperand()))
          run.push_back(function);
  }
  return run;
}

namespace {

// What a call does with the semaphore that is its first argument.
std::optional<SemaphoreOperation> semaphore_operation(const CallBase &call) {
  const Function *callee = called_function(call);
  if (callee == nullptr || call.arg_size() == 0)
    return std::nullopt;
  const StringRef name = callee->getName();
  if (name == "sem_init")
    return SemaphoreOperation::begin;
  if (name == "sem_wait")
    return SemaphoreOperation::wait;
  if (name == "sem_post")
    return SemaphoreOperation::post;
  if (!name.starts_with("_ZNSt18counting_semaphoreI"))
    return std::nullopt;
  if (name.ends_with("7acquireEv"))
    return SemaphoreOperation::wait;
  if (name.contains("7releaseE"))
    return SemaphoreOperation::post;
  return name.contains("C1E") || name.contains("C2E") ? std::optional(SemaphoreOperation::begin)
                                                      : std::nullopt;
}

// Whether a semaphore begins with one: then it is free once.
bool begins_with_one(const CallBase &call) {
  const auto *value = dyn_cast<ConstantInt>(call.getArgOperand(call.arg_size() - 1));
  return value != nullptr && value->isOne();
}

} // namespace

HeldLocks::HeldLocks(const Module &module, const LockCalls &locks,
                     const PointsToAnalysis &points_to)
    : locks_(locks), points_to_(points_to) {
  classify(module);
  find_semaphores(module);
  find_hidden(module);
  propagate(module);
}

// Classes of global locks and of fields first: what is only known by a pointer joins one of them
// where the pointer leads to no other.
void HeldLocks::classify(const Module &module) {
  std::map<std::string, std::uint32_t> by_key;
  std::map<Cell, LockSet> at_cell;
  std::map<std::uint32_t, std::optional<LockPlaces>> places; // of classes
  const auto add_places = [&](std::uint32_t klass, const LockSite::Target &target) {
    const std::optional<LockPlaces> here = places_of(target, points_to_);
    const auto [known, fresh] = places.try_emplace(klass, here);
    if (!fresh && known->second && here)
      known->second->insert(here->begin(), here->end());
    else if (!here)
      known->second = std::nullopt;
  };
  std::map<std::uint32_t, Element> elements; // of classes that are one
  // What unification has in one node may be known to be different locks.
  const auto are_apart = [&](std::uint32_t one, std::uint32_t other) {
    const auto left = elements.find(one);
    const auto right = elements.find(other);
    if (left != elements.end() && right != elements.end())
      return left->second != right->second;
    const std::optional<LockPlaces> &here = places.at(one);
    const std::optional<LockPlaces> &there = places.at(other);
    return here && there &&
           none_of(*here, [&](const auto &place) { return there->contains(place); });
  };
  struct Pointer {
    const LockSite *site;
    const LockSite::Target *target;
    std::string name;
    std::vector<Cell> cells;
  };
  std::vector<Pointer> by_pointer;
  const auto class_with = [&](const std::string &key, LockClass klass) {
    const auto [found, fresh] =
        by_key.try_emplace(key, static_cast<std::uint32_t>(classes_.size()));
    if (fresh)
      classes_.push_back(std::move(klass));
    return found->second;
  };
  const auto add = [&](const LockSite &site, std::size_t i) {
    const std::string &name = site.locks[i];
    const LockSite::Target &target = site.resolved[i];
    std::vector<Cell> cells = lock_cells(site, target, points_to_);
    const std::string field = lock_field(target);
    // What a variable points to has other names, too.
    const bool direct = site.named && name.find_first_of("*>") == std::string::npos;
    if (!direct && field.empty()) {
      by_pointer.push_back({&site, &target, name, std::move(cells)});
      return;
    }
    bool many = name.find('[') != std::string::npos;
    const std::optional<Element> element =
        direct ? element_of(target, module.getDataLayout()) : std::nullopt;
    const std::string key = many && element ? fmt::format("{}+{}", name, element->second) : name;
    many = many && !element;
    const std::uint32_t klass = direct ? class_with("variable " + key, {name, many})
                                       : class_with("field " + field, {name, true});
    if (element)
      elements.try_emplace(klass, *element);
    classes_of_[site.call].insert(klass);
    add_places(klass, target);
    for (const Cell &cell : cells)
      at_cell[cell].insert(klass);
  };
  for (const llvm::Function &function : module) {
    if (function.isDeclaration() || locks_.is_wrapper(function))
      continue;
    for (const LockSite *site : locks_.sites(function)) {
      for (std::size_t i = 0; i < site->locks.size(); ++i)
        add(*site, i);
      if (site->operation == LockOperation::trylock || site->operation == LockOperation::lock)
        trylocks_[&function].push_back(site);
    }
  }
  for (const Pointer &pointer : by_pointer) {
    LockSet possible;
    const std::optional<LockPlaces> here = places_of(*pointer.target, points_to_);
    bool known = !pointer.cells.empty();
    for (const Cell &cell : pointer.cells) {
      const auto found = at_cell.find(cell);
      known = known && found != at_cell.end();
      if (found != at_cell.end())
        for (const std::uint32_t klass : found->second)
          if (const std::optional<LockPlaces> &there = places.at(klass);
              !here || !there ||
              any_of(*here, [&](const auto &place) { return there->contains(place); }))
            possible.insert(klass);
    }
    const std::string function = pointer.site->call->getFunction()->getName().str();
    const bool single = !pointer.site->named && here && here->size() == 1 &&
                        is_single(points_to_.label(here->begin()->first));
    const std::uint32_t klass =
        known && possible.size() == 1 ? *possible.begin()
        : single
            ? class_with(fmt::format("object {}+{}", here->begin()->first, here->begin()->second),
                         {.name = pointer.name, .many = false})
        : pointer.site->named
            ? class_with("variable " + pointer.name, {pointer.name, true})
            : class_with(
                  "pointer " + function + " " + pointer.name,
                  {.name = pointer.name,
                   .many = true,
                   .unknown = true,
                   .several = here && here->size() > 1 && all_of(*here, [&](const auto &place) {
                                return is_single(points_to_.label(place.first));
                              })});
    classes_of_[pointer.site->call].insert(klass);
    add_places(klass, *pointer.target);
    for (const Cell &cell : pointer.cells)
      at_cell[cell].insert(klass);
  }
  for (const auto &[cell, together] : at_cell)
    for (const std::uint32_t one : together)
      for (const std::uint32_t other : together)
        if (!are_apart(one, other))
          may_be_one_.insert({one, other});
  // Controls of functions that run once: by variable, or by the one object that they are in.
  for (const llvm::Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || !is_once(*call))
        continue;
      const Value *control = call->getArgOperand(0);
      const std::string name = access_path(control, 1).print();
      const auto element = element_of({control, {0}}, module.getDataLayout());
      const auto here = places_of({control, {0}}, points_to_);
      const bool known = element || (here && here->size() == 1);
      const std::string key =
          element ? fmt::format("once {}+{}", element->first->getName().str(), element->second)
          : known ? fmt::format("once object {}+{}", here->begin()->first, here->begin()->second)
                  : "once";
      once_[call] =
          class_with(key, {.name = name, .many = !known, .unknown = !known, .once = true});
    }
}

// Which lock it is, and until when it is held, is not known: it counts as any, to the function's
// end.
void HeldLocks::find_hidden(const Module &module) {
  HiddenOperations operations(module);
  for (const llvm::Function &function : module)
    if (!is_library_function(function))
      for (const Instruction &instruction : instructions(function))
        if (const auto *call = dyn_cast<CallBase>(&instruction);
            call != nullptr && operations.behind(*call) != nullptr)
          hidden_.insert(call);
  if (hidden_.empty())
    return;
  any_ = static_cast<std::uint32_t>(classes_.size());
  classes_.push_back({.name = "a lock in a guard", .many = true, .unknown = true});
}

// Of variables, and of single objects; how often others may be had is not known.
void HeldLocks::find_semaphores(const Module &module) {
  using Key = std::pair<const void *, std::int64_t>;
  struct Call {
    const CallBase *call;
    SemaphoreOperation operation;
    std::optional<Key> key;
  };
  std::vector<Call> calls;
  std::map<Key, bool> binary; // whether it is begun with one everywhere
  for (const llvm::Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const auto operation = call == nullptr ? std::nullopt : semaphore_operation(*call);
      if (!operation || (is_library_function(function) && !function.getName().contains("_GLOBAL_")))
        continue;
      const Value *address = call->getArgOperand(0);
      std::optional<Key> key;
      if (const auto element = element_of({address, {0}}, module.getDataLayout()))
        key = Key{element->first, element->second};
      else if (const auto here = places_of({address, {0}}, points_to_);
               here && here->size() == 1 && is_single(points_to_.label(here->begin()->first)))
        key = Key{points_to_.label(here->begin()->first),
                  static_cast<std::int64_t>(here->begin()->second)};
      calls.push_back({call, *operation, key});
      if (key && *operation == SemaphoreOperation::begin) {
        const bool one = begins_with_one(*call);
        const auto [known, fresh] = binary.try_emplace(*key, one);
        known->second = known->second && one;
      }
    }
  std::map<Key, std::uint32_t> classes;
  for (const Call &one : calls) {
    if (!one.key || one.key->first == nullptr || one.operation == SemaphoreOperation::begin)
      continue;
    const auto begun = binary.find(*one.key);
    if (begun == binary.end() || !begun->second)
      continue;
    const auto [known, fresh] =
        classes.try_emplace(*one.key, static_cast<std::uint32_t>(classes_.size()));
    if (fresh)
      classes_.push_back({.name = access_path(one.call->getArgOperand(0), 0).print(),
                          .many = false,
                          .semaphore = true});
    semaphores_.emplace(one.call, SemaphoreCall{one.operation, known->second});
  }
}

const LockSet &HeldLocks::classes_of(const LockSite &site) const {
  static const LockSet kNone;
  const auto found = classes_of_.find(site.call);
  return found == classes_of_.end() ? kNone : found->second;
}

void HeldLocks::propagate(const Module &module) {
  using Functions = SetVector<const llvm::Function *>;
  std::map<const llvm::Function *, std::vector<Functions *>> callers; // by array that has it
  std::map<const llvm::Function *const *, Functions> callers_of;      // by array
  std::deque<const llvm::Function *> work;
  std::set<const llvm::Function *> waiting;
  const auto add_caller = [&](ArrayRef<const llvm::Function *> targets,
                              const llvm::Function &function) {
    if (targets.empty())
      return;
    const auto [entry, fresh] = callers_of.try_emplace(targets.data());
    entry->second.insert(&function);
    for (const llvm::Function *target : fresh ? targets : ArrayRef<const llvm::Function *>())
      callers[target].push_back(&entry->second);
  };
  for (const llvm::Function &function : module) {
    if (function.isDeclaration() || locks_.is_wrapper(function))
      continue;
    bool locks = false;
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr)
        continue;
      if (locks_.at(instruction) != nullptr || once_.contains(call) || semaphores_.contains(call) ||
          hidden_.contains(call))
        locks = true;
      else
        add_caller(likely_targets(*call, points_to_), function);
    }
    if (locks && waiting.insert(&function).second)
      work.push_back(&function);
  }
  std::map<const llvm::Function *, unsigned> runs;
  while (!work.empty()) {
    const llvm::Function *function = work.front();
    work.pop_front();
    waiting.erase(function);
    if (++runs[function] > kMaxRuns)
      continue;
    const Summary before = functions_[function].summary;
    FunctionLocks after = run(*function);
    const bool changed = after.summary != before;
    functions_[function] = std::move(after);
    if (!changed)
      continue;
    ++changes_;
    for (const Functions *of_array : callers[function])
      for (const llvm::Function *caller : *of_array)
        if (waiting.insert(caller).second)
          work.push_back(caller);
  }
}

HeldLocks::FunctionLocks HeldLocks::run(const llvm::Function &function) const {
  FunctionLocks result;
  const Flags flags(function, &locks_);
  using Way = std::pair<const BasicBlock *, Flags::Values>;
  std::map<Way, HeldState> before;
  llvm::DenseMap<const BasicBlock *, unsigned> ways;
  const Way begin{&function.getEntryBlock(), flags.before(function.getEntryBlock().front())};
  std::deque<Way> work{begin};
  before[begin] = {};
  while (!work.empty()) {
    const Way way = std::move(work.front());
    work.pop_front();
    HeldState state = before[way];
    Flags::Values values = way.second;
    for (const Instruction &instruction : *way.first) {
      transfer(instruction, state, result.summary.released);
      flags.apply(instruction, values);
    }
    const Instruction &branch = *way.first->getTerminator();
    for (unsigned i = 0; i < branch.getNumSuccessors(); ++i) {
      std::optional<Flags::Values> there = flags.follow(branch, i, values);
      if (!there)
        continue;
      const BasicBlock *next = branch.getSuccessor(i);
      HeldState held = state;
      if (!edge(*way.first, *next, held))
        continue;
      if (!before.contains({next, *there}) && ++ways[next] > kMaxWays)
        there = Flags::Values(there->size()); // nothing known
      const auto [known, fresh] = before.try_emplace({next, *there}, held);
      const HeldState old = known->second;
      if (!fresh)
        merge(known->second, held);
      if (fresh || known->second != old)
        work.push_back(known->first);
    }
  }
  for (const auto &[way, state] : before) {
    const auto [known, fresh] = result.before.try_emplace(way.first, state);
    if (!fresh)
      merge(known->second, state);
  }
  summarise(function, result);
  return result;
}

// Fills in what follows from the states before blocks.
void HeldLocks::summarise(const llvm::Function &function, FunctionLocks &result) const {
  bool returns = false;
  for (const BasicBlock &block : function) {
    const auto reached = result.before.find(&block);
    if (reached == result.before.end())
      continue;
    HeldState state = reached->second;
    for (const Instruction &instruction : block) {
      if (const auto *call = dyn_cast<CallBase>(&instruction); call != nullptr && !is_marker(*call))
        result.calls.push_back({call, state});
      transfer(instruction, state, result.summary.released);
    }
    if (!isa<ReturnInst>(block.getTerminator()))
      continue;
    if (returns)
      merge(result.summary.at_return, state);
    else
      result.summary.at_return = state;
    returns = true;
  }
  if (!hidden_.empty())
    for (LockSet *set : {&result.summary.at_return.may, &result.summary.at_return.must})
      set->erase(any_);
}

void HeldLocks::transfer(const Instruction &instruction, HeldState &state,
                         LockSet &released) const {
  if (const auto *at = dyn_cast<CallBase>(&instruction))
    call(*at, state, released);
}

void HeldLocks::call(const CallBase &call, HeldState &state, LockSet &released) const {
  if (const LockSite *site = locks_.at(call)) {
    for (const std::uint32_t lock : classes_of(*site)) {
      if (site->operation == LockOperation::unlock) {
        if (state.may.erase(lock) == 0)
          released.insert(lock);
        state.must.erase(lock);
        state.shared.erase(lock);
      } else if (acquires(*site)) {
        state.may.insert(lock);
        if (site->shared)
          state.shared.insert(lock);
        if (site->operation == LockOperation::lock)
          state.must.insert(lock);
      }
    }
    return;
  }
  if (const auto once = once_.find(&call); once != once_.end()) {
    state.once.insert(once->second);
    return;
  }
  if (hidden_.contains(&call)) {
    state.may.insert(any_);
    state.must.insert(any_);
    return;
  }
  if (const auto semaphore = semaphores_.find(&call); semaphore != semaphores_.end()) {
    const std::uint32_t klass = semaphore->second.klass;
    if (semaphore->second.operation == SemaphoreOperation::wait) {
      state.may.insert(klass);
      state.must.insert(klass);
    } else {
      if (state.may.erase(klass) == 0)
        released.insert(klass);
      state.must.erase(klass);
    }
    return;
  }
  const Returned &returned = returned_of(likely_targets(call, points_to_));
  for (const std::uint32_t lock : returned.released) {
    state.must.erase(lock);
    if (!state.may.contains(lock))
      released.insert(lock);
  }
  state.must.insert(returned.after.must.begin(), returned.after.must.end());
  state.may.insert(returned.after.may.begin(), returned.after.may.end());
  state.shared.insert(returned.after.shared.begin(), returned.after.shared.end());
  state.once.insert(returned.after.once.begin(), returned.after.once.end());
}

const HeldLocks::Returned &HeldLocks::returned_of(ArrayRef<const llvm::Function *> targets) const {
  Returned &known = returned_[targets.begin()];
  if (known.changes == changes_)
    return known;
  known = {.changes = changes_, .after = {}, .released = {}};
  bool first = true;
  for (const llvm::Function *target : targets) {
    const HeldState &returned = returns_with(*target);
    known.after.must = first ? returned.must : intersection(known.after.must, returned.must);
    known.after.may.insert(returned.may.begin(), returned.may.end());
    known.after.shared.insert(returned.shared.begin(), returned.shared.end());
    known.after.once = first ? returned.once : intersection(known.after.once, returned.once);
    first = false;
    if (const auto function = functions_.find(target); function != functions_.end())
      known.released.insert(function->second.summary.released.begin(),
                            function->second.summary.released.end());
  }
  return known;
}

// Where a branch asks whether a trylock succeeded, each side knows the answer. That a lock fails is
// a mistake of the program, and such a side is not followed.
bool HeldLocks::edge(const BasicBlock &from, const BasicBlock &to, HeldState &state) const {
  const auto tried = trylocks_.find(from.getParent());
  if (tried == trylocks_.end() || succ_size(&from) < 2)
    return true;
  for (const LockSite *site : tried->second) {
    const BasicBlock *acquired = acquired_side(*site, *from.getTerminator(), locks_);
    if (acquired == nullptr)
      continue;
    if (acquired != &to && site->operation == LockOperation::lock)
      return false;
    for (const std::uint32_t lock : classes_of(*site)) {
      if (acquired == &to && state.may.contains(lock))
        state.must.insert(lock);
      else if (acquired != &to && !state.must.contains(lock)) {
        state.may.erase(lock);
        state.shared.erase(lock);
      }
    }
  }
  return true;
}

ArrayRef<HeldLocks::At> HeldLocks::calls(const llvm::Function &function) const {
  const auto known = functions_.find(&function);
  return known == functions_.end() ? ArrayRef<At>() : ArrayRef<At>(known->second.calls);
}

HeldState HeldLocks::held_at(const Instruction &instruction) const {
  const auto known = functions_.find(instruction.getFunction());
  if (known == functions_.end())
    return {};
  const auto reached = known->second.before.find(instruction.getParent());
  if (reached == known->second.before.end())
    return {};
  HeldState state = reached->second;
  LockSet released;
  for (const Instruction &before : *instruction.getParent()) {
    if (&before == &instruction)
      break;
    transfer(before, state, released);
  }
  return state;
}

bool HeldLocks::may_hold(const Instruction &instruction) const {
  const auto known = functions_.find(instruction.getFunction());
  if (known != functions_.end() && !known->second.before.contains(instruction.getParent()))
    return true; // no path leads here
  return !held_at(instruction).may.empty();
}

bool HeldLocks::may_release(const llvm::Function &function, std::uint32_t lock) const {
  const auto known = functions_.find(&function);
  return known != functions_.end() && known->second.summary.released.contains(lock);
}

const HeldState &HeldLocks::returns_with(const llvm::Function &function) const {
  static const HeldState kNone;
  const auto known = functions_.find(&function);
  return known == functions_.end() ? kNone : known->second.summary.at_return;
}

} // namespace tandem
