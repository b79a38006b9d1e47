// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Points-to: which memory a pointer may denote, over the whole program. Unification-based and
// field-sensitive: memory is divided into nodes, each a set of objects that the analysis does not
// tell apart, and a node into offsets. Two pointers may alias only where they have one node and one
// offset range in common (docs/design/0014-points-to.md).
//
// Insensitive: one graph for the program; what flows into a parameter from any call is one node.
// Sensitive: each function (each group of mutually recursive ones) has nodes of its own for what it
// reaches by its parameters alone, and every call site gets its own copy of them. What globals,
// threads or code outside the program can reach is one graph, shared by all functions, in both
// modes. That tells memory apart, and not what flows where: for that there is the specialised
// program (specialise.h), which is analysed like any other.
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/options/options.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace tandem {

using NodeId = std::uint32_t;

// Offsets in [begin, end) count as begin + (offset - begin) % period: the elements of an array are
// not told apart.
struct Fold {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t period = 1;
  bool operator==(const Fold &) const = default;
};

// An offset within a node, folded.
struct Cell {
  NodeId node = 0;
  std::uint64_t offset = 0;
  bool operator==(const Cell &) const = default;
  auto operator<=>(const Cell &) const = default;
};

// What a node's objects are; a node may have several.
struct NodeObjects {
  std::vector<const llvm::GlobalVariable *> globals;
  std::vector<const llvm::Value *> heap;  // calls that allocate
  std::vector<const llvm::Value *> stack; // allocas and arguments passed in memory
  bool external = false;                  // memory that code outside the program knows of
};

// A global variable, an alloca, a call that allocates, memory of a library function's own: what a
// pointer points to, as far as the program's text names it.
using ObjectId = std::uint32_t;

// Folded bytes [begin, end) of an object. Object 0: memory that code outside the program knows of,
// or, where objects are not told apart, any.
struct ObjectRange {
  ObjectId object = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = ~std::uint64_t{0};
  auto operator<=>(const ObjectRange &) const = default;
};

class PointsToGraph;
class SpecialisedProgram;

class PointsToAnalysis {
public:
  // `module` and `catalogue` outlive the analysis and do not change meanwhile.
  PointsToAnalysis(const llvm::Module &module, const Catalogue &catalogue, PointsTo mode);
  // Insensitive, of a specialised program's module.
  PointsToAnalysis(const SpecialisedProgram &program, const Catalogue &catalogue);
  ~PointsToAnalysis();

  // The functions of the program that a call may enter: the callee, those that a function pointer
  // may denote, and those that an external callee calls back before it returns.
  [[nodiscard]] llvm::ArrayRef<const llvm::Function *> targets(const llvm::CallBase &call) const;
  // Those of a call by pointer that are called as what they are: of the call's type, and in a whole
  // program such as it takes the address of.
  [[nodiscard]] llvm::ArrayRef<const llvm::Function *>
  typed_targets(const llvm::CallBase &call) const;
  // Whether the call's targets are an array that other calls have, too, and what the targets know
  // by their parameters is the whole program's.
  [[nodiscard]] bool is_in_crowd(const llvm::CallBase &call) const;
  // Functions outside the program that a call by pointer may enter, as far as their names are
  // known; and whether it may also enter others, by a callback or by assembly, too.
  [[nodiscard]] llvm::ArrayRef<const llvm::Function *>
  external_targets(const llvm::CallBase &call) const;
  [[nodiscard]] bool may_leave(const llvm::CallBase &call) const;
  // Functions of the program that run in another thread, or at another time, because of a call.
  struct Spawn {
    const llvm::CallBase *call;
    const llvm::Function *function;
    Callback::When when;
  };
  [[nodiscard]] const std::vector<Spawn> &spawns() const;
  // Functions that code outside the program may call.
  [[nodiscard]] const std::vector<const llvm::Function *> &exported() const;

  // The memory that `pointer`, an instruction, argument or constant, denotes, in the graph of the
  // function that it is in. None for null and for what the analysis never met.
  [[nodiscard]] std::optional<Cell> local(const llvm::Value &pointer) const;
  // A cell of the graph of `target`, which `call` enters, in the graph of the function that `call`
  // is in. None where the caller cannot reach it: it belongs to that one call.
  [[nodiscard]] std::optional<Cell> in_caller(const llvm::CallBase &call,
                                              const llvm::Function &target, const Cell &cell) const;
  // Whether a cell means the same in every function: it is in the program's one graph.
  [[nodiscard]] bool everywhere(const Cell &cell) const;
  // The representative of a cell.
  [[nodiscard]] Cell find(const Cell &cell) const;

  // A cell of some function's graph in the program's: one cell where it means the same everywhere,
  // else one for each calling context that differs. Empty where it denotes nothing that two threads
  // could both reach through globals, arguments of threads or code outside the program.
  [[nodiscard]] std::vector<Cell> places(const Cell &cell) const;
  [[nodiscard]] std::vector<Cell> places(const llvm::Value &pointer) const;

  // What an access of `size` bytes (kUnknownSize: not known) through a pointer may touch, of what
  // two threads could both reach; constants and functions do not count, nor do streams and other
  // memory of a library's own that its variables point to, which the library guards itself. A
  // node's objects are not told apart by unification; here they are, by inclusion: two accesses
  // meet only where they have a range of an object in common, and a node (`places`).
  [[nodiscard]] std::vector<ObjectRange> objects(const llvm::Value &pointer,
                                                 std::uint64_t size) const;
  // The same, with what only one thread can reach. Object 0 is also whatever is not known.
  [[nodiscard]] std::vector<ObjectRange> memory(const llvm::Value &pointer,
                                                std::uint64_t size) const;
  // objects() for code that follows every pointer that it finds from there on.
  [[nodiscard]] std::vector<ObjectRange> reachable_objects(const llvm::Value &pointer) const;
  // Whether a pointer leads to memory that a library guards itself and nowhere else: a stream.
  [[nodiscard]] bool is_librarys_own(const llvm::Value &pointer) const;
  // False where the program is so large that objects are not told apart: all are object 0.
  [[nodiscard]] bool has_objects() const;
  // False where `sensitive` stopped to tell calls apart, since the copies outgrew the program.
  [[nodiscard]] bool has_all_contexts() const;
  // Whether an object stands for many alike, which are not told apart.
  [[nodiscard]] bool is_united(ObjectId object) const;
  // Whether an object may lie in a node. Node 0 .. node_count() - 1; any object may lie in the
  // external node.
  [[nodiscard]] bool may_hold(NodeId node, ObjectId object) const;
  [[nodiscard]] bool is_external(NodeId node) const;
  // Whether nothing that the analysis knows of flows into a pointer: an address that came by a
  // pipe, or a number. False for null.
  [[nodiscard]] bool comes_from_nowhere(const llvm::Value &pointer) const;
  // A place where a pointer is used that was hidden in a number or in bytes, and may point to
  // whatever is hidden. One for a function: the first.
  struct HiddenUse {
    const llvm::Instruction *place;
    std::size_t objects; // that it may be
  };
  [[nodiscard]] std::vector<HiddenUse> hidden_uses() const;
  // Whether a pointer may be such a one, so that it may also point to any of hidden_places().
  [[nodiscard]] bool may_be_hidden(const llvm::Value &pointer) const;
  // Objects that are hidden, by the cells of the program's graph that they lie in.
  struct HiddenPlace {
    Cell cell;
    std::vector<ObjectRange> objects;
  };
  [[nodiscard]] const std::vector<HiddenPlace> &hidden_places() const;
  // Whether code outside the program knows objects by hidden pointers. The graph, which does not
  // follow these, does not show them as external then.
  [[nodiscard]] bool hides_outside() const;
  // What the program's text has for an object; null for 0.
  [[nodiscard]] const llvm::Value *label(ObjectId object) const;
  [[nodiscard]] std::optional<ObjectId> object_of(const llvm::Value &label) const;
  // Whether a function of the program returns a new object each time, which is told apart by calls.
  [[nodiscard]] bool is_allocator(const llvm::Function &function) const;
  // Whether each call of a function returns null or a newly allocated object whose address is
  // stored nowhere else.
  [[nodiscard]] bool returns_new(const llvm::Function &function) const;
  // Whether what an argument points to is no object of the program once the function runs, but one
  // of a pool's that has the argument as its label.
  [[nodiscard]] bool is_released(const llvm::Argument &argument) const;
  // The object that is a library function's own memory; 0 where objects are not told apart.
  [[nodiscard]] ObjectId own_object(const llvm::Function &callee) const;
  // The layout that ranges of an object are folded by.
  [[nodiscard]] llvm::ArrayRef<Fold> object_folds(ObjectId object) const;

  // Memory that code outside the program knows of; memory of a library function's own.
  [[nodiscard]] Cell external() const;
  [[nodiscard]] std::optional<Cell> own_memory(const llvm::Function &callee) const;
  // The catalogue's entry, kept.
  [[nodiscard]] const CatalogueEntry &entry(const llvm::Function &callee) const;

  // Nodes are numbered from 0 to node_count() - 1; numbers that places() never returns are unused.
  [[nodiscard]] std::size_t node_count() const;
  [[nodiscard]] NodeObjects objects(NodeId node) const;
  [[nodiscard]] llvm::ArrayRef<Fold> folds(NodeId node) const; // by begin, disjoint
  // `offset` (bytes from the node's begin) folded.
  [[nodiscard]] std::uint64_t fold(NodeId node, std::uint64_t offset) const;
  // Folded byte ranges [begin, end) that an access of `size` bytes at a cell touches; `size` of
  // kUnknownSize: everything from the cell to the end of its array, or of the object where it is in
  // none.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>>
  ranges(const Cell &cell, std::uint64_t size) const;
  // Every node that can be reached from `cell`'s node through pointers stored in memory, itself
  // included: what code that follows all pointers can touch.
  [[nodiscard]] std::vector<NodeId> reachable(const Cell &cell) const;

  static constexpr std::uint64_t kUnknownSize = ~std::uint64_t{0};

private:
  [[nodiscard]] bool counts(ObjectId object) const;
  // Adds the bytes that an access of `size` bytes at `offset` touches, or the whole object.
  void add_range(ObjectId object, std::uint64_t offset, std::uint64_t size,
                 std::set<ObjectRange> &found) const;
  void add_whole(ObjectId object, std::set<ObjectRange> &found) const;
  [[nodiscard]] bool is_constant(ObjectId object) const;

  std::unique_ptr<PointsToGraph> graph_;
  std::unique_ptr<PointsToGraph> insensitive_; // sensitive mode: where the targets come from
  PointsToGraph *flow_ = nullptr;              // the insensitive one
  mutable std::map<NodeId, std::vector<ObjectId>> held_; // sorted
  mutable std::optional<std::vector<HiddenPlace>> hidden_places_;
  mutable std::map<Cell, std::vector<Cell>> places_;
  // Of an array of targets, those of a type.
  using TypedArray = std::pair<const llvm::Function *const *, const llvm::FunctionType *>;
  mutable std::map<TypedArray, std::vector<const llvm::Function *>> typed_targets_;
};

} // namespace tandem
