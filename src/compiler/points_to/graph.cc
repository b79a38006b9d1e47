// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/points_to/graph.h"

#include "base/check.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

namespace tandem {
namespace {

// Pairs of a call and a function at one node beyond which they are a crowd.
constexpr std::size_t kMostPairs = 1U << 16U;

// Appends what is not there yet.
template <typename List, typename Items> void add_new(List &list, const Items &items) {
  for (const auto &item : items)
    if (!llvm::is_contained(list, item))
      list.push_back(item);
}

} // namespace

NodeId Graph::add_node(Scope scope) {
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.emplace_back();
  nodes_.back().parent = id;
  nodes_.back().scope = scope;
  return id;
}

std::uint64_t Graph::fold(NodeId root, std::uint64_t offset) const {
  return nodes_[root].layout.fold(offset);
}

Cell Graph::find(Cell cell) {
  NodeId root = cell.node;
  std::uint64_t offset = cell.offset;
  while (nodes_[root].parent != root) {
    offset += nodes_[root].displacement;
    root = nodes_[root].parent;
  }
  // Compress the path: each node on it gets its displacement within the root.
  std::uint64_t total = offset - cell.offset;
  for (NodeId at = cell.node; nodes_[at].parent != root && at != root;) {
    Node &node = nodes_[at];
    const NodeId next = node.parent;
    const std::uint64_t own = node.displacement;
    node.parent = root;
    node.displacement = total;
    total -= own;
    at = next;
  }
  return {root, fold(root, offset)};
}

Cell Graph::shift(Cell cell, std::int64_t delta) {
  cell = find(cell);
  if (delta >= 0)
    return find({cell.node, cell.offset + static_cast<std::uint64_t>(delta)});
  const std::uint64_t down = -static_cast<std::uint64_t>(delta);
  nodes_[cell.node].layout.set_backward();
  if (down <= cell.offset)
    return find({cell.node, cell.offset - down});
  // Within an array that reaches down to the node's begin, any multiple of its period is the same.
  for (const Fold &fold : nodes_[cell.node].layout.folds())
    if (fold.begin <= cell.offset && cell.offset < fold.end && down % fold.period == 0)
      return cell;
  // The object begins before the node does.
  const NodeId larger = add_node(nodes_[cell.node].scope);
  nodes_[larger].layout.set_backward();
  unify({larger, down}, cell);
  return find({larger, 0});
}

void Graph::set_content(NodeId root, std::uint64_t offset, Cell content) {
  auto &contents = nodes_[root].contents;
  auto *const at = std::lower_bound(
      contents.begin(), contents.end(), offset,
      [](const auto &entry, std::uint64_t wanted) { return entry.first < wanted; });
  if (at != contents.end() && at->first == offset) {
    pending_.emplace_back(at->second, content);
    return;
  }
  contents.insert(at, {offset, content});
  if (nodes_[root].scope == kProgram)
    publish_.push_back(content.node);
}

Cell Graph::content(Cell cell) {
  cell = find(cell);
  const auto &contents = nodes_[cell.node].contents;
  const auto *const at = std::lower_bound(
      contents.begin(), contents.end(), cell.offset,
      [](const auto &entry, std::uint64_t wanted) { return entry.first < wanted; });
  if (at != contents.end() && at->first == cell.offset)
    return find(at->second);
  const NodeId fresh = add_node(nodes_[cell.node].scope);
  set_content(cell.node, cell.offset, {fresh, 0});
  return {fresh, 0};
}

void Graph::unify(Cell a, Cell b) {
  pending_.emplace_back(a, b);
  drain();
}

void Graph::drain() {
  if (draining_)
    return;
  draining_ = true;
  while (!pending_.empty() || !publish_.empty() || !met_.empty() || !united_.empty() ||
         !joined_.empty()) {
    if (!pending_.empty()) {
      const auto [a, b] = pending_.back();
      pending_.pop_back();
      merge(a, b);
    } else if (!publish_.empty()) {
      const NodeId root = find({publish_.back(), 0}).node;
      publish_.pop_back();
      if (nodes_[root].scope == kProgram)
        continue;
      nodes_[root].scope = kProgram;
      for (const auto &[offset, content] : nodes_[root].contents)
        publish_.push_back(content.node);
    } else {
      tell_met();
    }
  }
  draining_ = false;
}

// One of what is to be told.
void Graph::tell_met() {
  if (!united_.empty()) {
    const auto [crowd, other] = united_.back();
    united_.pop_back();
    on_crowd_.unite(crowd, other);
  } else if (!joined_.empty()) {
    const Joined joined = joined_.back();
    joined_.pop_back();
    if (joined.function == nullptr)
      on_crowd_.call(joined.crowd, joined.call);
    else
      on_crowd_.function(joined.crowd, *joined.function);
  } else {
    const auto [call, function] = met_.back();
    met_.pop_back();
    on_call_(call, *function);
  }
}

void Graph::publish(NodeId node) {
  publish_.push_back(node);
  drain();
}

void Graph::merge(Cell a, Cell b) {
  a = find(a);
  b = find(b);
  if (a.node == b.node) {
    if (a.offset != b.offset &&
        nodes_[a.node].layout.identify(std::min(a.offset, b.offset), std::max(a.offset, b.offset)))
      rekey(a.node);
    return;
  }
  const bool a_is_root =
      a.offset != b.offset ? a.offset > b.offset : nodes_[a.node].rank >= nodes_[b.node].rank;
  if (!a_is_root)
    std::swap(a, b);
  merge_into(a.node, b.node, a.offset - b.offset);
}

void Graph::merge_into(NodeId root, NodeId child, std::uint64_t displacement) {
  Node moved = std::move(nodes_[child]);
  nodes_[child] = Node{};
  nodes_[child].parent = root;
  nodes_[child].displacement = displacement;
  Node &node = nodes_[root];
  node.rank = std::max(node.rank, moved.rank + 1);
  if ((node.scope == kProgram) != (moved.scope == kProgram)) {
    // What is reachable from the program's memory is the program's.
    auto &contents = node.scope == kProgram ? moved.contents : node.contents;
    for (const auto &[offset, content] : contents)
      publish_.push_back(content.node);
    node.scope = kProgram;
  }
  CHECK(node.scope == kProgram || node.scope == moved.scope, "nodes of scopes {} and {} are merged",
        node.scope, moved.scope);
  meet_of(node, moved);
  if (!moved.objects.empty())
    node.layout.add_begin(displacement);
  node.objects.append(moved.objects.begin(), moved.objects.end());
  if (node.layout.merge(moved.layout, displacement))
    rekey(root);
  for (const auto &[offset, content] : moved.contents)
    set_content(root, fold(root, offset + displacement), content);
}

// After the folds of `root` changed.
void Graph::rekey(NodeId root) {
  Node &node = nodes_[root];
  const auto contents = std::move(node.contents);
  node.contents.clear();
  for (const auto &[offset, content] : contents)
    set_content(root, fold(root, offset), content);
}

void Graph::add_extent(Cell cell, std::uint64_t size, std::uint64_t stride) {
  cell = find(cell);
  nodes_[cell.node].layout.add_array(cell.offset, size, stride);
}

bool Graph::index(Cell cell, std::uint64_t stride, bool downwards, bool free) {
  cell = find(cell);
  if (!nodes_[cell.node].layout.index(cell.offset, stride, downwards, free))
    return false;
  rekey(cell.node);
  drain();
  return true;
}

void Graph::collapse(NodeId node) {
  const NodeId root = find({node, 0}).node;
  if (nodes_[root].layout.collapse())
    rekey(root);
  drain();
}

void Graph::join(CrowdId crowd, llvm::ArrayRef<std::uint32_t> calls,
                 llvm::ArrayRef<const llvm::Function *> functions) {
  for (const std::uint32_t call : calls)
    joined_.push_back({crowd, nullptr, call});
  for (const llvm::Function *function : functions)
    joined_.push_back({crowd, function, 0});
}

// Makes a crowd of a node's calls and functions where they are too many.
void Graph::gather(Node &node) {
  if (node.crowd != 0 || node.calls.size() * node.functions.size() <= kMostPairs)
    return;
  node.crowd = ++crowds_;
  join(node.crowd, node.calls, node.functions);
}

// The calls and functions of two nodes that become one.
void Graph::meet_of(Node &node, Node &moved) {
  const bool crowd = node.crowd != 0 || moved.crowd != 0;
  if (node.crowd != 0 && moved.crowd != 0) {
    united_.emplace_back(node.crowd, moved.crowd);
  } else if (node.crowd != 0) {
    join(node.crowd, moved.calls, moved.functions);
  } else if (moved.crowd != 0) {
    join(moved.crowd, node.calls, node.functions);
    node.crowd = moved.crowd;
  } else if ((node.calls.size() + moved.calls.size()) *
                 (node.functions.size() + moved.functions.size()) <=
             kMostPairs) {
    meet(node.calls, moved.functions);
    meet(moved.calls, node.functions);
  }
  if (crowd) { // each call and function is at one node
    llvm::append_range(node.functions, moved.functions);
    llvm::append_range(node.calls, moved.calls);
    return;
  }
  add_new(node.functions, moved.functions);
  add_new(node.calls, moved.calls);
  gather(node);
}

void Graph::meet(llvm::ArrayRef<std::uint32_t> calls,
                 llvm::ArrayRef<const llvm::Function *> functions) {
  for (const std::uint32_t call : calls)
    for (const llvm::Function *function : functions)
      met_.emplace_back(call, function);
}

void Graph::add_function(NodeId node, const llvm::Function &function) {
  Node &root = nodes_[find({node, 0}).node];
  if (llvm::is_contained(root.functions, &function))
    return;
  root.functions.push_back(&function);
  if (root.crowd != 0)
    join(root.crowd, {}, {&function});
  else
    meet(root.calls, {&function});
  gather(root);
  drain();
}

void Graph::add_call(NodeId node, std::uint32_t call) {
  Node &root = nodes_[find({node, 0}).node];
  if (llvm::is_contained(root.calls, call))
    return;
  root.calls.push_back(call);
  if (root.crowd != 0)
    join(root.crowd, {call}, {});
  else
    meet({call}, root.functions);
  gather(root);
  drain();
}

void Graph::add_object(NodeId node, const llvm::Value &object) {
  nodes_[find({node, 0}).node].objects.push_back(&object);
}

void Graph::add_copy(const CopyLink &link) {
  const Scope to = nodes_[find(link.to).node].scope;
  const Scope from = nodes_[find(link.from).node].scope;
  links_[std::max(to, from)].push_back(link);
}

// One link; whether it changed the graph.
bool Graph::carry(const CopyLink &link) {
  const Cell to = find(link.to);
  const Cell from = find(link.from);
  if (to == from)
    return false;
  const std::uint64_t end = saturating_add(from.offset, link.size);
  bool changed = false;
  // An array's contents arrive as an array's.
  const llvm::SmallVector<Fold, 4> folds(nodes_[from.node].layout.folds());
  for (const Fold &fold : folds) {
    if (from.offset >= fold.end || fold.begin >= end)
      continue;
    const Cell target = find(to);
    const std::uint64_t begin = std::max(fold.begin, from.offset) - from.offset + target.offset;
    const std::uint64_t last = std::min(fold.end, end);
    if (nodes_[target.node].layout.add_folds(Fold{
            begin, last == kNoEnd ? kNoEnd : last - from.offset + target.offset, fold.period})) {
      rekey(target.node);
      drain();
      changed = true;
    }
  }
  const auto source = find(from);
  const llvm::SmallVector<std::pair<std::uint64_t, Cell>, 0> contents =
      nodes_[source.node].contents;
  for (const auto &[offset, pointee] : contents) {
    // A folded content stands for every element: the one that comes next after the copy's begin.
    std::uint64_t ahead = offset;
    for (const Fold &fold : nodes_[source.node].layout.folds())
      if (ahead < source.offset && fold.begin <= ahead && source.offset < fold.end)
        ahead += (source.offset - ahead + fold.period - 1) / fold.period * fold.period;
    if (ahead < source.offset || ahead - source.offset >= link.size)
      continue;
    const Cell target = find(to);
    const std::uint64_t at = fold(target.node, target.offset + (ahead - source.offset));
    const auto &existing = nodes_[target.node].contents;
    const auto *const entry = std::lower_bound(
        existing.begin(), existing.end(), at,
        [](const auto &item, std::uint64_t wanted) { return item.first < wanted; });
    if (entry != existing.end() && entry->first == at && find(entry->second) == find(pointee))
      continue;
    set_content(target.node, at, pointee);
    drain();
    changed = true;
  }
  return changed;
}

// Carrying may lead a call to a function, which adds links, and scopes that have some: neither the
// lists nor the map are held on to.
bool Graph::carry_all(Scope scope) {
  bool changed = false;
  for (std::size_t i = 0; i < links_[scope].size(); ++i)
    changed |= carry(CopyLink(links_[scope][i]));
  return changed;
}

void Graph::settle(Scope scope) {
  while (carry_all(scope)) {
  }
}

void Graph::settle() {
  for (bool changed = true; changed;) {
    const std::size_t scopes_before = links_.size();
    const auto scopes = llvm::to_vector(llvm::make_first_range(links_));
    changed = false;
    for (const Scope scope : scopes)
      changed |= carry_all(scope);
    changed |= links_.size() != scopes_before;
  }
}

Cell Graph::clone(Cell cell, Scope scope, Copies &copies) {
  cell = find(cell);
  if (nodes_[cell.node].scope == kProgram)
    return cell;
  llvm::SmallVector<NodeId, 16> work;
  const auto copy_of = [&](NodeId root) {
    if (nodes_[root].scope == kProgram)
      return root;
    const auto [entry, fresh] = copies.try_emplace(root, 0);
    if (fresh) {
      const NodeId made = add_node(scope);
      entry->second = made;
      work.push_back(root);
      return made;
    }
    return entry->second;
  };
  const NodeId copy = copy_of(cell.node);
  while (!work.empty()) {
    const NodeId from = work.pop_back_val();
    const NodeId to = copies.lookup(from);
    nodes_[to].layout = nodes_[from].layout;
    nodes_[to].objects = nodes_[from].objects;
    nodes_[to].functions = nodes_[from].functions;
    for (std::size_t i = 0; i < nodes_[from].contents.size(); ++i) {
      const auto [offset, content] = nodes_[from].contents[i];
      const Cell target = find(content);
      const NodeId target_copy = copy_of(target.node);
      nodes_[to].contents.push_back({offset, {target_copy, target.offset}});
    }
  }
  return {copy, cell.offset};
}

void Graph::clone_links(Scope from, Scope to, Copies &copies) {
  const auto links = links_.find(from);
  if (links == links_.end())
    return;
  const auto visible = [&](const Cell &cell) { return copies.contains(find(cell).node); };
  // What is copied between memory of the call's own and memory that the caller knows may come back
  // through what the call returns.
  for (bool changed = true; changed;) {
    changed = false;
    for (const CopyLink &link : links->second)
      if (visible(link.to) != visible(link.from)) {
        const std::size_t before = copies.size();
        clone(link.to, to, copies);
        clone(link.from, to, copies);
        changed |= copies.size() != before;
      }
  }
  std::vector<CopyLink> made;
  for (const CopyLink &link : links->second)
    if (visible(link.to) || visible(link.from))
      made.push_back({clone(link.to, to, copies), clone(link.from, to, copies), link.size});
  std::vector<CopyLink> &target = links_[to];
  target.insert(target.end(), made.begin(), made.end());
}

} // namespace tandem
