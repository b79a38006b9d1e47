// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be done with pointers, said to the graph and to the flow of objects alike.
#include "compiler/points_to/solver.h"

namespace tandem {

Pointer PointsToGraph::nowhere(Scope scope) {
  return {{graph_.add_node(scope), 0}, records_flow_ ? flow_.add_node() : 0};
}

Pointer PointsToGraph::object(const llvm::Value &label, Scope scope) {
  const NodeId node = graph_.add_node(scope);
  graph_.add_object(node, label);
  return {{node, 0}, records_flow_ ? flow_.pointer_to(label) : 0};
}

Pointer PointsToGraph::shift(Pointer pointer, std::int64_t bytes, bool within_array) {
  if (bytes == 0)
    return pointer;
  Pointer shifted{graph_.shift(pointer.cell, bytes), 0};
  if (records_flow_) {
    shifted.flow = flow_.add_node();
    if (within_array)
      flow_.step(pointer.flow, bytes, shifted.flow);
    else
      flow_.shift(pointer.flow, bytes, shifted.flow);
  }
  return shifted;
}

void PointsToGraph::add_array(Pointer pointer, std::uint64_t size, std::uint64_t stride) {
  if (size == 0 || stride == 0)
    return;
  graph_.add_extent(pointer.cell, size, stride);
  if (records_flow_)
    flow_.add_array(pointer.flow, size, stride);
}

// A pointer moves by unknown multiples of `stride`. The graph is told later.
void PointsToGraph::index(Pointer pointer, std::uint64_t stride, bool downwards, bool free) {
  indexes_.push_back({pointer.cell, stride, downwards, free});
  if (records_flow_)
    flow_.index(pointer.flow, stride, downwards, free);
}

// No offset is told from another.
void PointsToGraph::collapse(Pointer pointer) {
  graph_.collapse(pointer.cell.node);
  if (records_flow_)
    flow_.collapse(pointer.flow);
}

Pointer PointsToGraph::load(Pointer address, ObjectFlow::Take take) {
  Pointer loaded{graph_.content(address.cell), 0};
  if (records_flow_) {
    loaded.flow = flow_.add_node(take);
    flow_.load(address.flow, loaded.flow);
  }
  return loaded;
}

void PointsToGraph::store(Pointer address, Pointer value, bool typed) {
  graph_.unify(graph_.content(address.cell), value.cell);
  if (records_flow_)
    flow_.store(address.flow, value.flow, typed);
}

void PointsToGraph::pass(Pointer from, Pointer to) {
  graph_.unify(from.cell, to.cell);
  if (records_flow_)
    flow_.copy(from.flow, to.flow);
}

void PointsToGraph::mix(Pointer a, Pointer b) {
  pass(a, b);
  if (records_flow_)
    flow_.copy(b.flow, a.flow);
}

void PointsToGraph::copy_memory(Pointer to, Pointer from, std::uint64_t size, bool typed) {
  graph_.add_copy({to.cell, from.cell, size});
  if (records_flow_)
    flow_.copy_memory(to.flow, from.flow, size, typed);
}

// Code outside the program knows it from now on.
void PointsToGraph::escape(Pointer pointer) { pass(pointer, outside()); }

void PointsToGraph::share(Pointer pointer) {
  roots_.push_back(pointer.cell);
  if (records_flow_)
    flow_.share(pointer.flow);
}

} // namespace tandem
