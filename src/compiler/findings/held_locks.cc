// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/held_locks.h"

#include "compiler/effects/unpublished.h"
#include "compiler/sections/flags.h"
#include "compiler/sections/origin.h"
#include "compiler/sections/trylock.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

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

} // namespace

HeldLocks::HeldLocks(const Module &module, const LockCalls &locks,
                     const PointsToAnalysis &points_to)
    : locks_(locks), points_to_(points_to), classes_(module, locks, points_to) {
  find_operations(module);
  find_other_operations();
  find_trylocks(module);
  propagate(module);
}

void HeldLocks::find_operations(const Module &module) {
  for (const llvm::Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const LockSite *site = locks_.at(instruction);
      if (site == nullptr)
        continue;
      const LockSet &classes = classes_.of(*site);
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
}

void HeldLocks::find_other_operations() {
  for (const auto &[call, control] : classes_.once())
    operations_[call].after.once.insert(control);
  for (const LockClasses::SemaphoreCall &one : classes_.semaphores()) {
    Effect &effect = operations_[one.call];
    effect.itself = true;
    if (one.releases) {
      effect.released.insert(one.semaphore);
    } else {
      effect.after.may.insert(one.semaphore);
      effect.after.must.insert(one.semaphore);
    }
  }
  // Until when it is held is not known either: it counts as held to the function's end.
  for (const CallBase *call : classes_.hidden()) {
    Effect &effect = operations_[call];
    effect.after.may.insert(*classes_.any());
    effect.after.must.insert(*classes_.any());
  }
}

void HeldLocks::find_trylocks(const Module &module) {
  for (const llvm::Function &function : module)
    if (!function.isDeclaration() && !locks_.is_wrapper(function))
      for (const LockSite *site : locks_.sites(function))
        if (acquires(*site))
          trylocks_[&function].push_back(site);
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
            {held.classes_.of(*site), acquired, site->operation != LockOperation::lock});
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
  if (const std::optional<std::uint32_t> any = classes_.any())
    for (LockSet *set : {&result.effect.after.may, &result.effect.after.must})
      set->erase(*any);
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
