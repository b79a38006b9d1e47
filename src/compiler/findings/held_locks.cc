// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/held_locks.h"

#include "compiler/effects/unpublished.h"
#include "compiler/findings/lock_address.h"
#include "compiler/findings/place.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/flags.h"
#include "compiler/sections/hidden_operations.h"
#include "compiler/sections/origin.h"
#include "compiler/sections/trylock.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace tandem {
namespace {

using namespace llvm;

// A function is looked at again when what it calls has changed; with recursion this need not come
// to rest, and the answer after this many times is as good as advice needs.
constexpr unsigned kMaxRuns = 16;

// Ways to a block that differ in what is known of local flags; beyond these, nothing is.
constexpr unsigned kMaxWays = 16;

bool acquires(const LockSite &site) {
  return site.operation == LockOperation::lock || site.operation == LockOperation::trylock;
}

// Makes `into` what holds after either of two paths. Result: whether it has changed.
bool merge(HeldState &into, const HeldState &other) {
  bool changed = into.must.intersect(other.must);
  changed |= into.may.unite(other.may);
  changed |= into.shared.unite(other.shared);
  return into.once.intersect(other.once) || changed;
}

// The objects that a lock may be, and where in them; nothing where that is not known.
using LockPlaces = std::set<std::pair<ObjectId, std::uint64_t>>;
std::optional<LockPlaces> places_of(const LockSite::Target &target,
                                    const PointsToAnalysis &points_to) {
  if (!points_to.has_objects() || target.base == nullptr ||
      !target.base->getType()->isPointerTy() || target.offsets.size() != 1 ||
      target.offsets.front() < 0)
    return std::nullopt;
  const std::uint64_t bytes = static_cast<std::uint64_t>(target.offsets.front()) + 1;
  LockPlaces places;
  for (const ObjectRange &range : points_to.memory(*target.base, bytes)) {
    if (range.object == 0)
      return std::nullopt;
    // Else folded: the elements of an array.
    places.emplace(range.object, range.end - range.begin == bytes ? range.end - 1 : range.begin);
  }
  return places.empty() ? std::nullopt : std::optional(places);
}

// Whether there is one such object at a time: a variable of the program, or one of main's.
bool is_single(const Value *label) {
  const auto *slot = dyn_cast_or_null<AllocaInst>(label);
  return isa_and_nonnull<GlobalVariable>(label) ||
         (slot != nullptr && slot->getFunction()->getName() == "main");
}

// A variable, and bytes from its begin.
using Element = std::pair<const GlobalVariable *, std::int64_t>;

// Of a lock in a variable, by a number from its begin: of an array, one of its elements.
std::optional<Element> element_of(const LockSite::Target &target, const DataLayout &layout) {
  if (target.base == nullptr || target.offsets.size() != 1 ||
      !target.base->getType()->isPointerTy())
    return std::nullopt;
  const auto [base, offset] = base_of(target.base, layout);
  const auto *global = dyn_cast_or_null<GlobalVariable>(base);
  return global == nullptr ? std::nullopt
                           : std::optional(Element{global, offset + target.offsets.front()});
}

} // namespace

bool is_once(const CallBase &call) {
  const Function *callee = called_function(call);
  if (callee == nullptr || call.arg_size() < 2)
    return false;
  const StringRef name = callee->getName();
  return (callee->isDeclaration() && (name == "pthread_once" || name == "call_once")) ||
         name.starts_with("_ZSt9call_onceI");
}

bool is_for_once(const Function &function) {
  return function.getName().contains("18_Prepare_execution") ||
         (!function.use_empty() && all_of(function.users(), [](const User *user) {
           const auto *call = dyn_cast<CallBase>(user);
           return call != nullptr && is_once(*call);
         }));
}

// std::call_once leaves the function for the library's proxy.
SmallVector<const Function *, 1> once_targets(const CallBase &call,
                                              const PointsToAnalysis &points_to) {
  SmallVector<const Function *, 1> run;
  const Function &once = *called_function(call);
  if (once.isDeclaration()) {
    append_range(run, points_to.targets(call));
    return run;
  }
  for (const Instruction &instruction : instructions(once)) {
    const auto *inner = dyn_cast<CallBase>(&instruction);
    const Function *prepares = inner == nullptr ? nullptr : called_function(*inner);
    if (prepares == nullptr || !prepares->getName().contains("18_Prepare_executionC"))
      continue;
    for (const Instruction &stores : instructions(*prepares))
      if (const auto *store = dyn_cast<StoreInst>(&stores))
        if (const auto *function = dyn_cast<Function>(store->getValueOperand()))
          run.push_back(function);
  }
  return run;
}

namespace {

// What a call does with the semaphore that is its first argument.
std::optional<SemaphoreOperation> semaphore_operation(const CallBase &call) {
  const Function *callee = called_function(call);
  if (callee == nullptr || call.arg_size() == 0)
    return std::nullopt;
  const StringRef name = callee->getName();
  if (name == "sem_init")
    return SemaphoreOperation::begin;
  if (name == "sem_wait")
    return SemaphoreOperation::wait;
  if (name == "sem_post")
    return SemaphoreOperation::post;
  if (!name.starts_with("_ZNSt18counting_semaphoreI"))
    return std::nullopt;
  if (name.ends_with("7acquireEv"))
    return SemaphoreOperation::wait;
  if (name.contains("7releaseE"))
    return SemaphoreOperation::post;
  return name.contains("C1E") || name.contains("C2E") ? std::optional(SemaphoreOperation::begin)
                                                      : std::nullopt;
}

// Whether a semaphore begins with one: then it is free once.
bool begins_with_one(const CallBase &call) {
  const auto *value = dyn_cast<ConstantInt>(call.getArgOperand(call.arg_size() - 1));
  return value != nullptr && value->isOne();
}

} // namespace

HeldLocks::HeldLocks(const Module &module, const LockCalls &locks,
                     const PointsToAnalysis &points_to)
    : locks_(locks), points_to_(points_to) {
  classify(module);
  find_operations(module);
  find_semaphores(module);
  find_hidden(module);
  propagate(module);
}

// Classes of global locks and of fields first: what is only known by a pointer joins one of them
// where the pointer leads to no other.
void HeldLocks::classify(const Module &module) {
  std::map<std::string, std::uint32_t> by_key;
  std::map<Cell, LockSet> at_cell;
  std::map<std::uint32_t, std::optional<LockPlaces>> places; // of classes
  const auto add_places = [&](std::uint32_t klass, const LockSite::Target &target) {
    const std::optional<LockPlaces> here = places_of(target, points_to_);
    const auto [known, fresh] = places.try_emplace(klass, here);
    if (!fresh && known->second && here)
      known->second->insert(here->begin(), here->end());
    else if (!here)
      known->second = std::nullopt;
  };
  std::map<std::uint32_t, Element> elements; // of classes that are one
  // What unification has in one node may be known to be different locks.
  const auto are_apart = [&](std::uint32_t one, std::uint32_t other) {
    const auto left = elements.find(one);
    const auto right = elements.find(other);
    if (left != elements.end() && right != elements.end())
      return left->second != right->second;
    const std::optional<LockPlaces> &here = places.at(one);
    const std::optional<LockPlaces> &there = places.at(other);
    return here && there &&
           none_of(*here, [&](const auto &place) { return there->contains(place); });
  };
  struct Pointer {
    const LockSite *site;
    const LockSite::Target *target;
    std::string name;
    std::vector<Cell> cells;
  };
  std::vector<Pointer> by_pointer;
  const auto class_with = [&](const std::string &key, LockClass klass) {
    const auto [found, fresh] =
        by_key.try_emplace(key, static_cast<std::uint32_t>(classes_.size()));
    if (fresh)
      classes_.push_back(std::move(klass));
    return found->second;
  };
  const auto add = [&](const LockSite &site, std::size_t i) {
    const std::string &name = site.locks[i];
    const LockSite::Target &target = site.resolved[i];
    std::vector<Cell> cells = lock_cells(site, target, points_to_);
    const std::string field = lock_field(target);
    // What a variable points to has other names, too.
    const bool direct = site.named && name.find_first_of("*>") == std::string::npos;
    if (!direct && field.empty()) {
      by_pointer.push_back({&site, &target, name, std::move(cells)});
      return;
    }
    bool many = name.find('[') != std::string::npos;
    const std::optional<Element> element =
        direct ? element_of(target, module.getDataLayout()) : std::nullopt;
    const std::string key = many && element ? fmt::format("{}+{}", name, element->second) : name;
    many = many && !element;
    const std::uint32_t klass = direct ? class_with("variable " + key, {name, many})
                                       : class_with("field " + field, {name, true});
    if (element)
      elements.try_emplace(klass, *element);
    classes_of_[site.call].insert(klass);
    add_places(klass, target);
    for (const Cell &cell : cells)
      at_cell[cell].insert(klass);
  };
  for (const llvm::Function &function : module) {
    if (function.isDeclaration() || locks_.is_wrapper(function))
      continue;
    for (const LockSite *site : locks_.sites(function)) {
      for (std::size_t i = 0; i < site->locks.size(); ++i)
        add(*site, i);
      if (site->operation == LockOperation::trylock || site->operation == LockOperation::lock)
        trylocks_[&function].push_back(site);
    }
  }
  for (const Pointer &pointer : by_pointer) {
    LockSet possible;
    const std::optional<LockPlaces> here = places_of(*pointer.target, points_to_);
    bool known = !pointer.cells.empty();
    for (const Cell &cell : pointer.cells) {
      const auto found = at_cell.find(cell);
      known = known && found != at_cell.end();
      if (found != at_cell.end())
        for (const std::uint32_t klass : found->second)
          if (const std::optional<LockPlaces> &there = places.at(klass);
              !here || !there ||
              any_of(*here, [&](const auto &place) { return there->contains(place); }))
            possible.insert(klass);
    }
    const std::string function = pointer.site->call->getFunction()->getName().str();
    const bool single = !pointer.site->named && here && here->size() == 1 &&
                        is_single(points_to_.label(here->begin()->first));
    const std::uint32_t klass =
        known && possible.count() == 1 ? possible.first()
        : single
            ? class_with(fmt::format("object {}+{}", here->begin()->first, here->begin()->second),
                         {.name = pointer.name, .many = false})
        : pointer.site->named
            ? class_with("variable " + pointer.name, {pointer.name, true})
            : class_with(
                  "pointer " + function + " " + pointer.name,
                  {.name = pointer.name,
                   .many = true,
                   .unknown = true,
                   .several = here && here->size() > 1 && all_of(*here, [&](const auto &place) {
                                return is_single(points_to_.label(place.first));
                              })});
    classes_of_[pointer.site->call].insert(klass);
    add_places(klass, *pointer.target);
    for (const Cell &cell : pointer.cells)
      at_cell[cell].insert(klass);
  }
  for (const auto &[cell, together] : at_cell)
    for (const std::uint32_t one : together)
      for (const std::uint32_t other : together)
        if (!are_apart(one, other))
          may_be_one_.insert({one, other});
  // Controls of functions that run once: by variable, or by the one object that they are in.
  for (const llvm::Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || !is_once(*call))
        continue;
      const Value *control = call->getArgOperand(0);
      const std::string name = access_path(control, 1).print();
      const auto element = element_of({control, {0}}, module.getDataLayout());
      const auto here = places_of({control, {0}}, points_to_);
      const bool known = element || (here && here->size() == 1);
      const std::string key =
          element ? fmt::format("once {}+{}", element->first->getName().str(), element->second)
          : known ? fmt::format("once object {}+{}", here->begin()->first, here->begin()->second)
                  : "once";
      once_[call] =
          class_with(key, {.name = name, .many = !known, .unknown = !known, .once = true});
    }
}

void HeldLocks::find_operations(const Module &module) {
  for (const llvm::Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const LockSite *site = locks_.at(instruction);
      if (site == nullptr)
        continue;
      const LockSet &classes = classes_of(*site);
      Effect &effect = operations_[site->call];
      effect.itself = true;
      if (site->operation == LockOperation::unlock)
        effect.released = classes;
      else if (acquires(*site))
        effect.after.may = classes;
      if (acquires(*site) && site->shared)
        effect.after.shared = classes;
      if (site->operation == LockOperation::lock)
        effect.after.must = classes;
    }
  for (const auto &[call, control] : once_)
    operations_[call].after.once.insert(control);
}

// Which lock it is, and until when it is held, is not known: it counts as any, to the function's
// end.
void HeldLocks::find_hidden(const Module &module) {
  HiddenOperations operations(module);
  const auto klass = static_cast<std::uint32_t>(classes_.size());
  for (const llvm::Function &function : module)
    if (!is_library_function(function))
      for (const Instruction &instruction : instructions(function))
        if (const auto *call = dyn_cast<CallBase>(&instruction);
            call != nullptr && operations.behind(*call) != nullptr) {
          Effect &effect = operations_[call];
          effect.after.may.insert(klass);
          effect.after.must.insert(klass);
          any_ = klass;
        }
  if (any_)
    classes_.push_back({.name = "a lock in a guard", .many = true, .unknown = true});
}

// Of variables, and of single objects; how often others may be had is not known.
void HeldLocks::find_semaphores(const Module &module) {
  using Key = std::pair<const void *, std::int64_t>;
  struct Call {
    const CallBase *call;
    SemaphoreOperation operation;
    std::optional<Key> key;
  };
  std::vector<Call> calls;
  std::map<Key, bool> binary; // whether it is begun with one everywhere
  for (const llvm::Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const auto operation = call == nullptr ? std::nullopt : semaphore_operation(*call);
      if (!operation || (is_library_function(function) && !function.getName().contains("_GLOBAL_")))
        continue;
      const Value *address = call->getArgOperand(0);
      std::optional<Key> key;
      if (const auto element = element_of({address, {0}}, module.getDataLayout()))
        key = Key{element->first, element->second};
      else if (const auto here = places_of({address, {0}}, points_to_);
               here && here->size() == 1 && is_single(points_to_.label(here->begin()->first)))
        key = Key{points_to_.label(here->begin()->first),
                  static_cast<std::int64_t>(here->begin()->second)};
      calls.push_back({call, *operation, key});
      if (key && *operation == SemaphoreOperation::begin) {
        const bool one = begins_with_one(*call);
        const auto [known, fresh] = binary.try_emplace(*key, one);
        known->second = known->second && one;
      }
    }
  std::map<Key, std::uint32_t> classes;
  for (const Call &one : calls) {
    if (!one.key || one.key->first == nullptr || one.operation == SemaphoreOperation::begin)
      continue;
    const auto begun = binary.find(*one.key);
    if (begun == binary.end() || !begun->second)
      continue;
    const auto [known, fresh] =
        classes.try_emplace(*one.key, static_cast<std::uint32_t>(classes_.size()));
    if (fresh)
      classes_.push_back({.name = access_path(one.call->getArgOperand(0), 0).print(),
                          .many = false,
                          .semaphore = true});
    Effect &effect = operations_[one.call];
    effect.itself = true;
    if (one.operation == SemaphoreOperation::post) {
      effect.released.insert(known->second);
    } else {
      effect.after.may.insert(known->second);
      effect.after.must.insert(known->second);
    }
  }
}

const LockSet &HeldLocks::classes_of(const LockSite &site) const {
  static const LockSet kNone;
  const auto found = classes_of_.find(site.call);
  return found == classes_of_.end() ? kNone : found->second;
}

// What does not change from one look at a function to the next.
struct HeldLocks::Body {
  // A branch asks whether an acquisition succeeded.
  struct Question {
    LockSet classes;
    const BasicBlock *acquired; // where it did
    bool fails;                 // whether the other side is followed
  };
  struct Inner {
    const BasicBlock *block;
    std::vector<const Effect *> effects; // of its calls
    std::vector<Question> questions;     // of its branch
    std::vector<std::size_t> next;       // successors, as the branch has them
  };
  Flags flags;
  std::vector<Inner> blocks; // in reverse postorder

  Body(const llvm::Function &function, const HeldLocks &held);

  // Each side of such a branch knows the answer. That a lock fails is a mistake of the program, and
  // such a side is not followed: false.
  static bool follow(ArrayRef<Question> questions, const BasicBlock &to, HeldState &state) {
    for (const Question &question : questions) {
      if (question.acquired != &to && !question.fails)
        return false;
      for (const std::uint32_t lock : question.classes) {
        if (question.acquired == &to && state.may.test(lock))
          state.must.insert(lock);
        else if (question.acquired != &to && !state.must.test(lock)) {
          state.may.erase(lock);
          state.shared.erase(lock);
        }
      }
    }
    return true;
  }
};

HeldLocks::Body::Body(const llvm::Function &function, const HeldLocks &held)
    : flags(function, &held.locks_) {
  llvm::DenseMap<const BasicBlock *, std::size_t> numbers;
  for (const BasicBlock *block : ReversePostOrderTraversal<const llvm::Function *>(&function)) {
    numbers[block] = blocks.size();
    blocks.push_back({block, {}, {}, {}});
  }
  const auto tried = held.trylocks_.find(&function);
  for (Inner &inner : blocks) {
    for (const Instruction &instruction : *inner.block)
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        if (const Effect *effect = held.effect_of(*call))
          inner.effects.push_back(effect);
    for (const BasicBlock *next : successors(inner.block))
      inner.next.push_back(numbers.lookup(next));
    if (tried == held.trylocks_.end() || inner.next.size() < 2)
      continue;
    for (const LockSite *site : tried->second)
      if (const BasicBlock *acquired =
              acquired_side(*site, *inner.block->getTerminator(), held.locks_))
        inner.questions.push_back(
            {held.classes_of(*site), acquired, site->operation != LockOperation::lock});
  }
}

void HeldLocks::apply(const Effect &effect, HeldState &state, LockSet *released) {
  if (!effect.released.empty()) {
    if (released != nullptr)
      released->unite(effect.released.without(state.may));
    for (LockSet *set : {&state.must, &state.may, &state.shared})
      if (!set->empty() && (effect.itself || set == &state.must))
        *set = set->without(effect.released);
  }
  state.must.unite(effect.after.must);
  state.may.unite(effect.after.may);
  state.shared.unite(effect.after.shared);
  state.once.unite(effect.after.once);
}

const HeldLocks::Effect *HeldLocks::effect_of(const CallBase &call) const {
  if (const auto operation = operations_.find(&call); operation != operations_.end())
    return &operation->second;
  const auto known = entered_.find(likely_targets(call, points_to_).data());
  return known == entered_.end() ? nullptr : &known->second;
}

HeldLocks::Effect HeldLocks::effect_of(ArrayRef<const llvm::Function *> targets) const {
  Effect all;
  bool first = true;
  for (const llvm::Function *target : targets) {
    const HeldState &returned = returns_with(*target);
    if (first) {
      all.after.must = returned.must;
      all.after.once = returned.once;
    } else {
      all.after.must.intersect(returned.must);
      all.after.once.intersect(returned.once);
    }
    first = false;
    all.after.may.unite(returned.may);
    all.after.shared.unite(returned.shared);
    if (const auto function = functions_.find(target); function != functions_.end())
      all.released.unite(function->second.effect.released);
  }
  return all;
}

// Functions, and arrays of functions that calls enter: what one does follows from what those do
// that it uses. Those that have changed make their users change, callees mostly before callers.
class HeldLocks::Propagation {
public:
  Propagation(HeldLocks &held, const Module &module) : held_(held) {
    for (const llvm::Function &function : module)
      if (!function.isDeclaration() && !held_.locks_.is_wrapper(function))
        add(function);
    for (const llvm::Function &function : module)
      number(*of_function(function));
  }

  void run() {
    while (!work_.empty()) {
      auto next = work_.lower_bound(at_); // the rest of this round first
      if (next == work_.end())
        next = work_.begin();
      at_ = *next;
      work_.erase(next);
      const Node &node = *order_[at_];
      if (node.function == nullptr ? update(node.targets) : update(*node.function))
        for (const Node *user : node.users)
          work_.insert(user->number);
    }
  }

private:
  struct Node {
    const llvm::Function *function = nullptr; // null: an array
    ArrayRef<const llvm::Function *> targets;
    bool operates = false; // on locks, itself
    std::vector<Node *> uses;
    std::vector<const Node *> users;
    std::size_t number = 0;
    bool numbered = false;
  };
  struct Looked {
    std::unique_ptr<Body> body;
    unsigned runs = 0;
  };

  Node *of_function(const llvm::Function &function) {
    Node *&node = of_function_[&function];
    if (node == nullptr)
      (node = &nodes_.emplace_back())->function = &function;
    return node;
  }

  void add(const llvm::Function &function) {
    Node &node = *of_function(function);
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr)
        continue;
      if (held_.operations_.contains(call)) {
        node.operates = true;
        continue;
      }
      const auto targets = likely_targets(*call, held_.points_to_);
      if (targets.empty())
        continue;
      Node *&array = of_array_[targets.data()];
      if (array == nullptr) {
        (array = &nodes_.emplace_back())->targets = targets;
        held_.entered_[targets.data()];
        for (const llvm::Function *target : targets) {
          array->uses.push_back(of_function(*target));
          array->uses.back()->users.push_back(array);
        }
      }
      if (array->users.empty() || array->users.back() != &node) {
        array->users.push_back(&node);
        node.uses.push_back(array);
      }
    }
  }

  // Numbers a node behind all that it uses, as far as there are no cycles.
  void number(Node &from) {
    std::vector<std::pair<Node *, std::size_t>> way;
    const auto enter = [&](Node &node) {
      if (!std::exchange(node.numbered, true))
        way.emplace_back(&node, 0);
    };
    for (enter(from); !way.empty();) {
      auto &[node, used] = way.back();
      if (used < node->uses.size()) {
        enter(*node->uses[used++]);
        continue;
      }
      node->number = order_.size();
      order_.push_back(node);
      if (node->operates)
        work_.insert(node->number);
      way.pop_back();
    }
  }

  // Whether what they do has changed.
  bool update(ArrayRef<const llvm::Function *> targets) {
    Effect &known = held_.entered_[targets.data()];
    Effect now = held_.effect_of(targets);
    if (now == known)
      return false;
    known = std::move(now);
    return true;
  }
  bool update(const llvm::Function &function) {
    Looked &looked = looked_[&function];
    if (++looked.runs > kMaxRuns)
      return false;
    if (looked.body == nullptr)
      looked.body = std::make_unique<Body>(function, held_);
    FunctionLocks &known = held_.functions_[&function];
    FunctionLocks now;
    held_.run(function, *looked.body, now);
    const bool changed = now.effect != known.effect;
    known = std::move(now);
    return changed;
  }

  HeldLocks &held_;
  std::deque<Node> nodes_;
  std::map<const llvm::Function *, Node *> of_function_;
  std::map<const llvm::Function *const *, Node *> of_array_;
  std::vector<const Node *> order_;
  std::set<std::size_t> work_; // numbers
  std::size_t at_ = 0;
  std::map<const llvm::Function *, Looked> looked_;
};

void HeldLocks::propagate(const Module &module) {
  Propagation(*this, module).run();
  for (auto &[function, locks] : functions_)
    list(*function, locks);
}

void HeldLocks::run(const llvm::Function &function, const Body &body, FunctionLocks &result) const {
  using Way = std::pair<std::size_t, Flags::Values>; // to a block
  struct Reached {
    HeldState held;
    bool waiting = true;
  };
  std::map<Way, Reached> before;
  std::vector<unsigned> ways(body.blocks.size());
  std::deque<std::map<Way, Reached>::iterator> work;
  work.push_back(
      before.emplace(Way{0, body.flags.before(function.getEntryBlock().front())}, Reached{}).first);
  while (!work.empty()) {
    auto &[way, reached] = *work.front();
    work.pop_front();
    reached.waiting = false;
    const Body::Inner &inner = body.blocks[way.first];
    HeldState state = reached.held;
    Flags::Values values = way.second;
    for (const Effect *effect : inner.effects)
      apply(*effect, state, &result.effect.released);
    if (!body.flags.empty())
      for (const Instruction &instruction : *inner.block)
        body.flags.apply(instruction, values);
    const Instruction &branch = *inner.block->getTerminator();
    for (unsigned i = 0; i < inner.next.size(); ++i) {
      std::optional<Flags::Values> there = body.flags.follow(branch, i, values);
      HeldState held = state;
      const std::size_t next = inner.next[i];
      if (!there || !Body::follow(inner.questions, *body.blocks[next].block, held))
        continue;
      Way to{next, std::move(*there)};
      auto known = before.find(to);
      if (known == before.end() && ++ways[next] > kMaxWays) {
        std::fill(to.second.begin(), to.second.end(), Flags::Value{}); // nothing known
        known = before.find(to);
      }
      if (known == before.end())
        work.push_back(before.emplace(std::move(to), Reached{std::move(held)}).first);
      else if (merge(known->second.held, held) && !std::exchange(known->second.waiting, true))
        work.push_back(known);
    }
  }
  for (const auto &[way, reached] : before) {
    const auto [known, fresh] =
        result.before.try_emplace(body.blocks[way.first].block, reached.held);
    if (!fresh)
      merge(known->second, reached.held);
  }
  bool returns = false;
  for (const Body::Inner &inner : body.blocks) {
    const auto reached = result.before.find(inner.block);
    if (reached == result.before.end() || !isa<ReturnInst>(inner.block->getTerminator()))
      continue;
    HeldState state = reached->second;
    for (const Effect *effect : inner.effects)
      apply(*effect, state, nullptr);
    if (returns)
      merge(result.effect.after, state);
    else
      result.effect.after = std::move(state);
    returns = true;
  }
  if (any_)
    for (LockSet *set : {&result.effect.after.may, &result.effect.after.must})
      set->erase(*any_);
}

void HeldLocks::list(const llvm::Function &function, FunctionLocks &result) const {
  for (const BasicBlock &block : function) {
    const auto reached = result.before.find(&block);
    if (reached == result.before.end())
      continue;
    HeldState state = reached->second;
    const auto keep = [&] {
      if (result.states.empty() || result.states.back() != state)
        result.states.push_back(state);
      return &result.states.back();
    };
    const std::size_t first = result.calls.size();
    for (const Instruction &instruction : block) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || is_marker(*call))
        continue;
      result.calls.push_back({call, keep()});
      if (const Effect *effect = effect_of(*call))
        apply(*effect, state, nullptr);
    }
    result.blocks[&block] = {first, result.calls.size() - first, keep()};
  }
  result.before.clear();
}

ArrayRef<HeldLocks::At> HeldLocks::calls(const llvm::Function &function) const {
  const auto known = functions_.find(&function);
  return known == functions_.end() ? ArrayRef<At>() : ArrayRef<At>(known->second.calls);
}

const HeldState &HeldLocks::held_at(const Instruction &instruction) const {
  static const HeldState kNone;
  const auto known = functions_.find(instruction.getFunction());
  if (known == functions_.end())
    return kNone;
  const auto reached = known->second.blocks.find(instruction.getParent());
  if (reached == known->second.blocks.end())
    return kNone;
  const Block &block = reached->second;
  const ArrayRef<At> calls = ArrayRef<At>(known->second.calls).slice(block.first, block.count);
  const auto *next =
      partition_point(calls, [&](const At &at) { return at.call->comesBefore(&instruction); });
  return next == calls.end() ? *block.end : *next->held;
}

bool HeldLocks::may_hold(const Instruction &instruction) const {
  const auto known = functions_.find(instruction.getFunction());
  if (known != functions_.end() && !known->second.blocks.contains(instruction.getParent()))
    return true; // no path leads here
  return !held_at(instruction).may.empty();
}

bool HeldLocks::may_release(const llvm::Function &function, std::uint32_t lock) const {
  const auto known = functions_.find(&function);
  return known != functions_.end() && known->second.effect.released.test(lock);
}

const HeldState &HeldLocks::returns_with(const llvm::Function &function) const {
  static const HeldState kNone;
  const auto known = functions_.find(&function);
  return known == functions_.end() ? kNone : known->second.effect.after;
}

} // namespace tandem
