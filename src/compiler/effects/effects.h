// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Effects: which memory a section may read and write, and which irrevocable actions it may reach,
// over the whole program. Memory is what the points-to analysis tells apart: byte ranges of nodes.
#pragma once

#include "compiler/cold/cold_paths.h"
#include "compiler/effects/access_types.h"
#include "compiler/effects/actions.h"
#include "compiler/points_to/points_to.h"
#include "compiler/sections/section.h"
#include "compiler/sharing/sharing.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SparseBitVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tandem {

// A part of an object that an access may touch. Where objects are told apart, `node` tells further
// which calling context made it.
struct Location {
  NodeId node = 0;
  ObjectId object = 0;     // 0: what code outside the program knows, or any object of the node
  std::uint64_t begin = 0; // folded bytes [begin, end) of the object; of the node where it is 0
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  AccessType type = kAnyAccess; // what the program takes it for
  bool shared = true; // two threads may touch it at the same time, and one of them writes it
  std::string name;   // as in the source; a class of memory may be several locations of one name

  // Whether one address may lie in both, whatever they are taken for.
  [[nodiscard]] bool overlaps(const Location &other) const {
    return node == other.node && object == other.object && begin < other.end && other.begin < end;
  }
};

// An instruction of a section, or of what it calls, and a location that it touches.
struct SectionAccess {
  const llvm::Instruction *instruction = nullptr;
  std::uint32_t location = 0;
  bool writes = false;
};

// What one section may do. Numbers are indices of Effects::locations(), in ascending order.
struct SectionEffects {
  std::set<std::uint32_t> reads; // all that it may touch and that others could reach, shared or not
  std::set<std::uint32_t> writes;
  std::vector<SectionAccess> accesses;        // one for each shared location and direction
  std::vector<ReportIrrevocable> irrevocable; // one per callee, with a shortest chain; by callee
  bool irrevocable_at_begin = false;          // every execution that returns performs one
  std::vector<const llvm::CallBase *> lock_operations; // reached inside a marked function
  EntrySet entries;                                    // whose threads may run the section
};

// Whether a section is all of a function, and not a region or block of one.
inline bool is_whole_function(const Section &section) {
  return section.kind == SectionKind::function || section.kind == SectionKind::lambda;
}

// "file:line" of an instruction; "" where it is unknown.
std::string source_place(const llvm::Instruction &instruction);

class Effects {
public:
  // All arguments outlive this object.
  Effects(const llvm::Module &module, const Catalogue &catalogue, const PointsToAnalysis &points_to,
          const Sharing &sharing);

  // The effects of all sections, in their order. `meets_others`: there may be other outputs with
  // sections in the process, so that meets_others() is asked. Once.
  std::vector<SectionEffects> of(const std::vector<Section> &sections, bool meets_others = false);

  // Functions that sections may run, marked ones among them. Once of() is done.
  [[nodiscard]] const std::set<const llvm::Function *> &reached() const { return reached_; }

  // Whether a section meets what functions do that code outside may call, with all that they call:
  // a section of another output may run them. Once of() is done.
  [[nodiscard]] bool meets_others(const SectionEffects &section) const;

  // Loads of sections, and of what they call, from memory that no section of the process writes.
  // `effects` are those of all sections. May add to locations().
  [[nodiscard]] std::vector<const llvm::LoadInst *>
  unwritten_reads(const std::vector<Section> &sections, const std::vector<SectionEffects> &effects);

  // Atomic operations that cannot be undone though the catalogue says so of atomic operations: a
  // section touches the same memory by what is none, and one of the two writes; or one of another
  // output may. Once of() is done.
  [[nodiscard]] const std::set<const llvm::Instruction *> &mixed_atomics() const {
    return mixed_atomics_;
  }

  [[nodiscard]] const std::vector<Location> &locations() const { return locations_; }
  // Whether accesses of two locations may meet.
  [[nodiscard]] bool may_meet(const Location &a, const Location &b) const {
    return a.overlaps(b) && types_.may_alias(a.type, b.type);
  }
  [[nodiscard]] const PointsToAnalysis &points_to() const { return points_to_; }
  [[nodiscard]] const Sharing &sharing() const { return sharing_; }
  // Other names that the program has for a location, alphabetically.
  [[nodiscard]] std::vector<std::string> aliases(std::uint32_t location) const;

  // What an instruction touches itself, callees of the program not counted: memory in the graph of
  // its function, and how.
  struct Touch {
    Cell cell;
    std::uint64_t end = 0; // cell.offset up to here, in the node
    bool reads = false;
    bool writes = false;
    const llvm::Value *address = nullptr; // null: reached through further pointers
    std::uint64_t size = 0;               // of the access; PointsToAnalysis::kUnknownSize
    AccessType type = kAnyAccess;
    std::vector<ObjectRange> objects; // of the node
  };
  [[nodiscard]] std::vector<Touch> touches(const llvm::Instruction &instruction);

private:
  // What a function knows by its parameters: a node of its graph, and what of it.
  struct Range : ObjectRange {
    AccessType type = kAnyAccess;
    auto operator<=>(const Range &) const = default;
  };
  using Key = std::pair<Cell, Range>;
  enum Direction : std::uint8_t { kReads = 1, kWrites = 2 };
  // What a function may do to memory, with all that it calls.
  struct Summary {
    llvm::SparseBitVector<> reads; // locations that mean the same everywhere
    llvm::SparseBitVector<> writes;
    std::map<Key, std::uint8_t> local; // what its callers know by other names
    llvm::SparseBitVector<> actions;   // irrevocable, indices of actions_met_
    bool has_lock_operations = false;
  };
  struct Call {
    const llvm::CallBase *call;
    llvm::ArrayRef<const llvm::Function *> targets;
  };
  struct Own {
    const llvm::Instruction *instruction;
    Touch touch;
  };
  struct FunctionFacts {
    std::vector<Own> own;
    std::vector<Call> calls;
    std::map<std::string, std::pair<const llvm::Instruction *, bool>>
        irrevocable; // lock operation?
    std::vector<const llvm::CallBase *> lock_operations;
  };
  struct ProgramAccess {
    ObjectId object;
    std::uint64_t begin;
    std::uint64_t end;
    AccessType type;
    std::uint32_t entries; // number of the set
    bool writes;
    auto operator<=>(const ProgramAccess &) const = default;
  };
  struct Sample {
    const llvm::Value *address;
    std::uint64_t size;
  };
  // What functions and all that they call do, with the calls that lead there; breadth first.
  struct Beyond {
    struct Action {
      std::uint32_t depth; // 0: in one of the functions themselves
      std::string callee;
      bool is_lock;
      const llvm::Instruction *instruction;
    };
    // The first for each location and direction, with its depth; by depth.
    std::vector<std::pair<std::uint32_t, SectionAccess>> accesses;
    std::vector<Action> actions; // the first for each callee; by depth
    std::vector<const llvm::CallBase *> lock_operations;
    llvm::DenseMap<const llvm::Function *, const llvm::Instruction *>
        reached_by; // null: one of the functions
  };
  class Walk;

  void add_facts(const llvm::Instruction &instruction, FunctionFacts &facts);
  void add_call_facts(const llvm::CallBase &call, FunctionFacts &facts);
  void touch_call(const llvm::CallBase &call, std::vector<Touch> &out);
  void touch_external(const llvm::CallBase &call, const llvm::Function &callee,
                      std::vector<Touch> &out);
  void touch(const llvm::Value *address, std::uint64_t size, bool reads, bool writes,
             std::vector<Touch> &out);
  void touch_all(const llvm::Value &pointer, bool reads, bool writes, std::vector<Touch> &out);
  void touch_hidden(bool reads, bool writes, std::vector<Touch> &out);
  void touch_outside(bool reads, bool writes, std::vector<Touch> &out);
  bool is_private(const llvm::Value *address);
  bool is_lock_operation(const llvm::Function &callee);

  // The functions of the program that a call may run before it returns.
  llvm::ArrayRef<const llvm::Function *> targets_of(const llvm::CallBase &call);
  const FunctionFacts &facts_of(const llvm::Function &function);
  void find_typeless(const llvm::Module &module);
  void survey(const llvm::Module &module);
  void find_mixed_atomics(const std::vector<Section> &sections,
                          const std::set<const llvm::Function *> &needed);
  void summarise(const llvm::Module &module, const std::set<const llvm::Function *> &needed);
  void add_by_others(const llvm::Function &function);
  void add(const FunctionFacts &facts, Summary &summary);
  void add(const Touch &touch, Summary &summary);
  void add(const Call &call, Summary &summary);
  void add(const std::vector<Call> &calls, Summary &summary);
  void add_range(const Cell &cell, const Range &range, std::uint8_t how, Summary &summary);
  std::vector<std::uint32_t> locations_of(const Touch &touch);
  std::uint32_t location(NodeId node, const Range &range);
  SectionEffects effects_of(const Section &section);
  FunctionFacts facts_of(const Section &section);
  std::vector<SectionAccess> accesses_of(const FunctionFacts &facts);
  const std::vector<SectionAccess> &accesses_of(const llvm::Function &function);
  const Beyond &beyond(llvm::ArrayRef<const llvm::Function *> targets);
  bool always_irrevocable(const llvm::Function &function, std::set<const llvm::Function *> &active);
  void mark_shared(const std::set<std::uint32_t> &used);
  void name_locations(const std::set<std::uint32_t> &used);
  [[nodiscard]] std::string name_of(std::uint32_t location) const;
  [[nodiscard]] std::string object_name(const Location &location) const;

  const Actions actions_;
  mutable AccessTypes types_; // remembers what it was asked
  const PointsToAnalysis &points_to_;
  const Sharing &sharing_;
  const llvm::DataLayout &layout_;
  const bool hides_outside_;
  ColdPaths cold_;
  std::set<ObjectRange> typeless_; // where accesses are not told apart by their types
  std::vector<Location> locations_;
  std::map<std::pair<NodeId, Range>, std::uint32_t> ids_;
  std::vector<std::vector<Sample>> samples_;        // by location
  std::vector<std::vector<ProgramAccess>> program_; // by node
  llvm::DenseMap<const EntrySet *, std::uint32_t> entry_sets_;
  std::vector<const EntrySet *> entry_set_of_;
  std::map<const llvm::CallBase *, std::vector<const llvm::Function *>> targets_;
  std::vector<const llvm::Function *> known_outside_; // functions that code outside may call back
  llvm::DenseMap<const llvm::Value *, bool> captured_;
  llvm::DenseMap<const llvm::Function *, bool> lock_operations_;
  std::map<const llvm::Function *, FunctionFacts> facts_;
  llvm::DenseMap<const llvm::Function *, const FunctionFacts *> known_facts_;
  std::map<const llvm::Function *, std::vector<SectionAccess>> accesses_;
  std::map<const llvm::Function *, std::uint32_t> group_;  // index of the summary
  std::map<const llvm::Function *const *, Beyond> beyond_; // by array of targets
  std::set<const llvm::Instruction *> mixed_atomics_;
  std::set<const llvm::Function *> reached_;
  // Locations that sections of other outputs may touch by functions of this one, by node; whether
  // one writes.
  std::map<NodeId, std::map<std::uint32_t, bool>> by_others_;
  std::vector<Summary> summaries_;
  std::vector<std::pair<std::string, bool>> actions_met_; // name, lock operation?
  std::map<std::pair<std::string, bool>, unsigned> action_numbers_;
  std::map<const llvm::Function *, bool> always_irrevocable_;
  bool met_recursion_ = false; // in the current always_irrevocable()
};

} // namespace tandem
