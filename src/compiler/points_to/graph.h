// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph of a unification-based, field-sensitive points-to analysis: nodes that are merged, and
// never split. Knows the IR's values only as labels.
//
// A node is united with another at a displacement: offset o of the one is offset o + d of the
// other. What two pointers that may be equal point to is one node, so each offset of a node has at
// most one content: the cell that a pointer stored there points to.
#pragma once

#include "compiler/points_to/layout.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace tandem {

// Scope 0: what the whole program shares; others belong to one group of functions.
using Scope = std::uint32_t;
inline constexpr Scope kProgram = 0;

// A copy of `size` bytes of memory (kNoEnd: unknown), pointers in it included.
struct CopyLink {
  Cell to;
  Cell from;
  std::uint64_t size = kNoEnd;
};

// Where more calls meet more functions than can be paired, the calls and functions are a crowd: any
// of the calls may enter any of the functions. 0: none.
using CrowdId = std::uint32_t;

class Graph {
public:
  // What is told of crowds; each may change the graph. A crowd has a call, or a function, or all
  // that another one has.
  struct OnCrowd {
    std::function<void(CrowdId crowd, std::uint32_t call)> call;
    std::function<void(CrowdId crowd, const llvm::Function &function)> function;
    std::function<void(CrowdId crowd, CrowdId other)> unite;
  };
  // `on_call` is told of each pair of an indirect call (a number that add_call() was given) and a
  // function that its pointer may denote, unless they are of a crowd; it may change the graph.
  using OnCall = std::function<void(std::uint32_t call, const llvm::Function &function)>;
  Graph(OnCall on_call, OnCrowd on_crowd)
      : on_call_(std::move(on_call)), on_crowd_(std::move(on_crowd)) {}

  NodeId add_node(Scope scope);
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  // The representative of a cell.
  [[nodiscard]] Cell find(Cell cell);
  [[nodiscard]] std::uint64_t fold(NodeId root, std::uint64_t offset) const;
  [[nodiscard]] Scope scope(NodeId root) const { return nodes_[root].scope; }

  // `cell` moved by `delta` bytes.
  Cell shift(Cell cell, std::int64_t delta);

  // What a pointer stored at `cell` points to; made where it is not there yet.
  Cell content(Cell cell);
  // All contents of a root, by offset.
  [[nodiscard]] llvm::ArrayRef<std::pair<std::uint64_t, Cell>> contents(NodeId root) const {
    return nodes_[root].contents;
  }

  void unify(Cell a, Cell b);
  // The bytes [cell, cell + size) are an array of elements of `stride` bytes: pointer arithmetic
  // from within stays within.
  void add_extent(Cell cell, std::uint64_t size, std::uint64_t stride);
  // A pointer to `cell` is moved by unknown multiples of `stride`, perhaps downwards. Returns
  // whether offsets are one now that were not.
  bool index(Cell cell, std::uint64_t stride, bool downwards, bool free);
  // No offset of the node is told from another.
  void collapse(NodeId node);
  void add_copy(const CopyLink &link);
  // Carries contents over the copies that were made in `scope`, or in all, until nothing changes.
  void settle(Scope scope);
  void settle();

  void add_function(NodeId node, const llvm::Function &function);
  void add_call(NodeId node, std::uint32_t call);
  void add_object(NodeId node, const llvm::Value &object);
  [[nodiscard]] llvm::ArrayRef<const llvm::Value *> objects(NodeId root) const {
    return nodes_[root].objects;
  }
  [[nodiscard]] llvm::ArrayRef<const llvm::Function *> functions(NodeId root) const {
    return nodes_[root].functions;
  }
  [[nodiscard]] llvm::ArrayRef<Fold> folds(NodeId root) const {
    return nodes_[root].layout.folds();
  }
  [[nodiscard]] const Layout &layout(NodeId root) const { return nodes_[root].layout; }

  // Makes the node, and all that its contents lead to, part of the program's scope.
  void publish(NodeId node);

  // A copy of `cell`'s node and of what it leads to, as far as it is not in the program's scope, in
  // `scope`. `copies` maps roots to their copies and is added to.
  using Copies = llvm::DenseMap<NodeId, NodeId>;
  Cell clone(Cell cell, Scope scope, Copies &copies);
  // Clones the copies of memory that touch what `copies` has.
  void clone_links(Scope from, Scope to, Copies &copies);

private:
  struct Node {
    NodeId parent = 0;
    Scope scope = kProgram;
    std::uint64_t displacement = 0; // within the parent
    std::uint32_t rank = 0;
    Layout layout;
    llvm::SmallVector<std::pair<std::uint64_t, Cell>, 0> contents; // by offset
    llvm::SmallVector<const llvm::Value *, 0> objects;
    llvm::SmallVector<const llvm::Function *, 0> functions;
    llvm::SmallVector<std::uint32_t, 0> calls;
    CrowdId crowd = 0; // of all its calls and functions
  };
  struct Joined {
    CrowdId crowd;
    const llvm::Function *function; // null: a call
    std::uint32_t call;
  };

  void drain();
  void merge(Cell a, Cell b);
  void merge_into(NodeId root, NodeId child, std::uint64_t displacement);
  void rekey(NodeId root);
  void set_content(NodeId root, std::uint64_t offset, Cell content);
  void meet(llvm::ArrayRef<std::uint32_t> calls, llvm::ArrayRef<const llvm::Function *> functions);
  void meet_of(Node &node, Node &moved);
  void gather(Node &node);
  void join(CrowdId crowd, llvm::ArrayRef<std::uint32_t> calls,
            llvm::ArrayRef<const llvm::Function *> functions);
  void tell_met();
  bool carry(const CopyLink &link);
  bool carry_all(Scope scope);

  std::vector<Node> nodes_;
  std::vector<std::pair<Cell, Cell>> pending_;
  std::vector<NodeId> publish_;
  std::vector<std::pair<std::uint32_t, const llvm::Function *>> met_;
  llvm::DenseMap<Scope, std::vector<CopyLink>> links_;
  std::vector<Joined> joined_;
  std::vector<std::pair<CrowdId, CrowdId>> united_;
  CrowdId crowds_ = 0;
  OnCall on_call_;
  OnCrowd on_crowd_;
  bool draining_ = false;
};

} // namespace tandem
