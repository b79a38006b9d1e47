// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flow of objects: which objects each pointer may point to, and where in them, by inclusion
// (Andersen's analysis, field-sensitive). The unification graph has one node for all that two
// pointers with a common target may point to; here a pointer has only what flows into it.
#pragma once

#include "compiler/points_to/element_set.h"
#include "compiler/points_to/layout.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Value.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace tandem {

using FlowNode = std::uint32_t;  // what a pointer, or a pointer in memory, may point to
using ElementId = std::uint32_t; // an offset of an object

class ObjectFlow {
public:
  ObjectFlow();

  FlowNode add_node();
  // The object that `label` (a global, an alloca, a call that allocates, a function) stands for,
  // and the flow node that points to its begin alone.
  ObjectId object(const llvm::Value &label);
  FlowNode pointer_to(const llvm::Value &label);
  // What code outside the program may hold.
  [[nodiscard]] FlowNode outside() const { return kOutside; }

  void copy(FlowNode from, FlowNode to);
  void shift(FlowNode from, std::int64_t bytes, FlowNode to);
  // From one element of an array to another.
  void step(FlowNode from, std::int64_t bytes, FlowNode to);
  void load(FlowNode address, FlowNode result);
  void store(FlowNode address, FlowNode value);
  // What lies in a global from the start.
  void initialise(const llvm::Value &label, std::uint64_t offset, FlowNode value);
  void copy_memory(FlowNode to, FlowNode from, std::uint64_t size);
  // As Layout's, for whatever `pointer` points to.
  void add_array(FlowNode pointer, std::uint64_t size);
  void index(FlowNode pointer, std::uint64_t stride, bool downwards);
  void collapse(FlowNode pointer);
  // Copies that hold once `pointer` may point to `function`; number of the guard.
  std::uint32_t guard(FlowNode pointer, const llvm::Function &function);
  // The same once `pointer` may point to code outside the program.
  std::uint32_t guard_outside(FlowNode pointer);
  void copy_guarded(std::uint32_t guard, FlowNode from, FlowNode to);
  // All that `node` points to is known to two threads.
  void share(FlowNode node) { shared_.push_back(node); }

  // Objects that count as one, and are told apart neither by `find` nor by sets, once it is solved.
  void unite(llvm::ArrayRef<const llvm::Value *> labels);

  [[nodiscard]] bool is_united(ObjectId object) const { return objects_[object].united; }

  // False where the program is too large to be worth it; then nothing is known. With patience a
  // program is so large only after some ten times as long.
  bool solve(bool patient);

  [[nodiscard]] const ElementSet &elements(FlowNode node) const { return sets_[root(node)]; }
  // Object and folded offset.
  [[nodiscard]] std::pair<ObjectId, std::uint64_t> element(ElementId id) const {
    const auto &[object, offset] = elements_[id];
    return {object, objects_[object].layout.fold(offset)};
  }
  [[nodiscard]] bool is_open(std::uint32_t guard) const { return guards_[guard].open; }
  // Whether two threads can both reach an object.
  [[nodiscard]] bool reached(ObjectId object) const { return reached_.test(object); }
  // Whether code outside the program knows an object: those are not told apart.
  [[nodiscard]] bool is_outside(ObjectId object) const { return objects_[object].outside; }
  [[nodiscard]] const llvm::Value *label(ObjectId object) const { return objects_[object].label; }
  [[nodiscard]] const Layout &layout(ObjectId object) const { return objects_[object].layout; }
  [[nodiscard]] const ObjectId *find(const llvm::Value *label) const {
    const auto known = ids_.find(label);
    return known == ids_.end() ? nullptr : &known->second;
  }
  // The objects of a set, and those that pointers in them lead to.
  [[nodiscard]] std::vector<ObjectId> reachable(const ElementSet &elements) const;

private:
  static constexpr FlowNode kOutside = 0;
  static constexpr ObjectId kAnything = 0; // whatever code outside the program can reach
  struct Object {
    const llvm::Value *label = nullptr;
    Layout layout;
    llvm::SmallVector<std::pair<std::uint64_t, FlowNode>, 2> contents; // by offset
    std::uint32_t elements = 0;
    bool outside = false;
    bool united = false;   // stands for several
    bool constant = false; // nothing is stored there once the program runs
  };
  struct Initial {
    ObjectId object;
    std::uint64_t offset;
    FlowNode value;
  };
  struct Use {
    enum class Kind : std::uint8_t { load, store, shift, step, array, index, collapse } kind;
    bool downwards = false;
    FlowNode other = 0;
    std::int64_t amount = 0;
  };
  struct MemoryCopy {
    FlowNode to;
    FlowNode from;
    std::uint64_t size;
  };
  struct Guard {
    FlowNode pointer;
    ElementId function; // or outside
    bool open = false;
    std::vector<std::pair<FlowNode, FlowNode>> copies;
  };

  std::uint32_t add_guard(FlowNode pointer, ElementId target);
  [[nodiscard]] FlowNode root(FlowNode node) const;
  ElementId element_at(ObjectId object, std::uint64_t offset);
  void collapse_cycles();
  void add(FlowNode node, const ElementSet &elements);
  void connect(FlowNode from, FlowNode to);
  void process(FlowNode node);
  void use(const Use &use, const ElementSet &fresh);
  void shift(const Use &use, const ElementSet &fresh);
  void take_outside(const ElementSet &fresh);
  void refold(ObjectId object);
  void process_copies();
  [[nodiscard]] std::vector<std::pair<ObjectId, std::uint64_t>>
  folded(const ElementSet &elements) const;
  void process_copy(std::pair<ObjectId, std::uint64_t> source,
                    std::pair<ObjectId, std::uint64_t> target, std::uint64_t size);
  FlowNode content(ObjectId object, std::uint64_t offset);
  bool run(bool patient);
  void apply_united();
  [[nodiscard]] ObjectId united(ObjectId object) const;
  void mark_reached();

  std::vector<Object> objects_;
  llvm::DenseMap<const llvm::Value *, ObjectId> ids_;
  llvm::DenseMap<const llvm::Value *, FlowNode> pointers_;
  std::vector<std::pair<ObjectId, std::uint64_t>> elements_;
  llvm::DenseMap<std::pair<ObjectId, std::uint64_t>, ElementId> element_ids_;
  mutable std::vector<FlowNode> parent_; // of nodes that cycles made one
  std::vector<ElementSet> sets_;
  std::vector<ElementSet> done_; // what was handed on
  std::vector<std::vector<FlowNode>> successors_;
  std::vector<std::uint32_t> order_;                // by node: the higher, the earlier in the flow
  llvm::DenseMap<FlowNode, std::vector<Use>> uses_; // by pointer
  std::vector<Initial> initial_;
  llvm::DenseMap<ObjectId, ObjectId> united_; // to what stands for it
  std::vector<MemoryCopy> memory_copies_;
  std::vector<Guard> guards_;
  llvm::DenseMap<FlowNode, std::vector<std::uint32_t>> guards_of_;
  llvm::DenseSet<std::uint64_t> edges_; // those that connect() made
  std::vector<FlowNode> shared_;
  std::vector<FlowNode> work_;
  std::vector<bool> queued_;
  llvm::DenseMap<std::pair<FlowNode, ObjectId>, std::uint32_t> steps_of_; // by a shift's result
  ElementSet reached_;                                                    // objects
  bool refolded_ = false; // an object was, since the copies of memory were begun anew
  bool indexes_ = false;  // unknown indices count from now on
  std::uint64_t steps_ = 0;
};

} // namespace tandem
