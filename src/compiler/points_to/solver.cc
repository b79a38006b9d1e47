// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which the program is read: all at once, or callees first.
#include "compiler/points_to/solver.h"
#include "compiler/points_to/components.h"
#include "compiler/points_to/program_start.h"
#include "compiler/sections/called_function.h"

#include "llvm/IR/InstIterator.h"

#include <map>
#include <set>
#include <string>

namespace tandem {

using namespace llvm;

namespace {

// A constructor of std::thread starts the thread of the state that it has just made, and runs no
// other function of that state's table. (Libstdc++'s names.)
void keep_own_threads(std::vector<PointsToAnalysis::Spawn> &spawns) {
  std::map<const CallBase *, std::string> runs; // by call that starts a thread; empty: not known
  for (const auto &spawn : spawns) {
    const Function *callee = called_function(*spawn.call);
    if (callee == nullptr || !callee->getName().starts_with("_ZNSt6thread15_M_start_threadE") ||
        !runs.try_emplace(spawn.call).second)
      continue;
    std::set<std::string> made;
    for (const Instruction &instruction : instructions(*spawn.call->getFunction()))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        if (const Function *makes = called_function(*call))
          if (const StringRef name = makes->getName();
              name.starts_with("_ZNSt6thread11_State_implI"))
            for (const char *constructor : {"EC2I", "EC1I", "EC2E", "EC1E"})
              if (const std::size_t end = name.find(constructor); end != StringRef::npos) {
                made.insert((name.take_front(end) + "E6_M_runEv").str());
                break;
              }
    if (made.size() == 1)
      runs[spawn.call] = *made.begin();
  }
  for (const auto &[call, run] : runs)
    if (!run.empty() && any_of(spawns, [&](const auto &spawn) {
          return spawn.call == call && spawn.function->getName() == run;
        }))
      erase_if(spawns, [&](const auto &spawn) {
        return spawn.call == call && spawn.function->getName() != run;
      });
}

} // namespace

namespace {

// Copies of callees may make the graph this much larger than the program; beyond that, functions
// are no longer told apart by their callers.
constexpr std::size_t kNodesPerInstruction = 24;
constexpr std::size_t kNodesToStart = 1U << 20U;
// Nodes that the callers of a function would copy, each of them.
constexpr std::size_t kLargestSummary = 400;

} // namespace

PointsToGraph::PointsToGraph(const Module &module, const Catalogue &catalogue,
                             const SpecialisedProgram *copy)
    : module_(module), catalogue_(catalogue), copy_(copy), layout_(module.getDataLayout()),
      graph_(
          [this](std::uint32_t call, const Function &function) { enter(call, function); },
          {.call = [this](CrowdId id, std::uint32_t call) { add_to_crowd(id, call); },
           .function = [this](CrowdId id, const Function &function) { add_to_crowd(id, function); },
           .unite = [this](CrowdId id, CrowdId other) { unite_crowds(id, other); }}) {}

bool PointsToGraph::is_allocator(const Function &function) const {
  const Value *origin = copy_ == nullptr ? &function : copy_->origin(function);
  return function.returnDoesNotAlias() ||
         (origin != nullptr && catalogue_.is_allocator(origin->getName().str()));
}

bool PointsToGraph::is_released(const Argument &argument) const {
  const Function *function = argument.getParent();
  const Value *origin = copy_ == nullptr ? function : copy_->origin(*function);
  return origin != nullptr &&
         catalogue_.released_argument(origin->getName().str()) == argument.getArgNo();
}

void PointsToGraph::start() {
  external_ = {graph_.add_node(kProgram), 0};
  channel_ = records_flow_ ? flow_.add_node() : 0;
  graph_.collapse(external_.node);
  graph_.unify(graph_.content(external_), external_);
  share(outside());
  Site from_outside{.pointer = std::nullopt, .actuals = {}, .direct = false, .anything_else = true};
  graph_.add_call(external_.node, new_site(std::move(from_outside)));
  find_address_arithmetic();
  start_exceptions();
  start_coroutines();
  add_ifuncs();
  for (const GlobalVariable &global : module_.globals())
    initialise(global);
  escape_known_symbols();
  add_program_arguments();
}

// The arguments, the environment, and their strings, as main and what runs before it get them.
void PointsToGraph::add_program_arguments() {
  const ProgramStart known = program_start(module_);
  std::map<unsigned, Pointer> given;
  const auto pass_to = [&](const Function &function) {
    for (const Argument &argument : function.args())
      if (argument.getType()->isPointerTy()) {
        const auto [entry, fresh] = given.try_emplace(argument.getArgNo());
        if (fresh) {
          entry->second = object(argument, kProgram);
          collapse(entry->second);
          store(entry->second, entry->second);
        }
        define(&argument, 0, entry->second);
      }
  };
  if (known.main != nullptr)
    pass_to(*known.main);
  for (const Function *function : known.before)
    pass_to(*function);
}

void PointsToGraph::finish() {
  do {
    apply_indexes();
    graph_.settle();
  } while (search() || leave() || rejoin() || applied_ != indexes_.size() || apply_indexes_again());
  mark_reached();
}

// What a call copied before all of the program knew it is the program's own, and so is the copy.
// Whether there was any.
bool PointsToGraph::rejoin() {
  bool changed = false;
  for (auto &[call, copies] : copies_)
    // A copy of the list: uniting may bind the call again, which adds to it.
    for (const auto &[original, copy] :
         SmallVector<std::pair<NodeId, NodeId>, 16>(copies.begin(), copies.end())) {
      const Cell root = graph_.find({original, 0});
      if (graph_.scope(root.node) == kProgram && graph_.find({copy, 0}) != root) {
        graph_.unify(root, {copy, 0});
        changed = true;
      }
    }
  return changed;
}

void PointsToGraph::solve_insensitive() {
  start();
  for (const Function &function : module_)
    add_function(function);
  finish();
  unite_objects();
  unite_functions();
  has_flow_ = flow_.solve(copy_ != nullptr);
  while (has_flow_ && enter_hidden()) {
    finish();
    has_flow_ = flow_.resume(copy_ != nullptr);
  }
  while (!has_flow_ && unify_hidden(*this))
    finish();
  if (has_flow_) {
    mark_hidden_reached(*this);
    take_targets();
  }
  keep_own_threads(spawns_);
  take_crowds();
}

// Calls by pointer enter what flows into the pointer.
void PointsToGraph::take_targets() {
  std::set<std::pair<const CallBase *, const Function *>> open;
  std::set<const CallBase *> guarded;
  for (const Guarded &call : guarded_) {
    if (call.call == nullptr)
      continue;
    guarded.insert(call.call);
    if (flow_.is_open(call.guard))
      open.insert({call.call, call.function});
  }
  for (const auto &[call, guard] : leaving_guards_)
    if (!flow_.is_open(guard))
      leaving_.erase(call);
  const auto closed = [&](const CallBase *call, const Function *function) {
    return !open.contains({call, function}) && !unguarded_.contains({call, function});
  };
  for (const CallBase *call : guarded) {
    erase_if(targets_[call], [&](const Function *function) { return closed(call, function); });
    erase_if(spawns_, [&](const Spawn &spawn) {
      return spawn.call == call && closed(call, spawn.function);
    });
  }
}

// How many nodes a call of the group copies.
std::size_t PointsToGraph::summary_size(ArrayRef<const Function *> group) {
  DenseSet<NodeId> seen;
  SmallVector<NodeId, 32> work;
  const auto visit = [&](Cell cell) {
    const NodeId root = graph_.find(cell).node;
    if (graph_.scope(root) != kProgram && seen.insert(root).second)
      work.push_back(root);
  };
  for (const Function *function : group) {
    for (const Argument &argument : function->args())
      for (unsigned leaf = 0; leaf < leaves(argument.getType()).size(); ++leaf)
        if (leaves(argument.getType())[leaf].carries)
          visit(variable(&argument, leaf).cell);
    for (unsigned leaf = 0; leaf < leaves(function->getReturnType()).size(); ++leaf)
      if (leaves(function->getReturnType())[leaf].carries)
        visit(result(*function, leaf).cell);
  }
  while (!work.empty() && seen.size() < kLargestSummary) {
    const NodeId root = work.pop_back_val();
    for (const auto &[offset, content] : graph_.contents(root))
      visit(content);
  }
  return seen.size();
}

void PointsToGraph::solve_sensitive(const PointsToGraph &insensitive) {
  preset_ = &insensitive;
  records_flow_ = false;
  const auto groups =
      components(module_, [&](const CallBase &call) { return insensitive.targets(call); });
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const Function *function : groups[i])
      if (!function->isPresplitCoroutine()) // run by others than those that pass its arguments
        scopes_[function] = static_cast<Scope>(i + 1);
  start();
  take_preset_crowds();
  const std::size_t budget = kNodesToStart + kNodesPerInstruction * module_.getInstructionCount();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::size_t first = indexes_.size();
    for (const Function *function : groups[i])
      add_function(*function);
    do {
      apply_indexes();
      graph_.settle(static_cast<Scope>(i + 1));
    } while (applied_ != indexes_.size() || apply_indexes_again(first));
    const bool within = graph_.size() < budget;
    has_all_contexts_ = has_all_contexts_ && within;
    if (within && summary_size(groups[i]) < kLargestSummary)
      continue;
    for (const Function *function : groups[i]) {
      for (const Argument &argument : function->args())
        for (unsigned leaf = 0; leaf < leaves(argument.getType()).size(); ++leaf)
          if (leaves(argument.getType())[leaf].carries)
            graph_.publish(variable(&argument, leaf).cell.node);
      for (unsigned leaf = 0; leaf < leaves(function->getReturnType()).size(); ++leaf)
        if (leaves(function->getReturnType())[leaf].carries)
          graph_.publish(result(*function, leaf).cell.node);
    }
  }
  do
    finish();
  while (!insensitive.has_flow_ && unify_hidden(insensitive));
  mark_hidden_reached(insensitive);
  callers_.resize(groups.size() + 1);
  for (const auto &[key, copies] : copies_)
    callers_[scope_of(*key.second)].push_back({key.first, key.second});
}

// What globals, code outside the program and the arguments of threads lead to.
void PointsToGraph::mark_reached() {
  reached_.assign(graph_.size(), false);
  std::vector<NodeId> work;
  const auto visit = [&](Cell cell) {
    const NodeId root = graph_.find(cell).node;
    if (!reached_[root]) {
      reached_[root] = true;
      work.push_back(root);
    }
  };
  for (const auto &[global, node] : globals_)
    if (!global->isThreadLocal())
      visit({node, 0});
  for (const Cell &root : roots_)
    visit(root);
  while (!work.empty()) {
    const NodeId root = work.back();
    work.pop_back();
    for (const auto &[offset, content] : graph_.contents(root))
      visit(content);
  }
}

ArrayRef<PointsToGraph::Caller> PointsToGraph::callers(Scope scope) const {
  return scope < callers_.size() ? ArrayRef(callers_[scope]) : ArrayRef<Caller>();
}

std::optional<Cell> PointsToGraph::in_caller(const CallBase &call, const Function &target,
                                             Cell cell) {
  const Cell root = graph_.find(cell);
  if (graph_.scope(root.node) == kProgram || scope_of(target) == scope_of(*call.getFunction()))
    return root;
  const auto copies = copies_.find({&call, &target});
  if (copies == copies_.end())
    return std::nullopt;
  const auto copy = copies->second.find(root.node);
  if (copy == copies->second.end())
    return std::nullopt;
  return graph_.find({copy->second, root.offset});
}

} // namespace tandem
