// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/joins.h"

#include "compiler/effects/unpublished.h"
#include "compiler/findings/lock_address.h"
#include "compiler/findings/loops.h"
#include "compiler/findings/place.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <set>

namespace tandem {
namespace {

using namespace llvm;

// C's functions that create threads: argument 0 is where the handle goes, the result is 0 if there
// is a thread.
bool creates_by_handle(StringRef name) { return name == "pthread_create" || name == "thrd_create"; }

// Members of std::thread, std::jthread and std::future that return when the thread is over.
bool joins_object(StringRef name) {
  return name == "_ZNSt6thread4joinEv" || name == "_ZNSt7jthread4joinEv" ||
         name == "_ZNSt7jthreadD2Ev" || name == "_ZNSt7jthreadD1Ev" ||
         (name.starts_with("_ZNSt6futureI") &&
          (name.ends_with("E3getEv") || name.ends_with("D2Ev") || name.ends_with("D1Ev"))) ||
         (name.starts_with("_ZNKSt14__basic_futureI") && name.ends_with("E4waitEv"));
}

// Members of a vector of std::jthread that end its threads, and join them.
bool joins_vector(StringRef name) {
  return name.starts_with("_ZNSt6vectorISt7jthread") &&
         (name.ends_with("ED2Ev") || name.ends_with("ED1Ev") || name.ends_with("E5clearEv"));
}

// Whether the function asks the vector at `address` where its elements begin.
bool goes_through(const Function &function, const Value &address) {
  return any_of(instructions(function), [&](const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    if (callee == nullptr || call->arg_size() == 0 ||
        !callee->getName().starts_with("_ZNSt6vectorI") || !callee->getName().contains("5beginEv"))
      return false;
    const Value *vector = call->getArgOperand(0);
    const auto *load = dyn_cast<LoadInst>(vector); // of a reference
    return vector == &address ||
           (load != nullptr && any_of(load->getPointerOperand()->users(), [&](const User *user) {
              const auto *store = dyn_cast<StoreInst>(user);
              return store != nullptr && store->getValueOperand() == &address;
            }));
  });
}

// What a number is that a function is given by all its callers: their constant, else the number.
const Value *as_given(const Value *number) {
  const auto *load = dyn_cast_or_null<LoadInst>(number);
  const StoreInst *store = load != nullptr ? only_store(*load->getPointerOperand()) : nullptr;
  const auto *argument = dyn_cast_or_null<Argument>(
      store != nullptr && isa<AllocaInst>(load->getPointerOperand()) ? store->getValueOperand()
                                                                     : number);
  if (argument == nullptr || !argument->getParent()->hasLocalLinkage())
    return number;
  const ConstantInt *given = nullptr;
  for (const User *user : argument->getParent()->users()) {
    const auto *call = dyn_cast<CallBase>(user);
    const bool calls = call != nullptr && called_function(*call) == argument->getParent();
    const auto *here = calls && argument->getArgNo() < call->arg_size()
                           ? dyn_cast<ConstantInt>(call->getArgOperand(argument->getArgNo()))
                           : nullptr;
    if (here == nullptr || (given != nullptr && given != here))
      return number;
    given = here;
  }
  return given != nullptr ? given : number;
}

// Whether a loop that joins comes to all that a call has created, `making` being the loop around
// that, one of `others`: it has the same bound, or certainly counts all numbers that the other one
// does. If `likely`, also where the bounds are variables that are not known to be one: who joins in
// a loop joins all.
bool covers(const Loop &joining, const CallBase &join, const Loop *making, const CallBase &created,
            const Loops &loops, const Loops &others, bool likely) {
  // For the same elements, in either order.
  if (making != nullptr && created.getFunction() == join.getFunction() &&
      loops.counter_of(*making) != nullptr && loops.counter_of(joining) != nullptr &&
      loops.run_alike(created, join))
    return true;
  const Value *last = as_given(bound_of(joining, likely));
  const auto *most = dyn_cast_or_null<ConstantInt>(last);
  if (making == nullptr) { // one of the handles, by a number
    const DataLayout &layout = created.getModule()->getDataLayout();
    const auto [base, offset] = base_of(created.getArgOperand(0), layout);
    const auto size = static_cast<std::int64_t>(layout.getPointerSize());
    return most == nullptr || !isa<AllocaInst, GlobalVariable>(base) ||
           offset / size < most->getSExtValue();
  }
  const Value *first = as_given(bound_of(*making, likely));
  if (first == nullptr || last == nullptr)
    return likely || first == last;
  const auto *made = dyn_cast<ConstantInt>(first);
  if (made != nullptr && most != nullptr) {
    const auto all = others.numbers_of(*making, as_given);
    const auto joined = loops.numbers_of(joining, as_given);
    return all && joined ? joined->first <= all->first && all->second <= joined->second
                         : made->getSExtValue() <= most->getSExtValue();
  }
  return likely || same_value(*first, *last);
}

// Whether the program comes by a call at most once, as far as its functions call each other by
// name; what starts a thread counts as run once.
bool runs_once(const CallBase &call) {
  const CallBase *at = &call;
  SmallPtrSet<const Function *, 8> seen;
  while (seen.insert(at->getFunction()).second) {
    const CallBase *only = nullptr;
    for (const User *user : at->getFunction()->users())
      if (const auto *caller = dyn_cast<CallBase>(user);
          caller != nullptr && called_function(*caller) == at->getFunction()) {
        if (only != nullptr)
          return false;
        only = caller;
      }
    if (only == nullptr)
      return true;
    if (Loops(*only->getFunction()).around(*only) != nullptr)
      return false;
    at = only;
  }
  return false;
}

// The load of a handle that a join is given, through variables that only pass it on; null if it is
// none.
const LoadInst *handle_of(const Value *value) {
  const auto *load = dyn_cast<LoadInst>(value);
  for (unsigned depth = 0; load != nullptr && depth < 8; ++depth) {
    const StoreInst *only = only_store(*load->getPointerOperand());
    const bool passes = isa<AllocaInst>(load->getPointerOperand()) && only != nullptr &&
                        only->getPointerOperand() == load->getPointerOperand();
    if (!passes || !isa<LoadInst>(only->getValueOperand()))
      return load;
    load = cast<LoadInst>(only->getValueOperand());
  }
  return load;
}

// Whether two addresses are those of one handle: one variable, at offsets that agree as far as they
// are known, or, if `exact`, certainly, as far as the text names the variable. If `likely`, also
// one field of one type where the analysis does not know all objects, `exact` or not.
bool same_slot(const Value &a, const Value &b, const PointsToAnalysis &points_to,
               bool exact = false, bool likely = false) {
  const DataLayout *layout = nullptr;
  for (const Value *value : {&a, &b})
    if (const auto *instruction = dyn_cast<Instruction>(value))
      layout = &instruction->getModule()->getDataLayout();
    else if (const auto *global = dyn_cast<GlobalVariable>(value))
      layout = &global->getParent()->getDataLayout();
  if (layout == nullptr)
    return &a == &b;
  const auto [left, left_offset] = base_of(&a, *layout);
  const auto [right, right_offset] = base_of(&b, *layout);
  if (left == right)
    return left_offset == right_offset;
  const Value *one = getUnderlyingObject(left, /*MaxLookup=*/0);
  const Value *other = getUnderlyingObject(right, /*MaxLookup=*/0);
  const auto is_variable = [](const Value *value) {
    return isa<AllocaInst, GlobalVariable>(value);
  };
  if (is_variable(one) && is_variable(other) && !isa<LoadInst>(left) &&
      !isa<LoadInst>(right)) // an element that is not known
    return one == other &&
           (exact ? same_address(a, 0, b, 0, *layout) : one != left || other != right);
  if (same_address(a, 0, b, 0, *layout))
    return true;
  const std::vector<ObjectRange> here = points_to.memory(a, 8);
  const std::vector<ObjectRange> there = points_to.memory(b, 8);
  const auto is_unknown = [](const ObjectRange &range) { return range.object == 0; };
  const auto field_of = [](const std::pair<const Value *, std::int64_t> &at) {
    return at.first == nullptr ? std::string() : record_field(*at.first, at.second);
  };
  if (likely && (any_of(here, is_unknown) || any_of(there, is_unknown)) &&
      !field_of({left, left_offset}).empty() &&
      field_of({left, left_offset}) == field_of({right, right_offset}))
    return true;
  return any_of(here, [&](const ObjectRange &x) {
    return any_of(there, [&](const ObjectRange &y) {
      return x.object != 0 && x.object == y.object && x.begin < y.end && y.begin < x.end;
    });
  });
}

} // namespace

namespace {

// Where a handle goes that is made in a temporary object: `t = std::thread(...)`.
const Value &moved_to(const Value &handle) {
  const Value *at = &handle;
  for (unsigned moves = 0; moves < 4; ++moves) {
    const auto *slot = dyn_cast<AllocaInst>(at);
    const CallBase *only = nullptr;
    for (const User *user : slot == nullptr ? at->users() : slot->users()) {
      const auto *call = dyn_cast<CallBase>(user);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      const StringRef name = callee == nullptr ? "" : callee->getName();
      const bool moves_handle =
          (name.starts_with("_ZNSt6thread") || name.starts_with("_ZNSt7jthread") ||
           name.starts_with("_ZNSt6futureI")) &&
          (name.contains("aSEO") || name.contains("C1EO") || name.contains("C2EO"));
      if (moves_handle && call->arg_size() == 2 && call->getArgOperand(1) == at)
        only = call;
    }
    if (slot == nullptr || only == nullptr)
      break;
    at = only->getArgOperand(0);
  }
  return *at;
}

// The pointer of the C++ library that leads to a handle (`pointer->join()`); else the handle.
const Value &kept_in(const Value &handle) {
  const auto *call = dyn_cast<CallBase>(&handle);
  const Function *callee = call == nullptr ? nullptr : called_function(*call);
  const StringRef name = callee == nullptr ? "" : callee->getName();
  const bool leads = (name.starts_with("_ZNKSt10unique_ptrI") ||
                      name.starts_with("_ZNKSt19__shared_ptr_accessI")) &&
                     (name.ends_with("EptEv") || name.ends_with("EdeEv"));
  return leads && call->arg_size() == 1 ? *call->getArgOperand(0) : handle;
}

// The branch that alone decides whether `call` runs, and on which side; null: there is none, or
// others decide, too.
std::pair<const BranchInst *, unsigned> decided_by(const CallBase &call) {
  const BasicBlock *block = call.getParent();
  const BasicBlock *before = block->getSinglePredecessor();
  const auto *branch = before == nullptr ? nullptr : dyn_cast<BranchInst>(before->getTerminator());
  if (branch == nullptr || branch->isUnconditional())
    return {nullptr, 0};
  return {branch, branch->getSuccessor(0) == block ? 0 : 1};
}

// Whether a condition asks if the thread with the handle at `handle` is one to be joined: there is
// none (`if (t.joinable())`, `if (t != 0)`), or it is the one that asks (pthread_equal).
bool asks_for_thread(const Value &condition, const Value &handle, const PointsToAnalysis &points_to,
                     unsigned depth = 5) {
  const auto *instruction = dyn_cast<Instruction>(&condition);
  if (instruction == nullptr || depth == 0)
    return false;
  if (const auto *load = dyn_cast<LoadInst>(instruction))
    return same_slot(*load->getPointerOperand(), handle, points_to, true);
  if (const auto *call = dyn_cast<CallBase>(instruction)) {
    const Function *callee = called_function(*call);
    const StringRef name = callee == nullptr ? "" : callee->getName();
    if (name == "pthread_equal" || name == "thrd_equal")
      return any_of(call->args(), [&](const Value *argument) {
        const LoadInst *asked = handle_of(argument);
        return asked != nullptr && same_slot(*asked->getPointerOperand(), handle, points_to, true);
      });
    return (name == "_ZNKSt6thread8joinableEv" || name == "_ZNKSt7jthread8joinableEv") &&
           same_slot(*call->getArgOperand(0), handle, points_to, true);
  }
  const auto asks = [&](const Value *operand) {
    return asks_for_thread(*operand, handle, points_to, depth - 1);
  };
  // With anything but nothing it asks for something else.
  if (const auto *compared = dyn_cast<CmpInst>(instruction))
    return compared->isEquality() && isa<Constant>(compared->getOperand(1)) &&
           (cast<Constant>(compared->getOperand(1))->isNullValue() ||
            cast<Constant>(compared->getOperand(1))->isOneValue()) &&
           asks(compared->getOperand(0));
  return isa<CastInst, BinaryOperator>(instruction) && any_of(instruction->operands(), asks);
}

} // namespace

Joins::Joins(const Module &module, const PointsToAnalysis &points_to, JoinMode mode) : mode_(mode) {
  for (const PointsToAnalysis::Spawn &spawn : points_to.spawns())
    if (numbers_.try_emplace(spawn.call, static_cast<std::uint32_t>(creations_.size())).second)
      creations_.push_back(spawn.call);
  handles_.resize(creations_.size());
  if (creations_.empty())
    return;
  find(module);
  for (const Handle &join : joins_)
    match(join, points_to);
  for (std::uint32_t creation = 0; creation < creations_.size(); ++creation)
    if (handles_[creation].size() > 1)
      match_all(creation, points_to);
  find_failures();
}

// One constructor may make several threads of a function: they are over behind the last join, if
// each is made once, in one function, and all are joined in one.
void Joins::match_all(std::uint32_t creation, const PointsToAnalysis &points_to) {
  const Handle *last = nullptr;
  const Function *function = handles_[creation].front().call->getFunction();
  for (const Handle &handle : handles_[creation]) {
    const auto joined = find_if(joins_, [&](const Handle &join) {
      const bool together = join.call->getFunction() == function;
      return Loops(*join.call->getFunction()).around(*join.call) == nullptr &&
             (together || runs_once(*handle.call)) &&
             same_slot(*handle.address, *join.address, points_to, together);
    });
    if (handle.call->getFunction() != function ||
        Loops(*function).around(*handle.call) != nullptr || joined == joins_.end() ||
        (last != nullptr && last->call->getFunction() != joined->call->getFunction()))
      return;
    if (last == nullptr || may_follow(*joined->call, *last->call))
      last = &*joined;
  }
  behind_[last->call].push_back(creation);
}

// Where a program has asked whether a thread was made and there is none.
void Joins::find_failures() {
  for (std::uint32_t creation = 0; creation < creations_.size(); ++creation) {
    const CallBase &call = *creations_[creation];
    const Function &function = *call.getFunction();
    const Function *callee = called_function(call);
    if (callee == nullptr || !creates_by_handle(callee->getName()) ||
        Loops(function).around(call) != nullptr || !runs_once(call))
      continue;
    const auto is_answer = [&](const Value *value) {
      const auto *load = dyn_cast<LoadInst>(value);
      const StoreInst *store = load != nullptr && isa<AllocaInst>(load->getPointerOperand())
                                   ? only_store(*load->getPointerOperand())
                                   : nullptr;
      return value == &call || (store != nullptr && store->getValueOperand() == &call);
    };
    for (const BasicBlock &block : function) {
      const auto *branch = dyn_cast<BranchInst>(block.getTerminator());
      const auto *compare = branch == nullptr || !branch->isConditional()
                                ? nullptr
                                : dyn_cast<ICmpInst>(branch->getCondition());
      const auto *with =
          compare == nullptr ? nullptr : dyn_cast<ConstantInt>(compare->getOperand(1));
      if (with != nullptr && with->isZero() && compare->isEquality() &&
          is_answer(compare->getOperand(0)))
        edges_[{&block, branch->getSuccessor(compare->getPredicate() == ICmpInst::ICMP_NE ? 0 : 1)}]
            .push_back(creation);
    }
  }
}

bool Joins::changes_at(const CallBase &call) const {
  return numbers_.contains(&call) ||
         any_of(joins_, [&](const Handle &join) { return join.call == &call; });
}

void Joins::find(const Module &module) {
  // The C++ library's threads are created deep inside it: the handle is the object that its
  // outermost function is given, or the vector that keeps it.
  std::map<const Function *, std::set<std::pair<std::uint32_t, bool>>>
      inside; // whether in a vector
  std::vector<const Function *> work;
  for (std::uint32_t i = 0; i < creations_.size(); ++i) {
    const CallBase &call = *creations_[i];
    const Function *callee = called_function(call);
    matters_.insert(call.getFunction());
    if (is_library_function(*call.getFunction())) {
      inside[call.getFunction()].emplace(i, false);
      work.push_back(call.getFunction());
    } else if (callee != nullptr && call.arg_size() > 0 && creates_by_handle(callee->getName())) {
      handles_[i].push_back({&call, call.getArgOperand(0)});
    }
  }
  std::map<const Function *, std::vector<const CallBase *>> calls;
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        if (const Function *callee = called_function(*call))
          calls[callee].push_back(call);
  while (!work.empty()) {
    const Function *function = work.back();
    work.pop_back();
    const std::set<std::pair<std::uint32_t, bool>> known = inside[function];
    const bool is_vector = function->getName().starts_with("_ZNSt6vectorI");
    for (const CallBase *call : calls[function]) {
      const Function *caller = call->getFunction();
      if (!is_library_function(*caller)) {
        for (const auto &[creation, kept] : known)
          if (call->arg_size() > 0 && none_of(handles_[creation], [&](const Handle &handle) {
                return handle.call == call;
              }))
            handles_[creation].push_back({call, call->getArgOperand(0), kept || is_vector});
        continue;
      }
      bool changed = false;
      for (const auto &[creation, kept] : known)
        changed |= inside[caller].emplace(creation, kept || is_vector).second;
      if (changed)
        work.push_back(caller);
    }
  }
  for (std::vector<Handle> &handles : handles_)
    for (Handle &handle : handles)
      handle.address = &moved_to(*handle.address);
  for (const auto &[callee, callers] : calls)
    for (const CallBase *call : callers) {
      if (call->arg_size() == 0)
        continue;
      const StringRef name = callee->getName();
      const LoadInst *handle = handle_of(call->getArgOperand(0));
      if (joins_object(name) && !is_library_function(*call->getFunction()))
        joins_.push_back({call, &kept_in(*call->getArgOperand(0))});
      else if (joins_vector(name) && !is_library_function(*call->getFunction()))
        joins_.push_back({call, call->getArgOperand(0), true});
      else if ((name == "pthread_join" || name == "thrd_join") && handle != nullptr)
        joins_.push_back({call, handle->getPointerOperand()});
      else
        continue;
      matters_.insert(call->getFunction());
    }
}

void Joins::match(const Handle &join, const PointsToAnalysis &points_to) {
  const Loops loops(*join.call->getFunction());
  const Loop *around = loops.around(*join.call);
  const auto [decides, joined_side] = decided_by(*join.call);
  const bool asks =
      decides != nullptr && asks_for_thread(*decides->getCondition(), *join.address, points_to);
  const bool likely = mode_ == JoinMode::likely;
  std::set<std::pair<const BasicBlock *, const BasicBlock *>> sides;
  if (likely)
    for (const auto &side :
         loops.other_sides(around == nullptr ? *join.call->getParent() : *around->getHeader()))
      if (!isa<UnreachableInst>(side.second->getTerminator())) // the process ends with its threads
        sides.insert(side);
  for (std::uint32_t creation = 0; creation < creations_.size(); ++creation) {
    // A constructor's object that is made in two places may be two threads.
    if (handles_[creation].size() != 1)
      continue;
    const Handle &handle = handles_[creation].front();
    if (join.in_vector) {
      if (handle.in_vector && same_slot(*handle.address, *join.address, points_to, true) &&
          (around == nullptr || handle.call->getFunction() == join.call->getFunction()))
        behind_[join.call].push_back(creation);
      continue;
    }
    if (handle.in_vector ? around == nullptr || bound_of(*around, likely) != nullptr ||
                               !goes_through(*join.call->getFunction(), *handle.address)
                         : !same_slot(*handle.address, *join.address, points_to, false, likely))
      continue;
    const CallBase &created = *handles_[creation].front().call;
    const bool together = created.getFunction() == join.call->getFunction();
    if (!together && !likely && !runs_once(created))
      continue;
    const Loops others(*created.getFunction());
    const Loop *making = together ? loops.around(created) : others.around(created);
    if ((around == nullptr && making == nullptr) || (together && making == around)) {
      if (!same_slot(*handles_[creation].front().address, *join.address, points_to, true, likely))
        continue;
      behind_[join.call].push_back(creation);
      // Created and joined on one condition, or joined if there is one: on the other side there is
      // no thread.
      const auto [create, created_side] = decided_by(created);
      const bool alike = together && create != nullptr && decides != nullptr &&
                         created_side == joined_side && create != decides &&
                         same_value(*create->getCondition(), *decides->getCondition());
      if (alike || asks)
        edges_[{decides->getParent(), decides->getSuccessor(1 - joined_side)}].push_back(creation);
      for (const auto &side : sides)
        edges_[side].push_back(creation);
      continue;
    }
    if (around == nullptr ||
        !(likely || loops.always(*around, *join.call) ||
          (asks && loops.always(*around, *decides))) ||
        !(handle.in_vector || covers(*around, *join.call, making, created, loops, others, likely)))
      continue;
    SmallVector<std::pair<BasicBlock *, BasicBlock *>, 4> ends;
    around->getExitEdges(ends);
    for (const auto &[from, to] : ends)
      edges_[{from, to}].push_back(creation);
    for (const auto &side : sides)
      edges_[side].push_back(creation);
  }
}

} // namespace tandem
