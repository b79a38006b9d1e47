// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call graph and its strongly connected components: functions that call each other.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <vector>

namespace tandem {

using CallTargets =
    llvm::function_ref<llvm::ArrayRef<const llvm::Function *>(const llvm::CallBase &)>;

// An array of targets that several calls may have is a node of its own between them, so that the
// graph does not have a line for each pair of a call and a function.
class ProgramCalls {
public:
  // Of the functions that `module` defines.
  ProgramCalls(const llvm::Module &module, CallTargets targets);

  using Node = std::uint32_t;
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // The node's function; null for an array of targets.
  [[nodiscard]] const llvm::Function *function(Node node) const { return nodes_[node].function; }
  [[nodiscard]] llvm::ArrayRef<Node> callees(Node node) const { return nodes_[node].callees; }
  // Callees first.
  [[nodiscard]] const std::vector<std::vector<Node>> &components() const { return components_; }
  [[nodiscard]] Node node(const llvm::Function &function) const { return ids_.lookup(&function); }

private:
  struct State { // of a node on the way
    std::uint32_t index = 0;
    std::uint32_t low = 0;
    bool on_stack = false;
  };
  struct CallNode {
    const llvm::Function *function = nullptr;
    llvm::SmallVector<Node, 4> callees;
    State state;
  };
  void find_components();
  void open(Node node, std::vector<Node> &stack, std::uint32_t index);
  void close(Node root, std::vector<Node> &stack);

  std::vector<CallNode> nodes_;
  llvm::DenseMap<const llvm::Function *, Node> ids_;
  std::vector<std::vector<Node>> components_;
};

// The components' functions, callees first.
std::vector<std::vector<const llvm::Function *>> components(const llvm::Module &module,
                                                            CallTargets targets);

} // namespace tandem
