// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flow of objects: which objects each pointer may point to, and where in them, by inclusion
// (Andersen's analysis, field-sensitive). The unification graph has one node for all that two
// pointers with a common target may point to; here a pointer has only what flows into it.
//
// Numbers. An address that is computed with, split, or given away as bytes is not followed any
// more: it is hidden. Its object counts as escaped, and the result is a mark, `hidden`, which
// stands for a pointer to any place of any escaped object. What is loaded through such a pointer is
// hidden, too, and then whatever escaped objects lead to has escaped; what is stored through one
// has escaped, and may be loaded from any escaped object. So a program that hides addresses and
// never uses one again (hashes, lengths, printed addresses) pays nothing for it. Memory that was
// written as a number's type is not read as a pointer's (C11 6.5, 6 and 7): the mark that lies
// there is a `hidden number`, which loads of pointers leave behind.
// Text that addresses are printed to has a mark of its own: it has to be read as a number first.
#pragma once

#include "compiler/points_to/element_set.h"
#include "compiler/points_to/layout.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Value.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
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
  // What has escaped, and a pointer to any of it.
  [[nodiscard]] FlowNode escaped() const { return kEscaped; }
  [[nodiscard]] FlowNode hidden() const { return kHiddenPointer; }

  void copy(FlowNode from, FlowNode to);
  void shift(FlowNode from, std::int64_t bytes, FlowNode to);
  // From one element of an array to another.
  void step(FlowNode from, std::int64_t bytes, FlowNode to);
  void load(FlowNode address, FlowNode result);
  // `typed`: as the type of a pointer, which no access as a number's type reads.
  void store(FlowNode address, FlowNode value, bool typed = false);
  // What lies in a global from the start.
  void initialise(const llvm::Value &label, std::uint64_t offset, FlowNode value);
  // `typed`: as a structure, member by member; else as bytes, which may be of any type afterwards.
  void copy_memory(FlowNode to, FlowNode from, std::uint64_t size, bool typed = false);

  // How an access takes what it moves: the mark of a hidden number becomes that of a hidden
  // pointer, or the other way round, or is left behind.
  enum class Take : std::uint8_t { all, as_pointer, as_number, as_text, no_number, only_marks };
  // A node that takes so whatever is copied to it.
  FlowNode add_node(Take take);
  // `to` is computed from `from`: what that points to has escaped, and `to` is hidden.
  void hide(FlowNode from, FlowNode to);
  // A load or store of `size` bytes that may be a part of an address. `loaded` and `stored`: the
  // very place is loaded and stored to otherwise. `typed`:
  // as a type of numbers.
  void load_part(FlowNode address, std::uint64_t size, bool loaded, bool typed, FlowNode result);
  void store_part(FlowNode address, std::uint64_t size, bool stored, FlowNode value);
  // The bytes at `address` go to where they are not followed, or come from there, as far as `size`
  // (kNoEnd: to the end of the array or object). Where they come from elsewhere than outside, what
  // comes is hidden only if something hidden or an address came in (`hand`).
  void give_bytes(FlowNode address, std::uint64_t size, FlowNode hand);
  void take_bytes(FlowNode address, std::uint64_t size, FlowNode hand);
  // Whether a pointer may be a hidden one.
  [[nodiscard]] bool is_hidden(FlowNode node) const {
    return sets_[root(node)].test(kHidden) || sets_[root(node)].test(kHiddenNumber);
  }
  [[nodiscard]] static bool stands_for_escaped(ObjectId object) { return object == kMarks; }
  [[nodiscard]] bool has_escaped(ObjectId object) const { return objects_[object].escaped; }
  // What a hidden pointer may point to.
  [[nodiscard]] const std::vector<ObjectId> &escaped_objects() const { return escaped_objects_; }
  // As Layout's, for whatever `pointer` points to.
  void add_array(FlowNode pointer, std::uint64_t size, std::uint64_t stride);
  void index(FlowNode pointer, std::uint64_t stride, bool downwards, bool free = false);
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
  // The same after more was said to an instance that is solved.
  bool resume(bool patient);

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
  // The objects of a set, and those that pointers in them lead to; those that code outside the
  // program knows are object 0.
  [[nodiscard]] std::vector<ObjectId> reachable(const ElementSet &elements) const;

private:
  static constexpr std::uint64_t kAddressBytes = 8;
  static constexpr FlowNode kOutside = 0;
  static constexpr FlowNode kEscaped = 1;
  static constexpr FlowNode kHiddenPointer = 2;
  static constexpr FlowNode kHiddenStored = 3; // through hidden pointers
  static constexpr FlowNode kHiddenWords = 4;  // text of hidden numbers
  static constexpr FlowNode kFirstFree = 5;
  static constexpr ObjectId kAnything = 0; // whatever code outside the program can reach
  static constexpr ObjectId kMarks = 1;    // stands for the escaped objects
  static constexpr ElementId kAny = 0;     // kAnything's only one
  static constexpr ElementId kHidden = 1;  // kMarks's
  static constexpr ElementId kHiddenNumber = 2;
  static constexpr ElementId kHiddenText = 3;
  struct Object {
    const llvm::Value *label = nullptr;
    Layout layout;
    llvm::SmallVector<std::pair<std::uint64_t, FlowNode>, 2> contents; // by offset
    llvm::SmallVector<ElementId, 2> elements;
    bool outside = false;
    bool united = false;   // stands for several
    bool constant = false; // nothing is stored there once the program runs
    bool escaped = false;
    // What any content from `begin` to `end` may be: bytes from elsewhere.
    struct Filling {
      std::uint64_t begin;
      std::uint64_t end;
      FlowNode node;
      auto operator<=>(const Filling &) const = default;
    };
    llvm::SmallVector<Filling, 0> fillings = {};
  };
  struct Initial {
    ObjectId object;
    std::uint64_t offset;
    FlowNode value;
  };
  struct Use {
    // In the order that a node's are looked at in: what lies where is known before it is used.
    enum class Kind : std::uint8_t { array, collapse, index, load, store, shift, step, hide } kind;
    bool downwards = false;
    bool typed = false;
    bool free = false;
    FlowNode other = 0;
    std::int64_t amount = 0;
    std::uint64_t stride = 0; // of an array: bytes of an element
  };
  struct MemoryCopy {
    FlowNode to;
    FlowNode from;
    std::uint64_t size;
    bool typed = false;
  };
  struct PartialAccess {
    enum class Kind : std::uint8_t { load, store, give, take } kind;
    FlowNode address;
    FlowNode value;
    std::uint64_t size;
    bool done = false; // at the very place
    bool typed = false;
  };
  struct Guard {
    FlowNode pointer;
    ElementId function; // or outside
    bool open = false;
    std::vector<std::pair<FlowNode, FlowNode>> copies;
  };

  std::uint32_t add_guard(FlowNode pointer, ElementId target);
  void add_use(FlowNode pointer, Use use);
  [[nodiscard]] bool is_place(ObjectId object) const { return object > kMarks; }
  [[nodiscard]] bool opens(const Guard &guard, const ElementSet &set) const;
  void open(Guard &guard);
  ElementSet taken(Take take, const ElementSet &elements) const; // hidden.cc, and what follows
  void take_escaped(const ElementSet &fresh);
  void escape(ObjectId object);
  void open_hidden();
  void load_hidden();
  void store_hidden(FlowNode value);
  void escape_contents(ObjectId object);
  void hide_contents(ObjectId object);
  void widen(ObjectId object, Object::Filling &filling) const;
  void apply(ObjectId object, const Object::Filling &filling);
  void refill(ObjectId object);
  void fill(ObjectId object, std::uint64_t begin, std::uint64_t size, FlowNode node);
  [[nodiscard]] std::optional<FlowNode> filler(FlowNode node) const;
  void process_parts();
  void process_part(const PartialAccess &access, ObjectId object, std::uint64_t offset);
  void give_content(FlowNode content, const PartialAccess &access);
  [[nodiscard]] FlowNode root(FlowNode node) const;
  ElementId element_at(ObjectId object, std::uint64_t offset);
  void collapse_cycles();
  void move_lists();
  void replace_elements();
  void add(FlowNode node, const ElementSet &elements);
  void connect(FlowNode from, FlowNode to);
  void process(FlowNode node);
  // What a use of `node` makes of elements that are new there, or (`again`) of objects whose
  // offsets have folded since.
  void use(FlowNode node, const Use &use, const ElementSet &fresh);
  void shift(FlowNode node, const Use &use, const ElementSet &fresh, bool again = false);
  [[nodiscard]] bool walks_into(FlowNode node, ObjectId object, std::uint64_t offset,
                                std::uint64_t distance) const;
  [[nodiscard]] bool has(FlowNode node, ObjectId object, std::uint64_t offset) const;
  void shift_again();
  void take_outside(const ElementSet &fresh);
  void refold(ObjectId object);
  void process_copies();
  [[nodiscard]] std::vector<std::pair<ObjectId, std::uint64_t>>
  folded(const ElementSet &elements) const;
  void process_copy(std::pair<ObjectId, std::uint64_t> source,
                    std::pair<ObjectId, std::uint64_t> target, std::uint64_t size, bool typed);
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
  std::vector<PartialAccess> partial_accesses_;
  std::vector<Take> takes_;          // by node
  llvm::DenseSet<FlowNode> untyped_; // contents that are not only stored as pointers
  std::vector<ObjectId> outside_objects_;
  ElementSet outside_elements_; // theirs
  ElementSet stale_;            // elements that were folded since, which sets have still
  std::set<ObjectId> refolded_; // folded, or arrays are larger, and elements not moved again since
  llvm::DenseMap<ObjectId, std::vector<std::uint32_t>> outside_guards_; // by function, not outside
  std::vector<ObjectId> escaped_objects_;
  bool outside_escapes_ = false;
  bool loads_hidden_ = false;
  bool stores_hidden_ = false;
  std::vector<std::uint32_t> hidden_guards_; // calls through hidden pointers
  std::vector<Guard> guards_;
  llvm::DenseMap<FlowNode, std::vector<std::uint32_t>> guards_of_;
  llvm::DenseSet<std::uint64_t> edges_; // those that connect() made
  std::vector<FlowNode> shared_;
  std::vector<FlowNode> work_;
  std::vector<bool> queued_;
  llvm::DenseMap<std::pair<FlowNode, ObjectId>, std::uint32_t> steps_of_; // by a shift's result
  ElementSet reached_;                                                    // objects
  bool again_ = false; // an object was folded or filled since the copies of memory were begun anew
  bool indexes_ = false; // unknown indices count from now on
  bool solving_ = false;
  std::uint64_t steps_ = 0;
};

} // namespace tandem
