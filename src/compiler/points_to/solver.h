// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the IR to the graph: what each instruction, constant and external function says about
// pointers.
#pragma once

#include "compiler/points_to/flow.h"
#include "compiler/points_to/graph.h"
#include "compiler/points_to/specialise.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace tandem {

using TargetMap =
    llvm::DenseMap<const llvm::CallBase *, llvm::SmallVector<const llvm::Function *, 1>>;

// A pointer value: where it points in the graph, and which objects flow into it.
struct Pointer {
  Cell cell;
  FlowNode flow = 0;
};

class PointsToGraph {
public:
  // `copy`: `module` is its module.
  PointsToGraph(const llvm::Module &module, const Catalogue &catalogue,
                const SpecialisedProgram *copy = nullptr);

  // One scope for the whole program; finds the targets of calls as it goes.
  void solve_insensitive();
  // One scope for each group of mutually recursive functions, callees first.
  void solve_sensitive(const PointsToGraph &insensitive);

  Graph &graph() { return graph_; }
  // Insensitive only; empty where the program is too large.
  [[nodiscard]] const ObjectFlow &flow() const { return flow_; }
  [[nodiscard]] bool has_flow() const { return has_flow_; }
  [[nodiscard]] bool has_all_contexts() const { return has_all_contexts_; }
  // Whether the object that a label stands for is one that hidden pointers may point to.
  [[nodiscard]] bool has_escaped(const llvm::Value &label) const;
  // Whether a pointer may be one that was hidden in a number, or in bytes.
  [[nodiscard]] bool may_be_hidden(const llvm::Value &value) const;
  // Of each function, the first instruction that uses such a pointer.
  [[nodiscard]] std::vector<const llvm::Instruction *> hidden_uses() const;
  // The objects that a pointer value may point to, as far as it is one that was met.
  [[nodiscard]] const ElementSet *objects_of(const llvm::Value &value);
  // The functions of the program that a call may enter. Calls of one crowd have one array.
  [[nodiscard]] llvm::ArrayRef<const llvm::Function *> targets(const llvm::CallBase &call) const;
  [[nodiscard]] bool is_in_crowd(const llvm::CallBase &call) const {
    return crowd_targets_.contains(&call);
  }
  // Functions outside the program that a call by pointer may enter, as far as their names are
  // known.
  [[nodiscard]] llvm::ArrayRef<const llvm::Function *>
  external_targets(const llvm::CallBase &call) const {
    const auto known = external_targets_.find(&call);
    return known == external_targets_.end() ? llvm::ArrayRef<const llvm::Function *>()
                                            : llvm::ArrayRef(known->second);
  }
  // Whether a call by pointer, a callback of a call, or assembly may enter code outside the program
  // that nothing is known of.
  [[nodiscard]] bool may_leave(const llvm::CallBase &call) const {
    return leaving_.contains(&call) || calling_outside_.contains(&call);
  }
  using Spawn = PointsToAnalysis::Spawn;
  [[nodiscard]] const std::vector<Spawn> &spawns() const { return spawns_; }
  // Functions that code outside the program may call.
  [[nodiscard]] const std::vector<const llvm::Function *> &exported() const { return exported_; }

  // The cell of a pointer value; none for null, undefined values and what was never met.
  std::optional<Cell> known(const llvm::Value &value);
  [[nodiscard]] bool is_external(NodeId root) { return graph_.find(external_).node == root; }
  // The library's own memory that `callee` keeps; none where it keeps none.
  std::optional<Cell> own_memory(const llvm::Function &callee) { return own(callee).cell; }
  ObjectId own_object(const llvm::Function &callee);
  [[nodiscard]] Cell external() { return graph_.find(external_); }
  // Whether two threads can both reach a root.
  [[nodiscard]] bool reached(NodeId root) const { return root < reached_.size() && reached_[root]; }
  // A cell of `target` in the graph of the function that `call` is in; none where the caller cannot
  // reach it.
  std::optional<Cell> in_caller(const llvm::CallBase &call, const llvm::Function &target,
                                Cell cell);
  // The calls that enter functions of a scope from others.
  struct Caller {
    const llvm::CallBase *call;
    const llvm::Function *target;
  };
  [[nodiscard]] llvm::ArrayRef<Caller> callers(Scope scope) const;
  [[nodiscard]] Scope scope_of(const llvm::Function &function) const;
  const CatalogueEntry &entry(const llvm::Function &callee);
  // Whether a function's result is a new object each time: the catalogue says so, or the function
  // has the attribute `malloc`.
  [[nodiscard]] bool is_allocator(const llvm::Function &function) const;
  // Whether a function returns null or an object that it or one of its callees allocated, and keeps
  // that to itself (allocators.cc).
  bool returns_new(const llvm::Function &function);
  // Whether what an argument points to is no object of the program once the function runs.
  [[nodiscard]] bool is_released(const llvm::Argument &argument) const;
  // A library's variable, and the library's memory that it points to: stderr and its stream.
  [[nodiscard]] bool is_own_variable(const llvm::GlobalVariable &variable) const {
    return variable.isDeclaration() && catalogue_.is_own_variable(variable.getName().str());
  }

private:
  // What a call by pointer, or a callback, passes.
  struct Site {
    const llvm::CallBase *call = nullptr;                 // null: a call from outside the program
    std::optional<Pointer> pointer;                       // the function; none: always called
    llvm::SmallVector<std::optional<Pointer>, 4> actuals; // one for each parameter; leaf 0
    bool direct = true;         // the actuals are the call's own arguments
    bool anything_else = false; // further parameters may be any memory
    Callback::When when = Callback::When::now;
  };
  struct Leaf {
    std::uint64_t offset;
    bool carries; // may hold an address
  };
  static constexpr std::int64_t kAddress = 8; // bytes
  // A callback that lies somewhere in memory.
  struct Search {
    std::uint32_t site;
    Pointer memory;
    llvm::SmallVector<Pointer, 1> found; // its parameters that are any pointer the memory leads to
    std::optional<Pointer> object;       // it is a virtual function, and this its object
  };
  struct Index {
    Cell cell;
    std::uint64_t stride;
    bool downwards;
    bool free;
  };

  // How any of a crowd's calls passes to any of its functions, where both are of one shape.
  struct Passing {
    std::vector<Pointer> arguments;
    Pointer result;
    std::vector<std::uint32_t> sites;
    std::vector<const llvm::Function *> functions;
  };
  struct Crowd {
    CrowdId united;                                      // itself, or the one that has all of its
    std::map<std::string, Passing> passings;             // by shape
    std::vector<std::uint32_t> other_sites;              // these meet each function
    std::vector<const llvm::Function *> other_functions; // these meet each call
  };
  struct CrowdCall {
    const llvm::CallBase *call;
    CrowdId crowd;
    std::string shape;
    std::optional<std::uint32_t> guard;
  };

  void start();
  void add_program_arguments();
  std::size_t summary_size(llvm::ArrayRef<const llvm::Function *> group);
  void finish();

  // values.cc
  const llvm::SmallVector<Leaf, 1> &leaves(llvm::Type *type);
  std::optional<Pointer> pointer(const llvm::Value *value, unsigned leaf = 0);
  std::optional<Pointer> constant(const llvm::Constant *constant, unsigned leaf);
  std::uint32_t index_of(const llvm::Value *value);
  Pointer variable(const llvm::Value *value, unsigned leaf);
  void define(const llvm::Value *value, unsigned leaf, Pointer pointer);
  void flow(const llvm::Value *to, const llvm::Value *from); // all leaves
  Pointer object(const llvm::Value &label, Scope scope);
  Pointer global(const llvm::GlobalObject &global);
  void initialise(const llvm::GlobalVariable &global);
  void initialise(const llvm::GlobalVariable &variable, Pointer at, std::uint64_t offset,
                  const llvm::Constant *value);
  Pointer element(const llvm::GEPOperator &gep, Pointer base);
  [[nodiscard]] Scope scope_of_value(const llvm::Value *value) const;
  [[nodiscard]] static bool is_wide_cast(const llvm::Value *value);
  [[nodiscard]] bool carrier(const llvm::Value *value) const;

  // pointers.cc
  Pointer shift(Pointer pointer, std::int64_t bytes, bool within_array = false);
  void add_array(Pointer pointer, std::uint64_t size, std::uint64_t stride);
  void index(Pointer pointer, std::uint64_t stride, bool downwards, bool free = false);
  void collapse(Pointer pointer);
  Pointer load(Pointer address, ObjectFlow::Take take = ObjectFlow::Take::as_pointer);
  void store(Pointer address, Pointer value, bool typed = false);
  void pass(Pointer from, Pointer to); // `to` may be what `from` is
  void mix(Pointer a, Pointer b);      // each may be what the other is
  void copy_memory(Pointer to, Pointer from, std::uint64_t size, bool typed = false);
  void escape(Pointer pointer);
  void share(Pointer pointer);
  Pointer outside() const { return {external_, flow_.outside()}; }
  Pointer nowhere(Scope scope); // a pointer of which nothing is known yet

  // constraints.cc
  void find_address_arithmetic();
  void add_function(const llvm::Function &function);
  void add_instruction(const llvm::Instruction &instruction);
  [[nodiscard]] std::int64_t addresses_in(llvm::Type *type) const;
  void add_load(const llvm::Instruction &result, Pointer from, llvm::Type *type);
  void add_store(const llvm::Instruction &access, Pointer to, const llvm::Value *value);
  void add_aggregate(const llvm::Instruction &instruction);
  void apply_indexes();
  bool apply_indexes_again(std::size_t first = 0);
  bool apply(const Index &index);

  // numbers.cc
  [[nodiscard]] static ObjectFlow::Take loads_as(const llvm::Instruction &access);
  [[nodiscard]] static bool stores_pointer(const llvm::Instruction &access);
  FlowNode stored_as(const llvm::Instruction &access, FlowNode value);
  std::optional<FlowNode> constant_number(const llvm::Constant *constant);
  std::optional<FlowNode> number(const llvm::Value *value);
  FlowNode number_result(const llvm::Function &function);
  bool is_followed(const llvm::Value *value);
  std::optional<FlowNode> marks(const llvm::Value *value);
  void copy_number(const llvm::Value *from, const llvm::Value *to);
  void hide_number(const llvm::Value *from, FlowNode to);
  void pass_number(const llvm::Value *from, const llvm::Value *to,
                   std::optional<std::uint32_t> guard);
  void pass_number(FlowNode from, FlowNode to, std::optional<std::uint32_t> guard);
  void load_number(const llvm::Instruction &result, const llvm::Value *address, llvm::Type *type);
  void store_number(const llvm::Instruction &access, const llvm::Value *address,
                    const llvm::Value *value);
  void store_number(const llvm::Instruction &access, Pointer at, FlowNode value, std::uint64_t size,
                    bool is_stored);
  void update_number(const llvm::AtomicRMWInst &update);
  void compute_number(const llvm::Instruction &instruction);
  void add_number(const llvm::Instruction &instruction);
  bool enter_hidden();
  bool unify_hidden(const PointsToGraph &known);
  void mark_hidden_reached(const PointsToGraph &known);
  [[nodiscard]] static bool uses_pointer(const llvm::Instruction &instruction,
                                         const llvm::Use &operand);

  // bytes.cc
  void add_number_call(const llvm::CallBase &call);
  void add_number_assembly(const llvm::CallBase &call, bool does_nothing);
  void add_number_intrinsic(const llvm::IntrinsicInst &call);
  [[nodiscard]] static bool is_bytes(const CopiedMemory &copied);
  void add_number_external(const llvm::CallBase &call, const CatalogueEntry &known,
                           const llvm::Function &callee);
  void give_memory(const llvm::Value *address, FlowNode hand);
  void take_memory(const llvm::Value *address, std::uint64_t size, FlowNode hand);
  std::optional<FlowNode> bytes_at(const llvm::CallBase &call, int where, int loads,
                                   const llvm::Function &callee);
  void give_bytes(const llvm::CallBase &call, int where, int loads, const llvm::Function &callee,
                  FlowNode hand);
  void take_bytes(const llvm::CallBase &call, int where, int loads, const llvm::Function &callee,
                  FlowNode hand);
  void give_list(Pointer list, FlowNode hand);
  void print_number(const llvm::CallBase &call, const FormattedText &text,
                    const llvm::Function &callee);
  void scan_number(const llvm::CallBase &call, const FormattedText &text,
                   const llvm::Function &callee);
  void return_number(const llvm::CallBase &call, const CatalogueEntry &known,
                     const llvm::Function &callee);
  void replace_memory(const llvm::CallBase &call, const CatalogueEntry &known,
                      const llvm::Function &callee);

  // calls.cc
  void add_call(const llvm::CallBase &call);
  void add_intrinsic(const llvm::IntrinsicInst &call);
  void add_assembly(const llvm::CallBase &call);
  std::uint32_t new_site(Site site);
  void link_site(std::uint32_t site, const llvm::Value *pointer);
  void enter(std::uint32_t site, const llvm::Function &function);
  void enter_preset(std::uint32_t site);
  void bind(const Site &site, const llvm::Function &function);
  Pointer result(const llvm::Function &function, unsigned leaf);

  // symbols.cc
  void add_ifuncs();
  void escape(const llvm::GlobalValue &value);
  void escape_known_symbols();

  // exceptions.cc
  bool has_foreign_exceptions();
  void start_exceptions();
  void catch_any(const llvm::CallBase &call);
  void destroy_exceptions(const llvm::CallBase &call);
  bool add_exception_call(const llvm::CallBase &call, const llvm::Function &callee);

  // coroutines.cc
  void start_coroutines();
  void resume_any(const llvm::CallBase &call);
  void call_awaiter(const llvm::CallBase &call);
  bool add_coroutine_call(const llvm::CallBase &call);

  // crowds.cc
  Crowd &crowd(CrowdId id);
  std::string shape_of(const Site &site);
  std::string shape_of(const llvm::Function &function);
  void add_to_crowd(CrowdId id, std::uint32_t site);
  void add_to_crowd(CrowdId id, const llvm::Function &function);
  void unite_crowds(CrowdId id, CrowdId other);
  void enter_once(std::uint32_t site, const llvm::Function &function);
  Passing &passing(Crowd &crowd, const std::string &shape);
  void pass_call(CrowdId id, const std::string &shape, std::uint32_t site);
  void pass_function(Passing &passing, const llvm::Function &function);
  void unite_functions();
  void take_crowds();
  void take_preset_crowds();
  [[nodiscard]] CrowdId crowd_root(CrowdId id) const;
  Pointer varargs(const llvm::Function &function);

  // externals.cc
  void add_external(const llvm::CallBase &call, const llvm::Function &callee);
  void add_callback(const llvm::CallBase &call, const Callback &callback,
                    const llvm::Function &callee);
  void add_thread_object(const llvm::CallBase &call);
  bool add_runtime_function(const llvm::CallBase &call, const llvm::Function &callee);
  void enter_external_callback(const Site &site, const llvm::Function &function);
  Pointer own(const llvm::Function &callee);
  std::optional<Pointer> place(const llvm::CallBase &call, int where, const llvm::Function &callee);
  std::optional<Pointer> source(const llvm::CallBase &call, const PointerSource &source,
                                const llvm::Function &callee);
  bool search();
  bool pass_found(NodeId node, const Pointer &passed);
  bool has_virtual_table(NodeId node);
  bool leave();
  bool rejoin();
  void leave(const llvm::CallBase &call, const Pointer *callee);
  void mark_reached();
  void take_targets();
  void unite_objects(); // merge.cc
  // allocators.cc
  bool keeps(const llvm::Value &made, bool may_return, unsigned steps);
  bool callee_keeps(const llvm::CallBase &call, unsigned argument, unsigned steps);
  bool find_returns_new(const llvm::Function &function, unsigned steps);
  bool returns_new(const llvm::Function &function, unsigned steps);

  const llvm::Module &module_;
  const Catalogue &catalogue_;
  const SpecialisedProgram *copy_;
  const llvm::DataLayout &layout_;
  llvm::DenseMap<const llvm::Function *, bool> returns_new_; // of functions asked for
  Graph graph_;
  ObjectFlow flow_;
  bool has_flow_ = false;
  bool has_all_contexts_ = true;
  bool records_flow_ = true; // not in sensitive runs
  Cell external_;
  Pointer exceptions_;  // what is thrown
  Pointer destructors_; // of what is thrown
  bool has_inner_bases_ = false;
  Pointer promises_; // of coroutines
  Pointer frames_;
  std::vector<const llvm::Function *> coroutines_;
  llvm::DenseMap<const llvm::GlobalObject *, Pointer> ifuncs_;
  const PointsToGraph *preset_ = nullptr; // sensitive: what the insensitive run found

  llvm::DenseMap<llvm::Type *, llvm::SmallVector<Leaf, 1>> leaves_of_;
  llvm::DenseMap<const llvm::Value *, std::uint32_t> variables_; // first of its leaves
  std::vector<Pointer> pointers_;
  std::vector<bool> defined_;
  llvm::DenseMap<const llvm::Constant *, Pointer> constants_; // elements of globals
  llvm::DenseMap<const llvm::GlobalObject *, NodeId> globals_;
  llvm::DenseMap<const llvm::Function *, std::uint32_t> results_;
  llvm::DenseMap<const llvm::Function *, Pointer> varargs_;
  llvm::DenseMap<const llvm::Function *, Scope> scopes_;
  llvm::DenseMap<const llvm::Function *, CatalogueEntry> entries_;
  llvm::StringMap<Pointer> own_;
  llvm::DenseSet<const llvm::Value *> arithmetic_; // integer arithmetic on addresses
  llvm::DenseMap<const llvm::Value *, FlowNode> numbers_;
  llvm::DenseMap<const llvm::Function *, FlowNode> number_results_;
  FlowNode channel_ = 0; // what left the program as bytes, and may come back
  llvm::DenseMap<const llvm::Value *, FlowNode> marks_;
  // Where addresses are hidden, and where marks may be pointers: values, or the memory at them. For
  // programs that are too large for the flow of objects.
  struct Hiding {
    const llvm::Value *value;
    bool in_memory;
    auto operator<=>(const Hiding &) const = default;
  };
  std::set<Hiding> hidden_here_;
  std::set<Hiding> found_here_;
  std::optional<Cell> hidden_;
  std::vector<Site> sites_;
  std::vector<Index> indexes_;
  std::size_t applied_ = 0; // of these
  std::vector<Search> searches_;
  std::set<std::pair<std::uint32_t, const llvm::Function *>> met_; // by searches
  std::set<std::pair<FlowNode, const llvm::Value *>> met_objects_; // by parameter
  TargetMap targets_;
  TargetMap external_targets_;
  std::vector<Spawn> spawns_;
  std::vector<const llvm::Function *> exported_;
  std::set<std::pair<std::uint32_t, const llvm::Function *>> external_callbacks_; // by site
  std::vector<Cell> roots_; // what threads share beyond globals
  struct Guarded {
    const llvm::CallBase *call;
    const llvm::Function *function;
    std::uint32_t guard;
  };
  std::vector<Guarded> guarded_; // calls by pointer
  // Callbacks: what a call enters whatever its pointer is.
  std::set<std::pair<const llvm::CallBase *, const llvm::Function *>> unguarded_;
  std::vector<Crowd> crowds_; // 0 is unused
  std::vector<CrowdCall> crowd_calls_;
  llvm::DenseMap<const llvm::CallBase *, std::pair<CrowdId, std::string>> preset_crowds_;
  llvm::DenseMap<const llvm::CallBase *, llvm::ArrayRef<const llvm::Function *>> crowd_targets_;
  std::set<std::vector<const llvm::Function *>> target_lists_; // what they may refer to
  llvm::DenseSet<const llvm::CallBase *> leaving_;             // by pointer
  llvm::DenseSet<const llvm::CallBase *> calling_outside_;     // otherwise
  std::vector<std::pair<const llvm::CallBase *, std::uint32_t>> leaving_guards_; // of the flow
  std::vector<bool> reached_;
  std::map<std::pair<const llvm::CallBase *, const llvm::Function *>, Graph::Copies> copies_;
  std::vector<std::vector<Caller>> callers_; // by scope
};

} // namespace tandem
