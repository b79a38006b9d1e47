// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/points_to/components.h"

#include "llvm/IR/InstIterator.h"

#include <algorithm>
#include <utility>

namespace tandem {

using namespace llvm;

namespace {

// Arrays of fewer targets are not worth a node.
constexpr std::size_t kSmallArray = 8;

} // namespace

ProgramCalls::ProgramCalls(const Module &module, CallTargets targets) {
  for (const Function &function : module)
    if (!function.isDeclaration()) {
      ids_[&function] = static_cast<Node>(nodes_.size());
      nodes_.push_back({.function = &function, .callees = {}, .state = {}});
    }
  DenseMap<const Function *const *, Node> arrays; // by the begin of a large one
  const auto add = [&](Node from, ArrayRef<const Function *> to) {
    for (const Function *target : to)
      if (const auto known = ids_.find(target); known != ids_.end())
        nodes_[from].callees.push_back(known->second);
  };
  const auto functions = static_cast<Node>(nodes_.size());
  for (Node node = 0; node < functions; ++node)
    for (const Instruction &instruction : instructions(*nodes_[node].function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr)
        continue;
      const ArrayRef<const Function *> to = targets(*call);
      if (to.size() < kSmallArray) {
        add(node, to);
        continue;
      }
      const auto [array, fresh] = arrays.try_emplace(to.data(), static_cast<Node>(nodes_.size()));
      if (fresh) {
        nodes_.emplace_back();
        add(array->second, to);
      }
      nodes_[node].callees.push_back(array->second);
    }
  find_components();
}

void ProgramCalls::open(Node node, std::vector<Node> &stack, std::uint32_t index) {
  nodes_[node].state = {index, index, true};
  stack.push_back(node);
}

void ProgramCalls::close(Node root, std::vector<Node> &stack) {
  std::vector<Node> &component = components_.emplace_back();
  do {
    component.push_back(stack.back());
    nodes_[stack.back()].state.on_stack = false;
    stack.pop_back();
  } while (component.back() != root);
}

// Tarjan's algorithm, without recursion.
void ProgramCalls::find_components() {
  std::vector<Node> stack;
  std::vector<std::pair<Node, std::size_t>> work;
  std::uint32_t next = 1;
  for (Node start = 0; start < nodes_.size(); ++start) {
    if (nodes_[start].state.index != 0)
      continue;
    open(start, stack, next++);
    work.emplace_back(start, 0);
    while (!work.empty()) {
      const Node node = work.back().first;
      State &state = nodes_[node].state;
      if (work.back().second < nodes_[node].callees.size()) {
        const Node callee = nodes_[node].callees[work.back().second++];
        if (nodes_[callee].state.index == 0) {
          open(callee, stack, next++);
          work.emplace_back(callee, 0);
        } else if (nodes_[callee].state.on_stack) {
          state.low = std::min(state.low, nodes_[callee].state.index);
        }
        continue;
      }
      work.pop_back();
      if (!work.empty()) {
        State &caller = nodes_[work.back().first].state;
        caller.low = std::min(caller.low, state.low);
      }
      if (state.low == state.index)
        close(node, stack);
    }
  }
}

std::vector<std::vector<const Function *>> components(const Module &module, CallTargets targets) {
  const ProgramCalls graph(module, targets);
  std::vector<std::vector<const Function *>> found;
  for (const std::vector<ProgramCalls::Node> &component : graph.components()) {
    std::vector<const Function *> members;
    for (const ProgramCalls::Node node : component)
      if (graph.function(node) != nullptr)
        members.push_back(graph.function(node));
    if (!members.empty())
      found.push_back(std::move(members));
  }
  return found;
}

} // namespace tandem
