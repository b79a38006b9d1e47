// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sharing/sharing.h"

#include "base/check.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/InstIterator.h"

#include <algorithm>

namespace tandem {

using namespace llvm;

namespace {

constexpr std::uint32_t kMainEntry = 0;

EntryKind kind_of(Callback::When when) {
  switch (when) {
  case Callback::When::thread:
    return EntryKind::thread;
  case Callback::When::signal:
    return EntryKind::signal_handler;
  case Callback::When::later:
  case Callback::When::exit:
  case Callback::When::now:
    return EntryKind::callback;
  }
  CHECK(false);
}

// Whether control may come back to an instruction within its function.
bool is_in_cycle(const Instruction &instruction) {
  const BasicBlock *block = instruction.getParent();
  SmallPtrSet<const BasicBlock *, 16> seen;
  SmallVector<const BasicBlock *, 16> work(successors(block));
  while (!work.empty()) {
    const BasicBlock *next = work.pop_back_val();
    if (next == block)
      return true;
    if (seen.insert(next).second)
      append_range(work, successors(next));
  }
  return false;
}

void insert(EntrySet &set, std::uint32_t entry) {
  const auto at = std::lower_bound(set.begin(), set.end(), entry);
  if (at == set.end() || *at != entry)
    set.insert(at, entry);
}

} // namespace

std::string_view to_string(EntryKind kind) {
  switch (kind) {
  case EntryKind::main:
    return "main";
  case EntryKind::thread:
    return "thread";
  case EntryKind::signal_handler:
    return "signal-handler";
  case EntryKind::callback:
    return "callback";
  case EntryKind::exported:
    return "exported";
  }
  CHECK(false);
}

Sharing::Sharing(const Module &module, const PointsToAnalysis &points_to)
    : points_to_(points_to), start_(program_start(module)),
      calls_(module, [&](const CallBase &call) { return points_to.targets(call); }) {
  find_callers(module);
  find_entries(module);
  find_creators();
  for (std::uint32_t entry = 0; entry < entries_.size(); ++entry)
    if (entries_[entry].kind == EntryKind::main)
      run_first_thread();
    else
      run(*entries_[entry].function, entry);
  run_callees();
  for (const auto &[function, part] : after_) {
    EntrySet entries = sets_[functions_.lookup(function)];
    insert(entries, kMainEntry);
    after_entries_[function] = set_number(std::move(entries));
  }
}

void Sharing::find_callers(const Module &module) {
  struct Array {
    ArrayRef<const Function *> targets;
    SmallVector<const CallBase *, 2> calls;
  };
  std::vector<Array> arrays;
  DenseMap<const Function *const *, std::size_t> known;
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const auto targets =
          call == nullptr ? ArrayRef<const Function *>() : points_to_.targets(*call);
      if (targets.empty())
        continue;
      const auto [at, fresh] = known.try_emplace(targets.data(), arrays.size());
      if (fresh)
        arrays.push_back({targets, {}});
      if (auto &calls = arrays[at->second].calls; calls.size() < 2)
        calls.push_back(call);
    }
  for (const Array &array : arrays)
    for (const Function *target : array.targets)
      for (const CallBase *call : array.calls)
        if (auto &callers = callers_[target]; callers.size() < 2)
          callers.push_back(call);
}

void Sharing::add_entry(const Function &function, EntryKind kind, bool many) {
  for (Entry &entry : entries_)
    if (entry.function == &function && entry.kind == kind) {
      entry.many = true; // started from two places
      return;
    }
  entries_.push_back({&function, kind, many});
}

void Sharing::find_entries(const Module &module) {
  if (start_.main != nullptr)
    add_entry(*start_.main, EntryKind::main, false);
  std::set<std::pair<const CallBase *, const Function *>> seen;
  for (const PointsToAnalysis::Spawn &spawn : points_to_.spawns()) {
    spawning_.insert(spawn.call);
    if (!seen.insert({spawn.call, spawn.function}).second)
      continue;
    // A library calls back from any thread that calls it.
    const bool many =
        (spawn.when != Callback::When::thread && spawn.when != Callback::When::exit) ||
        !runs_once(*spawn.call);
    add_entry(*spawn.function, kind_of(spawn.when), many);
  }
  std::set<const Function *> exported;
  for (const Function *function : points_to_.exported())
    if (exported.insert(function).second && !is_threads_run(*function))
      add_entry(*function, EntryKind::exported, true);
  add_start(module);
}

// Whether the function is what std::thread's object has to run: the library calls it once, in the
// thread that it was made for, although its address is in a table that code outside knows.
bool Sharing::is_threads_run(const Function &function) const {
  const StringRef name = function.getName();
  return name.starts_with("_ZNSt6thread11_State_impl") && name.ends_with("6_M_runEv") &&
         any_of(points_to_.spawns(),
                [&](const auto &spawn) { return spawn.function == &function; });
}

// What the system runs that is not main's.
void Sharing::add_start(const Module &module) {
  if (start_.main == nullptr)
    for (const Function *function : start_.before)
      add_entry(*function, EntryKind::callback, false);
  for (const Function *function : start_.after)
    add_entry(*function, EntryKind::callback, false);
  // A call from another output may be the first that needs to know which function it is to run.
  for (const GlobalIFunc &ifunc : module.ifuncs())
    if (const Function *resolver = ifunc.getResolverFunction();
        !ifunc.hasLocalLinkage() && resolver != nullptr && !resolver->isDeclaration())
      add_entry(*resolver, EntryKind::callback, true);
}

// Whether a call runs at most once in the life of the process.
bool Sharing::runs_once(const CallBase &call) const {
  std::set<const Function *> seen;
  const CallBase *at = &call;
  while (true) {
    const Function *function = at->getFunction();
    if (is_in_cycle(*at) || !seen.insert(function).second)
      return false;
    const auto callers = callers_.find(function);
    if (is_contained(points_to_.exported(), function) ||
        any_of(points_to_.spawns(), [&](const auto &spawn) { return spawn.function == function; }))
      return false;
    if (function == start_.main || is_contained(start_.before, function) ||
        is_contained(start_.after, function))
      return callers == callers_.end();
    if (callers == callers_.end() || callers->second.size() != 1)
      return false;
    at = callers->second.front();
  }
}

// Functions that may start a thread, or that code outside the program may make it do.
void Sharing::find_creators() {
  std::vector<bool> creates(calls_.size());
  for (const CallBase *call : spawning_)
    creates[calls_.node(*call->getFunction())] = true;
  for (const std::vector<ProgramCalls::Node> &component : calls_.components()) {
    const bool any = any_of(component, [&](ProgramCalls::Node node) {
      return creates[node] || any_of(calls_.callees(node),
                                     [&](ProgramCalls::Node callee) { return creates[callee]; });
    });
    for (const ProgramCalls::Node node : component) {
      creates[node] = any;
      if (any && calls_.function(node) != nullptr)
        creators_.insert(calls_.function(node));
    }
  }
}

bool Sharing::creates(const CallBase &call) const {
  return spawning_.contains(&call) || any_of(points_to_.targets(call), [&](const Function *target) {
           return creators_.contains(target);
         });
}

void Sharing::run(const Function &start, std::uint32_t entry) { insert(begins_[&start], entry); }

std::uint32_t Sharing::set_number(EntrySet set) {
  const auto [known, fresh] =
      set_numbers_.try_emplace(std::move(set), static_cast<std::uint32_t>(sets_.size()));
  if (fresh)
    sets_.push_back(known->first);
  return known->second;
}

std::uint32_t Sharing::unite(std::uint32_t a, std::uint32_t b) {
  if (a == b || b == 0)
    return a;
  if (a == 0)
    return b;
  const auto [known, fresh] = unions_.try_emplace(std::minmax(a, b), 0);
  if (fresh) {
    EntrySet both;
    std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(),
                   std::back_inserter(both));
    known->second = set_number(std::move(both));
  }
  return known->second;
}

// Whatever runs a function runs what it calls.
void Sharing::run_callees() {
  std::vector<std::uint32_t> entered(calls_.size());
  for (const auto &[function, entries] : begins_)
    entered[calls_.node(*function)] = set_number(entries);
  for (const std::vector<ProgramCalls::Node> &component : reverse(calls_.components())) {
    std::uint32_t all = 0;
    for (const ProgramCalls::Node node : component)
      all = unite(all, entered[node]);
    for (const ProgramCalls::Node node : component) {
      if (calls_.function(node) != nullptr)
        functions_[calls_.function(node)] = all;
      for (const ProgramCalls::Node callee : calls_.callees(node))
        entered[callee] = unite(entered[callee], all);
    }
  }
}

// Main's thread runs what comes before main, in an order that is not relied on, and then main. What
// it runs before the first thread is started runs beside nothing.
void Sharing::run_first_thread() {
  std::vector<const Function *> roots(start_.before);
  roots.push_back(start_.main);
  const bool outside_may_start =
      any_of(entries_, [](const Entry &entry) { return entry.kind == EntryKind::exported; });
  const auto starters =
      count_if(start_.before, [&](const Function *root) { return creators_.contains(root); });
  for (const Function *root : roots) {
    const bool starts = creators_.contains(root);
    // Constructors that start threads, others than itself, may have run before it.
    const bool late = starters > (starts && root != start_.main ? 1 : 0);
    if (outside_may_start || late || callers_.contains(root))
      run(*root, kMainEntry);
    else if (starts)
      run_from(*root);
  }
}

// From the first call on that may start a thread, in a function and in what it calls.
void Sharing::run_from(const Function &root) {
  std::vector<const Function *> work{&root};
  std::set<const Function *> seen{&root};
  while (!work.empty()) {
    const Function *function = work.back();
    work.pop_back();
    auto &after = after_[function];
    std::vector<const Instruction *> instructions_to_do;
    const auto visit = [&](const Instruction *instruction) {
      if (instruction != nullptr && after.insert(instruction).second)
        instructions_to_do.push_back(instruction);
    };
    const auto visit_next = [&](const Instruction *instruction) {
      if (!instruction->isTerminator())
        visit(instruction->getNextNode());
      else
        for (const BasicBlock *next : successors(instruction->getParent()))
          visit(&next->front());
    };
    for (const Instruction &instruction : instructions(*function))
      if (const auto *call = dyn_cast<CallBase>(&instruction); call != nullptr && creates(*call)) {
        visit_next(call);
        for (const Function *target : points_to_.targets(*call))
          if (creators_.contains(target) && seen.insert(target).second)
            work.push_back(target);
      }
    while (!instructions_to_do.empty()) {
      const Instruction *instruction = instructions_to_do.back();
      instructions_to_do.pop_back();
      visit_next(instruction);
      if (const auto *call = dyn_cast<CallBase>(instruction))
        for (const Function *target : points_to_.targets(*call))
          run(*target, kMainEntry);
    }
  }
}

const EntrySet &Sharing::entries_of(const Function &function) const {
  if (const auto after = after_entries_.find(&function); after != after_entries_.end())
    return sets_[after->second];
  return sets_[functions_.lookup(&function)];
}

const EntrySet &Sharing::entries_of(const Instruction &instruction) const {
  const Function *function = instruction.getFunction();
  if (const auto after = after_.find(function);
      after != after_.end() && after->second.contains(&instruction))
    return sets_[after_entries_.at(function)];
  return sets_[functions_.lookup(function)];
}

bool Sharing::may_overlap(const EntrySet &a, const EntrySet &b) const {
  if (a.empty() || b.empty())
    return false;
  if (a.size() > 1 || b.size() > 1 || a.front() != b.front())
    return true;
  return entries_[a.front()].many;
}

std::vector<const Function *> Sharing::called_from_outside() const {
  std::vector<const Function *> functions;
  for (const Entry &entry : entries_)
    if (entry.kind == EntryKind::exported || entry.kind == EntryKind::callback)
      functions.push_back(entry.function);
  return functions;
}

} // namespace tandem
