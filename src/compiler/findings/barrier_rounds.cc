// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/barrier_rounds.h"

#include "compiler/sections/called_function.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <deque>
#include <numeric>
#include <optional>
#include <set>

namespace tandem {
namespace {

using namespace llvm;

// Rounds over the functions that wait until what they do is known; recursion may need more, and is
// then taken as it is.
constexpr unsigned kMostRounds = 8;

bool is_wait(const Function &function) {
  const StringRef name = function.getName();
  return name == "pthread_barrier_wait" ||
         (name.starts_with("_ZNSt7barrierI") && name.ends_with("15arrive_and_waitEv"));
}

bool is_in_loop(const Instruction &instruction) {
  SmallVector<BasicBlock *, 4> next;
  for (const BasicBlock *block : successors(instruction.getParent()))
    next.push_back(const_cast<BasicBlock *>(block)); // NOLINT: it is only read
  return !next.empty() && isPotentiallyReachableFromMany(next, instruction.getParent(), nullptr);
}

} // namespace

BarrierRounds::BarrierRounds(const Module &module, const PointsToAnalysis &points_to,
                             const Sharing &sharing)
    : points_to_(points_to), when_(sharing.entries().size()) {
  find(module);
  if (barriers_.empty())
    return;
  find_waiting(module);
  for (std::uint32_t entry = 0; entry < when_.size(); ++entry)
    if (const Entry &what = sharing.entries()[entry];
        what.kind == EntryKind::main || what.kind == EntryKind::thread)
      follow(entry, *what.function);
  check_counts(module, sharing);
}

void BarrierRounds::find(const Module &module) {
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      if (callee == nullptr || !is_wait(*callee) || call->arg_size() == 0)
        continue;
      const auto [base, offset] = base_of(call->getArgOperand(0), module.getDataLayout());
      if (const auto *variable = dyn_cast_or_null<GlobalVariable>(base))
        waits_[call] =
            barriers_.try_emplace({variable, offset}, static_cast<std::uint32_t>(barriers_.size()))
                .first->second;
    }
}

// The functions that wait, themselves or by a call, and what each does.
void BarrierRounds::find_waiting(const Module &module) {
  std::map<const Function *, std::vector<const Function *>> callers;
  std::vector<const Function *> work;
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction)) {
        if (waits_.contains(call)) {
          if (does_.try_emplace(&function, State(barriers_.size())).second)
            work.push_back(&function);
        } else {
          for (const Function *target : points_to_.targets(*call))
            callers[target].push_back(&function);
        }
      }
  for (std::size_t i = 0; i < work.size(); ++i)
    for (const Function *caller : callers[work[i]])
      if (does_.try_emplace(caller, State(barriers_.size())).second)
        work.push_back(caller);
  for (unsigned round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    for (const Function *function : work)
      changed |= run(*function);
    if (!changed)
      return;
  }
}

BarrierRounds::Waits BarrierRounds::sum(Waits a, Waits b) {
  const std::uint32_t modulus = std::gcd(a.modulus, b.modulus);
  const std::uint32_t rest = a.rest + b.rest;
  return {modulus == 0 ? rest : rest % modulus, modulus};
}

BarrierRounds::Waits BarrierRounds::either(Waits a, Waits b) {
  const std::uint32_t apart = a.rest > b.rest ? a.rest - b.rest : b.rest - a.rest;
  const std::uint32_t modulus = std::gcd(std::gcd(a.modulus, b.modulus), apart);
  return {modulus == 0 ? a.rest : a.rest % modulus, modulus};
}

bool BarrierRounds::differ(Waits a, Waits b) {
  const std::uint32_t modulus = std::gcd(a.modulus, b.modulus);
  return modulus == 0 ? a.rest != b.rest : a.rest % modulus != b.rest % modulus;
}

// Whether that was news.
bool BarrierRounds::merge(State &into, const State &other) {
  const State old = into;
  for (std::size_t i = 0; i < into.size(); ++i)
    into[i] = either(into[i], other[i]);
  return into != old;
}

void BarrierRounds::step(const Instruction &instruction, State &state) const {
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (call == nullptr)
    return;
  if (const auto wait = waits_.find(call); wait != waits_.end()) {
    state[wait->second] = sum(state[wait->second], {1, 0});
    return;
  }
  std::optional<State> after;
  for (const Function *target : points_to_.targets(*call)) {
    State way = state;
    if (const auto known = does_.find(target); known != does_.end())
      for (std::size_t i = 0; i < way.size(); ++i)
        way[i] = sum(way[i], known->second[i]);
    if (after)
      merge(*after, way);
    else
      after = way;
  }
  if (after)
    state = *after;
}

// Finds how often a function waits; whether that is news.
bool BarrierRounds::run(const Function &function) {
  if (function.isDeclaration())
    return false;
  std::deque<const BasicBlock *> work{&function.getEntryBlock()};
  std::set<const BasicBlock *> reached{&function.getEntryBlock()};
  before_[&function.getEntryBlock()] = State(barriers_.size());
  std::optional<State> at_return;
  while (!work.empty()) {
    const BasicBlock *block = work.front();
    work.pop_front();
    State state = before_[block];
    for (const Instruction &instruction : *block)
      step(instruction, state);
    for (const BasicBlock *next : successors(block)) {
      if (reached.insert(next).second)
        before_[next] = state;
      else if (!merge(before_[next], state))
        continue;
      work.push_back(next);
    }
    if (isa<ReturnInst>(block->getTerminator())) {
      if (at_return)
        merge(*at_return, state);
      else
        at_return = state;
    }
  }
  State &does = does_.at(&function);
  const State old = does;
  does = at_return.value_or(State(barriers_.size()));
  return does != old;
}

// How often the entry's thread has waited when it comes to each function.
void BarrierRounds::follow(std::uint32_t entry, const Function &begin) {
  std::map<const Function *, State> &when = when_[entry];
  std::deque<const Function *> work{&begin};
  when[&begin] = State(barriers_.size());
  while (!work.empty()) {
    const Function *function = work.front();
    work.pop_front();
    const State at_begin = when.at(function);
    const bool waits = does_.contains(function);
    for (const BasicBlock &block : *function) {
      State state = waits ? before_.lookup(&block) : State(barriers_.size());
      if (state.empty())
        continue; // never reached
      for (const Instruction &instruction : block) {
        const auto *call = dyn_cast<CallBase>(&instruction);
        if (call == nullptr)
          continue;
        State here = at_begin;
        for (std::size_t i = 0; i < here.size(); ++i)
          here[i] = sum(here[i], state[i]);
        for (const Function *target : points_to_.targets(*call)) {
          const auto [known, fresh] = when.try_emplace(target, here);
          if ((fresh || merge(known->second, here)) && !target->isDeclaration())
            work.push_back(target);
        }
        if (waits)
          step(instruction, state);
      }
    }
  }
}

// A barrier for another number of threads than those that wait at it keeps nothing apart.
void BarrierRounds::check_counts(const Module &module, const Sharing &sharing) {
  trusted_.assign(barriers_.size(), true);
  std::vector<std::optional<std::uint64_t>> made(barriers_.size());
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      if (callee == nullptr || callee->getName() != "pthread_barrier_init" || call->arg_size() < 3)
        continue;
      const auto [base, offset] = base_of(call->getArgOperand(0), module.getDataLayout());
      const auto barrier = barriers_.find({dyn_cast_or_null<GlobalVariable>(base), offset});
      const auto *count = dyn_cast<ConstantInt>(call->getArgOperand(2));
      if (barrier != barriers_.end() && count != nullptr)
        made[barrier->second] = count->getZExtValue();
    }
  for (std::uint32_t barrier = 0; barrier < trusted_.size(); ++barrier) {
    std::optional<std::uint64_t> threads = 0;
    for (std::uint32_t entry = 0; entry < when_.size(); ++entry) {
      const auto waits_there = [&](const auto &wait) {
        return wait.second == barrier && when_[entry].contains(wait.first->getFunction());
      };
      if (!any_of(waits_, waits_there))
        continue;
      const Entry &what = sharing.entries()[entry];
      if (what.kind == EntryKind::main) {
        threads = threads ? std::optional(*threads + 1) : threads;
        continue;
      }
      for (const PointsToAnalysis::Spawn &spawn : points_to_.spawns())
        if (spawn.function == what.function) {
          const bool alone =
              !is_in_loop(*spawn.call) && sharing.start().main == spawn.call->getFunction();
          threads = alone && threads ? std::optional(*threads + 1) : std::nullopt;
        }
    }
    trusted_[barrier] = !made[barrier] || !threads || *made[barrier] == *threads;
  }
}

BarrierRounds::State BarrierRounds::at(std::uint32_t entry, const Instruction &instruction) const {
  const Function *function = instruction.getFunction();
  const auto known = when_[entry].find(function);
  if (known == when_[entry].end())
    return {};
  State state = known->second;
  if (!does_.contains(function))
    return state;
  State own = before_.lookup(instruction.getParent());
  if (own.empty())
    return {};
  for (const Instruction &before : *instruction.getParent()) {
    if (&before == &instruction)
      break;
    step(before, own);
  }
  for (std::size_t i = 0; i < state.size(); ++i)
    state[i] = sum(state[i], own[i]);
  return state;
}

bool BarrierRounds::keep_apart(std::uint32_t a, const Instruction &at, std::uint32_t b,
                               const Instruction &other) const {
  if (barriers_.empty())
    return false;
  const State here = this->at(a, at);
  const State there = this->at(b, other);
  if (here.empty() || there.empty())
    return false;
  const auto waits_at = [&](std::uint32_t entry, std::uint32_t barrier) {
    return any_of(waits_, [&](const auto &wait) {
      return wait.second == barrier && when_[entry].contains(wait.first->getFunction());
    });
  };
  for (std::uint32_t barrier = 0; barrier < trusted_.size(); ++barrier)
    if (trusted_[barrier] && differ(here[barrier], there[barrier]) && waits_at(a, barrier) &&
        waits_at(b, barrier))
      return true;
  return false;
}

} // namespace tandem
