// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/points_to/points_to.h"

#include "compiler/points_to/solver.h"
#include "compiler/sections/called_function.h"

#include <algorithm>
#include <set>

namespace tandem {

using namespace llvm;

namespace {

// What `add` finds for each object and offset that `pointer` may lead to; object 0 where nothing is
// known.
template <class Add>
std::vector<ObjectRange> ranges_at(PointsToGraph &flow, const Value &pointer, const Add &add) {
  const ElementSet *known = flow.objects_of(pointer);
  if (known == nullptr)
    return {{}};
  std::set<ObjectRange> found;
  for (const ElementId id : *known) {
    const auto [object, offset] = flow.flow().element(id);
    add(object, offset, found);
  }
  return {found.begin(), found.end()};
}

} // namespace

PointsToAnalysis::PointsToAnalysis(const Module &module, const Catalogue &catalogue, PointsTo mode)
    : graph_(std::make_unique<PointsToGraph>(module, catalogue)) {
  graph_->solve_insensitive();
  flow_ = graph_.get();
  if (mode == PointsTo::insensitive)
    return;
  insensitive_ = std::move(graph_);
  graph_ = std::make_unique<PointsToGraph>(module, catalogue);
  graph_->solve_sensitive(*insensitive_);
}

PointsToAnalysis::PointsToAnalysis(const SpecialisedProgram &program, const Catalogue &catalogue)
    : graph_(std::make_unique<PointsToGraph>(program.module(), catalogue, &program)) {
  graph_->solve_insensitive();
  flow_ = graph_.get();
}

PointsToAnalysis::~PointsToAnalysis() = default;

ArrayRef<const Function *> PointsToAnalysis::targets(const CallBase &call) const {
  return graph_->targets(call);
}

ArrayRef<const Function *> PointsToAnalysis::typed_targets(const CallBase &call) const {
  const ArrayRef<const Function *> all = targets(call);
  if (all.empty() || !call.isIndirectCall())
    return all;
  const auto [entry, fresh] = typed_targets_.try_emplace({all.data(), call.getFunctionType()});
  if (fresh) {
    const Function *main = call.getModule()->getFunction("main");
    const bool is_library = main == nullptr || main->isDeclaration();
    copy_if(all, std::back_inserter(entry->second), [&](const Function *target) {
      return target->getFunctionType() == call.getFunctionType() &&
             (is_library || takes_address_of(*target));
    });
  }
  return entry->second;
}

bool PointsToAnalysis::is_in_crowd(const CallBase &call) const { return flow_->is_in_crowd(call); }

ArrayRef<const Function *> PointsToAnalysis::external_targets(const CallBase &call) const {
  return graph_->external_targets(call);
}

bool PointsToAnalysis::may_leave(const CallBase &call) const { return graph_->may_leave(call); }

const std::vector<PointsToAnalysis::Spawn> &PointsToAnalysis::spawns() const {
  return graph_->spawns();
}

const std::vector<const Function *> &PointsToAnalysis::exported() const {
  return graph_->exported();
}

std::optional<Cell> PointsToAnalysis::local(const Value &pointer) const {
  return graph_->known(pointer);
}

std::optional<Cell> PointsToAnalysis::in_caller(const CallBase &call, const Function &target,
                                                const Cell &cell) const {
  return graph_->in_caller(call, target, cell);
}

bool PointsToAnalysis::everywhere(const Cell &cell) const {
  return graph_->graph().scope(graph_->graph().find(cell).node) == kProgram;
}

std::vector<Cell> PointsToAnalysis::places(const Cell &cell) const {
  Graph &graph = graph_->graph();
  const Cell root = graph.find(cell);
  if (graph.scope(root.node) == kProgram)
    return graph_->reached(root.node) ? std::vector<Cell>{root} : std::vector<Cell>{};
  const auto known = places_.find(root);
  if (known != places_.end())
    return known->second;
  std::set<Cell> found;
  for (const auto &[call, target] : graph_->callers(graph.scope(root.node)))
    if (const std::optional<Cell> copy = graph_->in_caller(*call, *target, root))
      for (const Cell &place : places(*copy))
        found.insert(place);
  return places_[root] = std::vector<Cell>(found.begin(), found.end());
}

std::vector<Cell> PointsToAnalysis::places(const Value &pointer) const {
  const std::optional<Cell> cell = local(pointer);
  return cell ? places(*cell) : std::vector<Cell>{};
}

std::vector<ObjectRange> PointsToAnalysis::objects(const Value &pointer, std::uint64_t size) const {
  return ranges_at(*flow_, pointer, [&](ObjectId object, std::uint64_t offset, auto &found) {
    if (!ObjectFlow::stands_for_escaped(object))
      return add_range(object, offset, size, found);
    for (const ObjectId escaped : flow_->flow().escaped_objects())
      add_whole(escaped, found);
  });
}

std::vector<ObjectRange> PointsToAnalysis::memory(const Value &pointer, std::uint64_t size) const {
  return ranges_at(*flow_, pointer, [&](ObjectId object, std::uint64_t offset, auto &found) {
    if (ObjectFlow::stands_for_escaped(object) || flow_->flow().is_outside(object))
      found.insert(ObjectRange{});
    else if (!is_constant(object) && !isa<Function>(flow_->flow().label(object)))
      for (const auto &[begin, end] : flow_->flow().layout(object).ranges(offset, size))
        found.insert({object, begin, end});
  });
}

void PointsToAnalysis::add_range(ObjectId object, std::uint64_t offset, std::uint64_t size,
                                 std::set<ObjectRange> &found) const {
  if (flow_->flow().is_outside(object)) {
    found.insert(ObjectRange{});
    return;
  }
  if (!counts(object))
    return;
  for (const auto &[begin, end] : flow_->flow().layout(object).ranges(offset, size))
    found.insert({object, begin, end});
}

void PointsToAnalysis::add_whole(ObjectId object, std::set<ObjectRange> &found) const {
  if (flow_->flow().is_outside(object))
    found.insert(ObjectRange{});
  else if (counts(object))
    found.insert({object, 0, kNoEnd});
}

std::vector<PointsToAnalysis::HiddenUse> PointsToAnalysis::hidden_uses() const {
  std::vector<HiddenUse> found;
  for (const Instruction *place : flow_->hidden_uses())
    found.push_back({place, flow_->flow().escaped_objects().size()});
  return found;
}

bool PointsToAnalysis::may_be_hidden(const Value &pointer) const {
  return flow_->may_be_hidden(pointer);
}

const std::vector<PointsToAnalysis::HiddenPlace> &PointsToAnalysis::hidden_places() const {
  if (hidden_places_)
    return *hidden_places_;
  std::map<Cell, std::set<ObjectRange>> found;
  Graph &graph = graph_->graph();
  for (NodeId node = 0; node < graph.size(); ++node)
    for (const Value *label : graph.objects(node))
      if (flow_->has_escaped(*label))
        for (const Cell &place : places(graph.find({node, 0})))
          add_whole(*flow_->flow().find(label), found[{place.node, 0}]);
  for (const ObjectId object : flow_->flow().escaped_objects())
    if (flow_->flow().is_outside(object))
      found[{external().node, 0}].insert(ObjectRange{});
  hidden_places_.emplace();
  for (const auto &[cell, objects] : found)
    if (!objects.empty())
      hidden_places_->push_back({cell, {objects.begin(), objects.end()}});
  return *hidden_places_;
}

bool PointsToAnalysis::hides_outside() const {
  return any_of(flow_->flow().escaped_objects(),
                [&](ObjectId object) { return flow_->flow().is_outside(object); });
}

bool PointsToAnalysis::comes_from_nowhere(const Value &pointer) const {
  if (isa<ConstantPointerNull>(pointer) || isa<UndefValue>(pointer))
    return false;
  const ElementSet *known = flow_->objects_of(pointer);
  return known != nullptr && known->empty();
}

// Whether nothing writes it, whatever code knows its address.
bool PointsToAnalysis::is_constant(ObjectId object) const {
  const auto *global = dyn_cast_or_null<GlobalVariable>(flow_->flow().label(object));
  return global != nullptr && global->isConstant() && !global->isDeclaration();
}

// Whether it is data that two threads could both reach and one write.
bool PointsToAnalysis::counts(ObjectId object) const {
  const Value *label = flow_->flow().label(object);
  if (const auto *global = dyn_cast<GlobalVariable>(label))
    return !global->isConstant() && !flow_->is_own_variable(*global) &&
           flow_->flow().reached(object);
  const auto *function = dyn_cast<Function>(label);
  return (function == nullptr || function->isDeclaration()) && flow_->flow().reached(object);
}

std::vector<ObjectRange> PointsToAnalysis::reachable_objects(const Value &pointer) const {
  const ElementSet *known = flow_->objects_of(pointer);
  if (known == nullptr)
    return {{}};
  std::vector<ObjectRange> found;
  for (const ObjectId object : flow_->flow().reachable(*known)) {
    if (is_constant(object))
      continue;
    if (flow_->flow().is_outside(object))
      found.push_back(ObjectRange{});
    else if (!ObjectFlow::stands_for_escaped(object) && counts(object))
      found.push_back({object, 0, kNoEnd});
  }
  return found;
}

bool PointsToAnalysis::is_librarys_own(const Value &pointer) const {
  const ElementSet *known = flow_->objects_of(pointer);
  if (known == nullptr || known->empty())
    return false;
  for (const ElementId id : *known) {
    const Value *label = flow_->flow().label(flow_->flow().element(id).first);
    const auto *global = dyn_cast_or_null<GlobalVariable>(label);
    if (global == nullptr || !flow_->is_own_variable(*global))
      return false;
  }
  return true;
}

bool PointsToAnalysis::has_objects() const { return flow_->has_flow(); }

bool PointsToAnalysis::has_all_contexts() const { return graph_->has_all_contexts(); }

bool PointsToAnalysis::is_united(ObjectId object) const {
  return has_objects() && flow_->flow().is_united(object);
}

bool PointsToAnalysis::is_external(NodeId node) const { return graph_->is_external(node); }

bool PointsToAnalysis::may_hold(NodeId node, ObjectId object) const {
  if (!has_objects())
    return true;
  if (object == 0)
    return is_external(node);
  const auto [entry, fresh] = held_.try_emplace(node);
  if (fresh) {
    for (const Value *value : graph_->graph().objects(node))
      if (const ObjectId *known = flow_->flow().find(value))
        entry->second.push_back(*known);
    std::sort(entry->second.begin(), entry->second.end());
  }
  return std::binary_search(entry->second.begin(), entry->second.end(), object);
}

const Value *PointsToAnalysis::label(ObjectId object) const {
  return object == 0 ? nullptr : flow_->flow().label(object);
}

std::optional<ObjectId> PointsToAnalysis::object_of(const Value &label) const {
  const ObjectId *known = flow_->has_flow() ? flow_->flow().find(&label) : nullptr;
  return known == nullptr ? std::nullopt : std::optional(*known);
}

bool PointsToAnalysis::is_allocator(const Function &function) const {
  return graph_->is_allocator(function);
}

bool PointsToAnalysis::returns_new(const Function &function) const {
  return graph_->returns_new(function);
}

bool PointsToAnalysis::is_released(const Argument &argument) const {
  return graph_->is_released(argument);
}

ObjectId PointsToAnalysis::own_object(const Function &callee) const {
  return flow_->own_object(callee);
}

ArrayRef<Fold> PointsToAnalysis::object_folds(ObjectId object) const {
  return object == 0 ? ArrayRef<Fold>() : flow_->flow().layout(object).folds();
}

Cell PointsToAnalysis::find(const Cell &cell) const { return graph_->graph().find(cell); }

Cell PointsToAnalysis::external() const { return graph_->external(); }

std::optional<Cell> PointsToAnalysis::own_memory(const Function &callee) const {
  return graph_->own_memory(callee);
}

const CatalogueEntry &PointsToAnalysis::entry(const Function &callee) const {
  return graph_->entry(callee);
}

std::size_t PointsToAnalysis::node_count() const { return graph_->graph().size(); }

NodeObjects PointsToAnalysis::objects(NodeId node) const {
  const NodeId root = graph_->graph().find({node, 0}).node;
  NodeObjects sorted;
  sorted.external = graph_->is_external(root);
  for (const Value *object : graph_->graph().objects(root)) {
    if (const auto *global = dyn_cast<GlobalVariable>(object))
      sorted.globals.push_back(global);
    else if (isa<CallBase>(object))
      sorted.heap.push_back(object);
    else
      sorted.stack.push_back(object);
  }
  return sorted;
}

ArrayRef<Fold> PointsToAnalysis::folds(NodeId node) const {
  return graph_->graph().folds(graph_->graph().find({node, 0}).node);
}

std::uint64_t PointsToAnalysis::fold(NodeId node, std::uint64_t offset) const {
  return graph_->graph().fold(node, offset);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>>
PointsToAnalysis::ranges(const Cell &cell, std::uint64_t size) const {
  const Cell root = graph_->graph().find(cell);
  return graph_->graph().layout(root.node).ranges(root.offset, size);
}

std::vector<NodeId> PointsToAnalysis::reachable(const Cell &cell) const {
  Graph &graph = graph_->graph();
  std::set<NodeId> seen{graph.find(cell).node};
  std::vector<NodeId> work(seen.begin(), seen.end());
  while (!work.empty()) {
    const NodeId root = work.back();
    work.pop_back();
    for (const auto &[offset, content] : graph.contents(root))
      if (const NodeId next = graph.find(content).node; seen.insert(next).second)
        work.push_back(next);
  }
  return {seen.begin(), seen.end()};
}

} // namespace tandem
