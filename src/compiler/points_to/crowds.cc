// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Crowds: calls by pointer and functions that are too many to be paired. What any of the calls
// passes goes to one place, from where each of the functions takes it.
#include "compiler/points_to/solver.h"
#include "compiler/sections/called_function.h"

#include <algorithm>

namespace tandem {

using namespace llvm;

namespace {

// One letter for what a register passes; empty where a value is passed otherwise.
StringRef letter(const Type *type) {
  if (type->isPointerTy() || (type->isIntegerTy() && type->getIntegerBitWidth() <= 64))
    return "i";
  return type->isFloatTy() || type->isDoubleTy() ? "f" : "";
}

bool returns_plainly(const Type *type) { return type->isVoidTy() || !letter(type).empty(); }

} // namespace

PointsToGraph::Crowd &PointsToGraph::crowd(CrowdId id) {
  while (crowds_.size() <= id)
    crowds_.push_back({.united = static_cast<CrowdId>(crowds_.size()),
                       .passings = {},
                       .other_sites = {},
                       .other_functions = {}});
  return crowds_[crowd_root(id)];
}

CrowdId PointsToGraph::crowd_root(CrowdId id) const {
  while (crowds_[id].united != id)
    id = crowds_[id].united;
  return id;
}

// As in `fits`: a call and a function that are of one shape go together, and those of different
// ones do not. Empty: they have to be asked.
std::string PointsToGraph::shape_of(const Site &site) {
  if (site.call == nullptr || !site.direct || site.when != Callback::When::now || !site.pointer ||
      called_function(*site.call) != nullptr || !returns_plainly(site.call->getType()))
    return "";
  std::string shape = "(";
  for (const Value *argument : site.call->args())
    if (const StringRef one = letter(argument->getType()); !one.empty())
      shape += one;
    else
      return "";
  return shape;
}

std::string PointsToGraph::shape_of(const Function &function) {
  if (function.isDeclaration() || function.isVarArg() || is_allocator(function) ||
      !returns_plainly(function.getReturnType()))
    return "";
  std::string shape = "(";
  for (const Argument &argument : function.args())
    if (const StringRef one = letter(argument.getType());
        !one.empty() && !argument.hasByValAttr() && !is_released(argument))
      shape += one;
    else
      return "";
  return shape;
}

void PointsToGraph::enter_once(std::uint32_t site, const Function &function) {
  if (met_.insert({site, &function}).second)
    enter(site, function);
}

PointsToGraph::Passing &PointsToGraph::passing(Crowd &crowd, const std::string &shape) {
  const auto [entry, fresh] = crowd.passings.try_emplace(shape);
  if (fresh) {
    for (std::size_t i = 1; i < shape.size(); ++i)
      entry->second.arguments.push_back(nowhere(kProgram));
    entry->second.result = nowhere(kProgram);
  }
  return entry->second;
}

void PointsToGraph::add_to_crowd(CrowdId id, std::uint32_t site) {
  Crowd &joined = crowd(id);
  const std::string shape = shape_of(sites_[site]);
  for (const Function *function : joined.other_functions)
    enter_once(site, *function);
  if (shape.empty()) {
    joined.other_sites.push_back(site);
    for (const auto &[other, passing] : joined.passings)
      for (const Function *function : passing.functions)
        enter_once(site, *function);
    return;
  }
  Passing &own = passing(joined, shape);
  own.sites.push_back(site);
  if (own.functions.empty())
    return;
  if (own.sites.size() == 1)
    for (const Function *function : own.functions)
      pass_function(own, *function);
  pass_call(id, shape, site);
}

void PointsToGraph::add_to_crowd(CrowdId id, const Function &function) {
  Crowd &joined = crowd(id);
  const std::string shape = shape_of(function);
  for (const std::uint32_t site : joined.other_sites)
    enter_once(site, function);
  if (shape.empty()) {
    joined.other_functions.push_back(&function);
    for (const auto &[other, passing] : joined.passings)
      for (const std::uint32_t site : passing.sites)
        enter_once(site, function);
    return;
  }
  Passing &own = passing(joined, shape);
  own.functions.push_back(&function);
  if (own.sites.empty())
    return;
  pass_function(own, function);
  if (own.functions.size() == 1)
    for (const std::uint32_t site : own.sites)
      pass_call(id, shape, site);
}

void PointsToGraph::unite_crowds(CrowdId id, CrowdId other) {
  const CrowdId stays = crowd(id).united;
  Crowd &goes = crowd(other); // behind the other look-up, which may move all of them
  if (goes.united == stays)
    return;
  const Crowd had = std::move(goes);
  goes = {.united = stays, .passings = {}, .other_sites = {}, .other_functions = {}};
  for (const std::uint32_t site : had.other_sites)
    add_to_crowd(stays, site);
  for (const Function *function : had.other_functions)
    add_to_crowd(stays, *function);
  for (const auto &[shape, passing] : had.passings) {
    for (const std::uint32_t site : passing.sites)
      add_to_crowd(stays, site);
    for (const Function *function : passing.functions)
      add_to_crowd(stays, *function);
  }
}

// What a call passes, once its pointer may denote one of the functions, and what it takes.
void PointsToGraph::pass_call(CrowdId id, const std::string &shape, std::uint32_t number) {
  const Site site = sites_[number]; // uniting below may add sites
  const Passing &own = passing(crowd(id), shape);
  std::optional<std::uint32_t> guard;
  if (records_flow_)
    guard = flow_.guard(site.pointer->flow, *own.functions.front());
  if (preset_ == nullptr)
    crowd_calls_.push_back({site.call, id, shape, guard});
  for (unsigned i = 0; i < site.call->arg_size(); ++i)
    if (const std::optional<Pointer> actual = pointer(site.call->getArgOperand(i))) {
      graph_.unify(actual->cell, own.arguments[i].cell);
      if (guard)
        flow_.copy_guarded(*guard, actual->flow, own.arguments[i].flow);
    } else if (const std::optional<FlowNode> hidden = marks(site.call->getArgOperand(i))) {
      pass_number(*hidden, own.arguments[i].flow, guard);
    }
  if (records_flow_ && !site.call->getType()->isVoidTy() && !is_followed(site.call))
    if (const std::optional<FlowNode> taken = this->number(site.call)) {
      const FlowNode hidden = flow_.add_node();
      flow_.hide(own.result.flow, hidden);
      pass_number(hidden, *taken, guard);
    }
  if (site.call->getType()->isVoidTy() || !leaves(site.call->getType()).front().carries)
    return;
  const Pointer taken = variable(site.call, 0);
  graph_.unify(taken.cell, own.result.cell);
  if (guard)
    flow_.copy_guarded(*guard, own.result.flow, taken.flow);
}

void PointsToGraph::pass_function(Passing &passing, const Function &function) {
  for (const Argument &argument : function.args())
    if (leaves(argument.getType()).front().carries) {
      const Pointer &passed = passing.arguments[argument.getArgNo()];
      const Pointer formal = variable(&argument, 0);
      graph_.unify(passed.cell, formal.cell);
      if (records_flow_)
        flow_.copy(passed.flow, formal.flow);
    } else if (const std::optional<FlowNode> formal = number(&argument)) {
      flow_.hide(passing.arguments[argument.getArgNo()].flow, *formal);
    }
  if (records_flow_ && !function.getReturnType()->isVoidTy())
    flow_.copy(number_result(function), passing.result.flow);
  if (function.getReturnType()->isVoidTy() || !leaves(function.getReturnType()).front().carries)
    return;
  const Pointer returned = result(function, 0);
  graph_.unify(returned.cell, passing.result.cell);
  if (records_flow_)
    flow_.copy(returned.flow, passing.result.flow);
}

// A pointer to one of a crowd's functions of a shape is one to any of them.
void PointsToGraph::unite_functions() {
  for (const Crowd &crowd : crowds_)
    for (const auto &[shape, passing] : crowd.passings)
      if (passing.functions.size() > 1)
        flow_.unite(std::vector<const Value *>(passing.functions.begin(), passing.functions.end()));
}

// The targets of calls in crowds: those of the shape, and what the call was paired with.
void PointsToGraph::take_crowds() {
  for (const CrowdCall &call : crowd_calls_) {
    if (has_flow_ && call.guard && !flow_.is_open(*call.guard))
      continue;
    const Passing &own = passing(crowd(call.crowd), call.shape);
    const auto paired = targets_.find(call.call);
    std::vector<const Function *> all;
    if (paired != targets_.end()) {
      // A callback may have the shape, too, and not be in the crowd.
      const DenseSet<const Function *> crowded(own.functions.begin(), own.functions.end());
      erase_if(paired->second,
               [&](const Function *function) { return crowded.contains(function); });
      all.assign(paired->second.begin(), paired->second.end());
    }
    ArrayRef<const Function *> &targets = crowd_targets_[call.call];
    targets = own.functions;
    if (all.empty())
      continue;
    all.insert(all.end(), own.functions.begin(), own.functions.end());
    targets = *target_lists_.insert(std::move(all)).first;
  }
}

// In a sensitive run, crowds are what the insensitive one found.
void PointsToGraph::take_preset_crowds() {
  for (CrowdId id = 0; id < preset_->crowds_.size(); ++id)
    for (const auto &[shape, found] : preset_->crowds_[id].passings) {
      Passing &own = passing(crowd(id), shape);
      own.functions = found.functions;
      for (const Function *function : own.functions)
        if (!found.sites.empty())
          pass_function(own, *function);
    }
  for (const CrowdCall &call : preset_->crowd_calls_)
    if (preset_->crowd_targets_.contains(call.call))
      preset_crowds_[call.call] = {preset_->crowd_root(call.crowd), call.shape};
}

ArrayRef<const Function *> PointsToGraph::targets(const CallBase &call) const {
  for (const PointsToGraph *graph : {this, preset_})
    if (graph != nullptr)
      if (const auto crowd = graph->crowd_targets_.find(&call);
          crowd != graph->crowd_targets_.end())
        return crowd->second;
  const auto known = targets_.find(&call);
  return known == targets_.end() ? ArrayRef<const Function *>() : ArrayRef(known->second);
}

} // namespace tandem
