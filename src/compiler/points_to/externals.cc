// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What calls of functions outside the program say about pointers, as the catalogue describes them.
#include "compiler/points_to/solver.h"

namespace tandem {

using namespace llvm;

namespace {

// Libstdc++ starts a std::thread by this member, whose argument 1 is a std::unique_ptr to an object
// with a virtual member that runs the thread: the third entry of its table.
constexpr StringRef kStartThread = "_ZNSt6thread15_M_start_threadE";
constexpr std::int64_t kRunEntry = 16;

} // namespace

Pointer PointsToGraph::own(const Function &callee) {
  const CatalogueEntry known = entry(callee); // a copy: collapsing may look up others
  const std::string key = known.own.empty() ? "function " + callee.getName().str() : known.own;
  const auto found = own_.find(key);
  if (found != own_.end())
    return found->second;
  const Pointer own = object(callee, kProgram);
  collapse(own);
  if (!known.own_per_thread)
    share(own);
  own_[key] = own;
  return own;
}

ObjectId PointsToGraph::own_object(const Function &callee) {
  const ElementSet &elements = flow_.elements(own(callee).flow);
  return !has_flow_ || elements.empty() ? 0 : flow_.element(elements.first()).first;
}

// What a place that a catalogue entry names is in.
std::optional<Pointer> PointsToGraph::place(const CallBase &call, int where,
                                            const Function &callee) {
  if (where == kResult)
    return call.getType()->isPointerTy() ? std::optional(variable(&call, 0)) : std::nullopt;
  if (where == kOwn)
    return own(callee);
  if (where < 0 || static_cast<unsigned>(where) >= call.arg_size())
    return std::nullopt;
  return pointer(call.getArgOperand(static_cast<unsigned>(where)));
}

std::optional<Pointer> PointsToGraph::source(const CallBase &call, const PointerSource &source,
                                             const Function &callee) {
  switch (source.value) {
  case PointerValue::anything:
    return outside();
  case PointerValue::nothing:
    return std::nullopt;
  case PointerValue::fresh:
    return object(call, scope_of_value(&call));
  case PointerValue::same:
    return place(call, source.of, callee);
  case PointerValue::argument: {
    const std::optional<Pointer> argument = place(call, source.of, callee);
    // Where in it is not known.
    if (argument)
      index(*argument, 1, false);
    return argument;
  }
  case PointerValue::own:
    return own(callee);
  case PointerValue::loaded: {
    const std::optional<Pointer> from = place(call, source.of, callee);
    return from ? std::optional(load(*from)) : std::nullopt;
  }
  }
  return outside();
}

// Functions of the C++ runtime that move exceptions and start threads. Whether it was one.
bool PointsToGraph::add_runtime_function(const CallBase &call, const Function &callee) {
  if (add_exception_call(call, callee))
    return true;
  if (callee.getName().starts_with(kStartThread)) {
    add_thread_object(call);
    return true;
  }
  return false;
}

void PointsToGraph::add_thread_object(const CallBase &call) {
  const std::optional<Pointer> owner =
      call.arg_size() < 2 ? std::nullopt : pointer(call.getArgOperand(1));
  if (!owner)
    return;
  const Pointer state = load(*owner);
  const Pointer run = load(shift(load(state), kRunEntry));
  share(state);
  graph_.publish(state.cell.node);
  const std::uint32_t site = new_site({.call = &call,
                                       .pointer = run,
                                       .actuals = {state},
                                       .direct = false,
                                       .when = Callback::When::thread});
  if (preset_ != nullptr)
    enter_preset(site);
  else
    graph_.add_call(run.cell.node, site);
}

// A function outside the program that a library is given to call.
void PointsToGraph::enter_external_callback(const Site &site, const Function &function) {
  const CatalogueEntry &known = entry(function);
  for (unsigned i = 0; i < site.actuals.size(); ++i)
    if (site.actuals[i]) {
      if (known.captures.contains(i))
        escape(*site.actuals[i]);
      if (known.stores_anything && known.writes.contains(i)) {
        collapse(*site.actuals[i]);
        store(*site.actuals[i], outside());
      }
    }
  if (site.when == Callback::When::now && (known.touches_anything || !known.writes.empty()))
    calling_outside_.insert(site.call);
}

void PointsToGraph::add_callback(const CallBase &call, const Callback &callback,
                                 const Function &callee) {
  const std::optional<Pointer> memory = place(call, callback.function, callee);
  if (!memory)
    return;
  const bool searches = callback.in_memory || callback.function == kOwn;
  Site site{.call = &call,
            .pointer = std::nullopt,
            .actuals = {},
            .direct = false,
            .anything_else = true,
            .when = callback.when};
  Search search{.site = 0, .memory = *memory, .found = {}, .object = std::nullopt};
  for (const int source : callback.gets) {
    std::optional<Pointer> passed;
    if (source == Callback::kAnything)
      passed = outside();
    else if (source == Callback::kOwnContent)
      passed = load(own(callee));
    else if (source == Callback::kFound || source == Callback::kObject)
      passed = load(*memory);
    else if (source >= 0)
      passed = place(call, source, callee);
    if (passed && source >= 0 && callback.inside)
      index(*passed, 1, false);
    site.actuals.push_back(passed);
    if (source == Callback::kFound)
      search.found.push_back(*passed);
    else if (source == Callback::kObject)
      search.object = passed;
  }
  const std::uint32_t number = search.site = new_site(std::move(site));
  if (!searches)
    link_site(number, call.getArgOperand(static_cast<unsigned>(callback.function)));
  else if (preset_ != nullptr)
    enter_preset(number);
  else
    searches_.push_back(std::move(search));
}

// Whether a class's table of virtual functions lies in a node. Source: Itanium C++ ABI, 5.1.4.
bool PointsToGraph::has_virtual_table(NodeId node) {
  return any_of(graph_.objects(node), [](const Value *label) {
    const auto *variable = dyn_cast<GlobalVariable>(label);
    return variable != nullptr &&
           (variable->getName().starts_with("_ZTV") || variable->getName().starts_with("_ZTC"));
  });
}

// The objects of a node go to a parameter of a callback that lies in memory. Whether there were new
// ones.
bool PointsToGraph::pass_found(NodeId node, const Pointer &passed) {
  bool changed = false;
  const SmallVector<const Value *, 4> labels(graph_.objects(graph_.find({node, 0}).node));
  for (const Value *label : labels) {
    if (label->getName().starts_with("_ZTI"))
      continue; // a type's description has the table of its own class, and is nobody's object
    const Pointer object{graph_.find({node, 0}), records_flow_ ? flow_.pointer_to(*label) : 0};
    if (object.cell.node != graph_.find(passed.cell).node) {
      changed = true;
      graph_.unify(object.cell, passed.cell);
    }
    if (records_flow_ && met_objects_.insert({passed.flow, label}).second)
      flow_.copy(object.flow, passed.flow);
  }
  return changed;
}

// Callbacks that lie somewhere in memory: all functions that it leads to. Whether there were new
// ones.
bool PointsToGraph::search() {
  bool changed = false;
  for (std::size_t i = 0; i < searches_.size(); ++i) {
    const Search search = searches_[i];
    const auto enter_found = [&](NodeId node) {
      const SmallVector<const Function *, 4> functions(graph_.functions(node));
      for (const Function *function : functions)
        if (met_.insert({search.site, function}).second) {
          enter(search.site, *function);
          changed = true;
        }
    };
    SmallVector<NodeId, 16> work{graph_.find(search.memory.cell).node};
    DenseSet<NodeId> seen{work.front()};
    while (!work.empty()) {
      const NodeId root = graph_.find({work.pop_back_val(), 0}).node;
      const SmallVector<std::pair<std::uint64_t, Cell>, 16> contents(graph_.contents(root));
      const bool has_table = search.object && has_virtual_table(root);
      if (!search.object)
        enter_found(root);
      for (const auto &[offset, content] : contents) {
        const NodeId next = graph_.find(content).node;
        if (has_table)
          enter_found(next);
        if (seen.insert(next).second)
          work.push_back(next);
      }
    }
    // Any of these objects may be what the function gets; those that have a table, what it is of.
    for (const NodeId node : seen) {
      for (const Pointer &passed : search.found)
        changed |= pass_found(node, passed);
      if (search.object &&
          any_of(graph_.contents(graph_.find({node, 0}).node), [&](const auto &content) {
            return has_virtual_table(graph_.find(content.second).node);
          }))
        changed |= pass_found(node, *search.object);
    }
  }
  return changed;
}

// Calls by pointer that may enter any code outside the program. Whether there were new ones.
bool PointsToGraph::leave() {
  bool changed = false;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const Site site = sites_[i];
    if (site.call == nullptr || !site.direct || !site.pointer ||
        !is_external(graph_.find(site.pointer->cell).node) || !leaving_.insert(site.call).second)
      continue;
    leave(*site.call, &*site.pointer);
    changed = true;
  }
  return changed;
}

// `callee`: what the flow of objects has for the function; null where none is recorded. What the
// call passes leaves the program, and what it returns comes from there.
void PointsToGraph::leave(const CallBase &call, const Pointer *callee) {
  std::optional<std::uint32_t> guard;
  if (records_flow_ && callee != nullptr) {
    guard = flow_.guard_outside(callee->flow);
    leaving_guards_.emplace_back(&call, *guard);
  }
  const auto pass_on = [&](Pointer from, Pointer to) {
    graph_.unify(from.cell, to.cell);
    if (guard)
      flow_.copy_guarded(*guard, from.flow, to.flow);
  };
  for (const Value *argument : call.args()) {
    const auto count = static_cast<unsigned>(leaves(argument->getType()).size());
    for (unsigned leaf = 0; leaf < count; ++leaf)
      if (leaves(argument->getType())[leaf].carries &&
          (!argument->getType()->isIntegerTy() || isa<PtrToIntInst>(argument)))
        if (const std::optional<Pointer> passed = pointer(argument, leaf))
          pass_on(*passed, outside());
  }
  if (call.getType()->isVoidTy() || call.use_empty())
    return;
  const auto count = static_cast<unsigned>(leaves(call.getType()).size());
  for (unsigned leaf = 0; leaf < count; ++leaf)
    if (leaves(call.getType())[leaf].carries &&
        (!call.getType()->isIntegerTy() || arithmetic_.contains(&call)))
      pass_on(outside(), variable(&call, leaf));
}

// Memory of the program's that is replaced by memory that others may have, too.
void PointsToGraph::replace_memory(const CallBase &call, const CatalogueEntry &known,
                                   const Function &callee) {
  for (unsigned i = 0; i < call.arg_size(); ++i)
    if (known.replaces.contains(i) && !isa<ConstantPointerNull>(call.getArgOperand(i)))
      if (const std::optional<Pointer> replaced = pointer(call.getArgOperand(i))) {
        escape(*replaced);
        escape(own(callee));
        if (call.getType()->isPointerTy())
          define(&call, 0, outside());
      }
}

void PointsToGraph::add_external(const CallBase &call, const Function &callee) {
  if (callee.isIntrinsic() || add_runtime_function(call, callee))
    return;
  const CatalogueEntry known = entry(callee);
  const auto argument = [&](unsigned i) -> std::optional<Pointer> {
    const Value *value = call.getArgOperand(i);
    return value->getType()->isPointerTy() || isa<PtrToIntInst>(value) ? pointer(value)
                                                                       : std::nullopt;
  };
  for (unsigned i = 0; i < call.arg_size(); ++i)
    if (const std::optional<Pointer> passed = argument(i)) {
      if (known.captures.contains(i))
        escape(*passed);
      if (known.stores_anything && known.writes.contains(i)) {
        collapse(*passed);
        store(*passed, outside());
      }
    }
  if (!call.getType()->isVoidTy() && !call.use_empty()) {
    const bool counts = call.getType()->isPointerTy();
    const bool anything = known.returns.value == PointerValue::anything;
    const auto count = static_cast<unsigned>(leaves(call.getType()).size());
    for (unsigned leaf = 0; leaf < count; ++leaf)
      if (leaves(call.getType())[leaf].carries &&
          (counts || (anything && (!call.getType()->isIntegerTy() || arithmetic_.contains(&call)))))
        if (const std::optional<Pointer> returned = source(call, known.returns, callee))
          define(&call, leaf, *returned);
  }
  if (call.getType()->isPointerTy() && !call.use_empty())
    for (const PointerSource &also : known.returns_also)
      if (const std::optional<Pointer> returned = source(call, also, callee))
        define(&call, 0, *returned);
  replace_memory(call, known, callee);
  for (const StoredPointer &stored : known.stores)
    if (const std::optional<Pointer> to = place(call, stored.to, callee))
      if (const std::optional<Pointer> what = source(call, stored.what, callee))
        store(*to, *what);
  for (const CopiedMemory &copied : known.copies)
    if (is_bytes(copied))
      continue;
    else if (const std::optional<Pointer> to = place(call, copied.to, callee))
      if (const std::optional<Pointer> from = place(call, copied.from, callee)) {
        if (copied.to == copied.from) // rearranged: qsort
          collapse(*to);
        else
          copy_memory(*to, *from, kNoEnd);
      }
  for (const Callback &callback : known.callbacks)
    add_callback(call, callback, callee);
  if (records_flow_)
    add_number_external(call, known, callee);
}

} // namespace tandem
