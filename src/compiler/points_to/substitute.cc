// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before the flow of objects is solved: nodes into which the same flows are one node, by value
// numbers (Hardekopf and Lin, Exploiting Pointer and Location Equivalence to Optimize Pointer
// Analysis, SAS 2007). What a function computes of a pointer again and again, and each value that
// is only another's copy, is handed on once.
#include "compiler/points_to/flow.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace tandem {

namespace {

// Value numbers that change fewer nodes are not worth another round.
constexpr std::size_t kWorthwhile = 64; // nodes for each that is united
constexpr unsigned kMostRounds = 4;
constexpr std::uint32_t kTake = ~std::uint32_t{0};

} // namespace

// How something flows into a node: as what is computed so of all that `from` has.
struct ObjectFlow::Inflow {
  std::uint32_t kind; // 0: a copy; kTake: a node's; else Use::Kind's, and one
  std::uint32_t from; // value number
  std::int64_t amount;
  auto operator<=>(const Inflow &) const = default;
};

// Whether many were united.
bool ObjectFlow::substitute_once() {
  const auto count = static_cast<FlowNode>(parent_.size());
  // What flows into a node otherwise, or may later, is told apart from all else.
  std::vector<bool> apart(count, false);
  for (FlowNode node = 0; node < kFirstFree; ++node)
    apart[root(node)] = true;
  for (const FlowNode node : kept_apart_)
    apart[root(node)] = true;
  for (const Guard &guard : guards_)
    for (const auto &[from, to] : guard.copies)
      apart[root(to)] = true;
  for (const PartialAccess &access : partial_accesses_)
    apart[root(access.value)] = true;
  std::vector<std::uint32_t> begins(count + 1, 0); // of each node's inflows
  const auto each_inflow = [&](const auto &visit) {
    for (FlowNode from = 0; from < count; ++from)
      if (parent_[from] == from)
        for (const FlowNode to : successors_[from])
          visit(root(to), Inflow{0, from, 0});
    for (const auto &[from, uses] : uses_)
      for (const Use &use : uses)
        if (use.kind == Use::Kind::load || use.kind == Use::Kind::shift ||
            use.kind == Use::Kind::step || use.kind == Use::Kind::hide)
          visit(root(use.other),
                Inflow{1 + static_cast<std::uint32_t>(use.kind), from, use.amount});
  };
  each_inflow([&](FlowNode to, const Inflow &) { ++begins[to + 1]; });
  for (FlowNode node = 0; node < count; ++node)
    begins[node + 1] += begins[node];
  std::vector<Inflow> inflows(begins[count]);
  std::vector<std::uint32_t> filled(begins.begin(), begins.end() - 1);
  each_inflow([&](FlowNode to, const Inflow &one) { inflows[filled[to]++] = one; });

  // A value number is the first node that has it.
  std::vector<FlowNode> numbers(count);
  for (FlowNode node = 0; node < count; ++node)
    numbers[node] = node;
  const auto hash = [](const std::vector<Inflow> &key) {
    llvm::hash_code sum = key.size();
    for (const Inflow &one : key)
      sum = llvm::hash_combine(sum, one.kind, one.from, one.amount);
    return static_cast<std::size_t>(sum);
  };
  std::unordered_map<std::vector<Inflow>, FlowNode, decltype(hash)> known(count / 4, hash);
  std::vector<Inflow> key;
  std::size_t united = 0;
  for (FlowNode node = 0; node < count; ++node) {
    if (parent_[node] != node || apart[node] || begins[node] == begins[node + 1] ||
        !sets_[node].empty())
      continue;
    key.assign(inflows.begin() + begins[node], inflows.begin() + begins[node + 1]);
    for (Inflow &one : key)
      one.from = numbers[one.from];
    std::sort(key.begin(), key.end());
    key.erase(std::unique(key.begin(), key.end()), key.end());
    if (key.size() == 1 && key.front().kind == 0 && takes_[node] == Take::all) {
      numbers[node] = key.front().from;
    } else {
      key.push_back({kTake, static_cast<std::uint32_t>(takes_[node]), 0});
      numbers[node] = known.try_emplace(key, node).first->second;
    }
    if (numbers[node] == node)
      continue;
    ++united;
    const FlowNode stays = numbers[node];
    parent_[node] = stays;
    llvm::append_range(successors_[stays], successors_[node]);
    successors_[node] = {};
  }
  move_lists();
  return united > count / kWorthwhile;
}

void ObjectFlow::substitute() {
  for (unsigned round = 0; round < kMostRounds; ++round) {
    collapse_cycles();
    if (!substitute_once())
      break;
  }
}

} // namespace tandem
