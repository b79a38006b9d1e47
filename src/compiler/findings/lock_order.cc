// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lock-order: locks that different paths acquire in different orders, so that threads on these
// paths can wait for each other for ever. An order A before B is a place where B is acquired while
// A is held on every path of the function that holds A or called the one that acquires B. A trylock
// does not wait, so nothing comes before it. Calls by pointer with many targets are not followed. A
// cycle of orders is reported unless a lock that is held around all of them keeps the threads
// apart, or no two threads run them at once.
#include "compiler/effects/unpublished.h"
#include "compiler/findings/comparisons.h"
#include "compiler/findings/lock_address.h"
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace tandem {
namespace {

using namespace llvm;

// One place where `second` is acquired while `first` is held.
struct Order {
  std::vector<const CallBase *> chain; // calls from where `first` is held to `second`'s acquisition
  LockSet guards;                      // held as well, on every such path
  std::vector<std::uint32_t> entries;  // whose threads run any of these paths
};
using Orders = std::map<std::pair<std::uint32_t, std::uint32_t>, Order>;

bool waits_for(const LockSite &site) {
  return site.operation == LockOperation::lock || site.operation == LockOperation::wait;
}

// The nearest call before `at` that acquires the lock, in the same function; or null.
const CallBase *acquisition_before(const CallBase &at, std::uint32_t lock, const AnalysisView &view,
                                   const HeldLocks &held) {
  const auto acquires = [&](const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr || is_marker(instruction))
      return false;
    if (const LockSite *site = view.locks.at(instruction))
      return (site->operation == LockOperation::lock ||
              site->operation == LockOperation::trylock) &&
             held.classes_of(*site).test(lock);
    return any_of(likely_targets(*call, view.points_to), [&](const Function *target) {
      return held.returns_with(*target).may.test(lock);
    });
  };
  SmallPtrSet<const BasicBlock *, 16> seen;
  std::deque<const Instruction *> work{at.getPrevNode()};
  if (work.front() == nullptr)
    work = {};
  const auto add_before = [&](const BasicBlock &block) {
    for (const BasicBlock *before : predecessors(&block))
      if (seen.insert(before).second)
        work.push_back(before->getTerminator());
  };
  if (work.empty())
    add_before(*at.getParent());
  while (!work.empty()) {
    const Instruction *begin = work.front();
    work.pop_front();
    for (const Instruction *instruction = begin; instruction != nullptr;
         instruction = instruction->getPrevNode())
      if (acquires(*instruction))
        return cast<CallBase>(instruction);
    add_before(*begin->getParent());
  }
  return nullptr;
}

// The variables, arguments and globals that a value is computed from.
void add_roots(const Value *value, SmallPtrSetImpl<const Value *> &roots, unsigned depth = 12) {
  if (isa<AllocaInst>(value) || isa<Argument>(value) || isa<GlobalVariable>(value)) {
    roots.insert(value);
    return;
  }
  const auto *user = dyn_cast<User>(value);
  if (user == nullptr || depth == 0)
    return;
  for (const Use &operand : user->operands())
    add_roots(operand.get(), roots, depth - 1);
}

SmallPtrSet<const Value *, 4> roots_of(const Value &value) {
  SmallPtrSet<const Value *, 4> roots;
  add_roots(&value, roots);
  return roots;
}

SmallPtrSet<const Value *, 4> roots_of(const LockSite &site) {
  SmallPtrSet<const Value *, 4> roots;
  for (const Value *operand : lock_operands(site))
    add_roots(operand, roots);
  return roots;
}

// Whether the second lock is reached through the object of the first: hand over hand along a list,
// or from a parent to its child.
bool follows_links(const LockSite &first, const LockSite &second) {
  const SmallPtrSet<const Value *, 4> a = roots_of(first);
  const SmallPtrSet<const Value *, 4> b = roots_of(second);
  for (const Value *root : b)
    if (!a.contains(root)) {
      const auto *variable = dyn_cast<AllocaInst>(root);
      if (variable == nullptr)
        return false;
      for (const User *user : variable->users())
        if (const auto *store = dyn_cast<StoreInst>(user);
            store != nullptr && store->getPointerOperand() == variable) {
          SmallPtrSet<const Value *, 4> stored;
          add_roots(store->getValueOperand(), stored);
          if (any_of(a, [&](const Value *held) { return stored.contains(held); }))
            return true;
        }
      return false;
    }
  return first.locks != second.locks; // `node->lock` and `node->next->lock`
}

using Roots = SmallPtrSet<const Value *, 4>;

// The same, and what the variables among them are assigned from: `first` of `first = from < to ?
// from : to` comes from both.
Roots origins_of(const Roots &roots) {
  Roots origins;
  SmallVector<const Value *, 8> work(roots.begin(), roots.end());
  while (!work.empty()) {
    const Value *root = work.pop_back_val();
    if (!origins.insert(root).second || !isa<AllocaInst>(root))
      continue;
    SmallVector<const Value *, 8> addresses{root}; // of the variable, and of parts of it
    while (!addresses.empty()) {
      const Value *address = addresses.pop_back_val();
      for (const User *user : address->users()) {
        const auto *store = dyn_cast<StoreInst>(user);
        if (isa<GetElementPtrInst>(user)) {
          addresses.push_back(user);
        } else if (store != nullptr && store->getPointerOperand() == address) {
          const Roots stored = roots_of(*store->getValueOperand());
          work.append(stored.begin(), stored.end());
        }
      }
    }
  }
  return origins;
}

// Whether which of two locks comes first was asked before an instruction: by a comparison of what
// they are computed from. Of what both are computed from, it compares two: `from` and `to` of
// `low = from < to ? from : to, high = from < to ? to : from`.
bool compared_before(const Roots &first, const Roots &second, const Instruction &at) {
  const Roots a = origins_of(first);
  const Roots b = origins_of(second);
  const auto are_compared = [&](const Value *one, const Value *other) {
    return one != other && a.contains(one) && b.contains(other) &&
           b.contains(one) == a.contains(other);
  };
  const Function &function = *at.getFunction();
  const DominatorTree dominators(const_cast<Function &>(function));
  for (const BasicBlock &block : function)
    for (const Instruction &instruction : block) {
      const auto pairs = compared_values(instruction);
      if (pairs.empty() || !dominators.dominates(&instruction, &at))
        continue;
      for (const auto &[value, with] : pairs) {
        const Roots left = origins_of(roots_of(*value));
        const Roots right = origins_of(roots_of(*with));
        if (any_of(left, [&](const Value *one) {
              return any_of(right, [&](const Value *other) {
                return are_compared(one, other) || are_compared(other, one);
              });
            }))
          return true;
      }
    }
  return false;
}

// Whether a value is computed from parameters of its function alone.
bool is_of_parameters(const SmallPtrSetImpl<const Value *> &roots) {
  return !roots.empty() && all_of(roots, [](const Value *root) {
    const StoreInst *store = only_store(*root);
    return isa<Argument>(root) ||
           (isa<AllocaInst>(root) && store != nullptr && isa<Argument>(store->getValueOperand()));
  });
}

// Whether a function holds the lock of an object that it was given and calls, for another one that
// it was given and that it does not compare first, what acquires the lock of that: its callers
// decide about the order.
bool is_by_given_order(const LockSite &held, const CallBase &call, const LockSite &inner) {
  if (called_function(call) != inner.call->getFunction())
    return false;
  SmallPtrSet<const Value *, 4> second;
  for (const Value *operand : lock_operands(inner)) {
    const auto origin = origin_of(operand, call.getModule()->getDataLayout());
    if (!origin || origin->offsets.size() != 1 || origin->argument >= call.arg_size())
      return false;
    add_roots(call.getArgOperand(origin->argument), second);
  }
  const SmallPtrSet<const Value *, 4> first = roots_of(held);
  return is_of_parameters(first) && is_of_parameters(second) &&
         none_of(first, [&](const Value *root) { return second.contains(root); }) &&
         !compared_before(first, second, call);
}

class OrderFinder {
public:
  OrderFinder(const AnalysisView &view, const HeldLocks &held) : view_(view), held_(held) {
    for (std::uint32_t lock = 0; lock < held.classes().size(); ++lock)
      if (held.classes()[lock].many)
        many_.insert(lock);
    find_acquirers();
  }

  Orders find() {
    for (std::uint32_t lock = 0; lock < held_.classes().size(); ++lock)
      if (!held_.classes()[lock].unknown)
        find_after(lock);
    return std::move(orders_);
  }

private:
  // How a function is entered with a lock held.
  struct Step {
    const CallBase *call;   // the first that was found
    const Function *caller; // that has a step of its own; null: holds the lock itself
    LockSet guards;         // held as well, by each call
    // Calls that name the function, by those that hold the lock themselves.
    SmallVector<const CallBase *, 1> direct;
  };
  using Steps = std::map<const Function *, Step>;

  // Functions that acquire a lock, or call one that does.
  void find_acquirers() {
    using Functions = std::vector<const Function *>;
    std::map<const Function *const *, Functions> callers_of;      // by array of targets
    std::map<const Function *, std::vector<Functions *>> callers; // by array that has it
    std::vector<const Function *> work;
    for (const Function &function : view_.module)
      for (const HeldLocks::At &at : held_.calls(function)) {
        if (const LockSite *site = view_.locks.at(*at.call)) {
          if (waits_for(*site) && acquirers_.insert(&function).second)
            work.push_back(&function);
        } else {
          const auto targets = few_targets(*at.call, view_.points_to);
          const auto [array, fresh] = callers_of.try_emplace(targets.data());
          array->second.push_back(&function);
          for (const Function *target : fresh ? targets : ArrayRef<const Function *>())
            callers[target].push_back(&array->second);
        }
        for (const std::uint32_t lock : at.held->must)
          holders_[lock].push_back(&at);
      }
    while (!work.empty()) {
      const Function *function = work.back();
      work.pop_back();
      for (Functions *of_array : callers[function]) {
        for (const Function *caller : *of_array)
          if (acquirers_.insert(caller).second)
            work.push_back(caller);
        of_array->clear();
      }
    }
  }

  void find_after(std::uint32_t lock) {
    Steps steps;
    std::deque<const Function *> work;
    std::map<const Function *const *, LockSet> arrays; // that are entered, and the guards then
    const auto visit = [&](const HeldLocks::At &at, const Function *caller, const LockSet &outer) {
      LockSet guards = outer;
      guards.unite(at.held->must);
      if (const LockSite *site = view_.locks.at(*at.call)) {
        if (waits_for(*site))
          for (const std::uint32_t second : held_.classes_of(*site))
            add({lock, second}, *site, caller, steps, guards);
        return;
      }
      const ArrayRef<const Function *> targets = few_targets(*at.call, view_.points_to);
      const bool direct = caller == nullptr && called_function(*at.call) != nullptr;
      const auto [array, first] = arrays.try_emplace(targets.data(), guards);
      if (!first && !array->second.intersect(guards) && !direct)
        return;
      for (const Function *target : targets) {
        if (!acquirers_.contains(target) || held_.may_release(*target, lock))
          continue;
        const auto [step, fresh] = steps.try_emplace(target, Step{at.call, caller, guards, {}});
        if (direct)
          step->second.direct.push_back(at.call);
        if (fresh || step->second.guards.intersect(guards))
          work.push_back(target);
      }
    };
    for (const HeldLocks::At *at : holders_[lock])
      visit(*at, nullptr, {});
    while (!work.empty()) {
      const Function *function = work.front();
      work.pop_front();
      const LockSet guards = steps.at(function).guards;
      for (const HeldLocks::At &at : held_.calls(*function))
        visit(at, function, guards);
    }
  }

  void add(std::pair<std::uint32_t, std::uint32_t> pair, const LockSite &site,
           const Function *caller, const Steps &steps, LockSet guards) {
    const auto [lock, second] = pair;
    const std::vector<std::uint32_t> &entries = view_.sharing.entries_of(*site.call);
    if (held_.classes()[second].unknown || entries.empty()) // before the first thread starts
      return;
    std::vector<const CallBase *> chain{site.call};
    if (second == lock && site.operation == LockOperation::wait)
      return;
    if (second == lock && held_.classes()[lock].many) {
      chain = way_to_another(lock, site, caller == nullptr ? nullptr : &steps.at(caller));
      if (chain.empty())
        return;
    } else {
      for (const Function *at = caller; at != nullptr;) {
        const Step &step = steps.at(at);
        chain.push_back(step.call);
        at = step.caller;
      }
      std::reverse(chain.begin(), chain.end());
    }
    guards.erase(lock);
    guards.erase(second);
    guards = guards.without(many_);
    const auto [known, fresh] = orders_.try_emplace(pair);
    Order &order = known->second;
    order.entries.insert(order.entries.end(), entries.begin(), entries.end());
    std::sort(order.entries.begin(), order.entries.end());
    order.entries.erase(std::unique(order.entries.begin(), order.entries.end()),
                        order.entries.end());
    if (!fresh) {
      order.guards.intersect(guards);
      return;
    }
    order.guards = std::move(guards);
    order.chain = std::move(chain);
  }

  // How two locks of one class can be a deadlock: the calls to the second acquisition. Two fields
  // of objects count only where one function acquires both, by two addresses that it does not
  // compare first, or one itself and the other by a call with an object that it was given, too:
  // elsewhere they are, more often than not, two objects with an order of their own. Empty: they
  // cannot. `step`: the calls; null: there is none.
  std::vector<const CallBase *> way_to_another(std::uint32_t lock, const LockSite &site,
                                               const Step *step) {
    const auto held_before = [&](const CallBase &call) {
      const CallBase *first = acquisition_before(call, lock, view_, held_);
      return first == nullptr ? nullptr : view_.locks.at(*first);
    };
    if (step == nullptr) {
      const LockSite *held = held_before(*site.call);
      if (held != nullptr && !follows_links(*held, site) &&
          !compared_before(roots_of(*held), roots_of(site), *site.call))
        return {site.call};
      return {};
    }
    for (const CallBase *call : step->direct)
      if (const LockSite *held = held_before(*call);
          held != nullptr && is_by_given_order(*held, *call, site))
        return {call, site.call};
    return {};
  }

  const AnalysisView &view_;
  const HeldLocks &held_;
  LockSet many_; // classes of several locks
  SmallPtrSet<const Function *, 32> acquirers_;
  std::map<std::uint32_t, std::vector<const HeldLocks::At *>> holders_;
  Orders orders_;
};

using Cycle = std::vector<std::uint32_t>; // of classes; each before the next,
                                          // the last before the first

class CycleFinder {
public:
  explicit CycleFinder(const Orders &orders) {
    for (const auto &[pair, order] : orders)
      next_[pair.first].insert(pair.second);
  }

  // The shortest cycle through every order, each set of locks once; none that has a shorter one
  // within.
  std::vector<Cycle> find() const {
    std::map<std::set<std::uint32_t>, Cycle> found;
    for (const auto &[first, seconds] : next_)
      for (const std::uint32_t second : seconds)
        if (const Cycle cycle = shortest(first, second); !cycle.empty())
          found.try_emplace(std::set<std::uint32_t>(cycle.begin(), cycle.end()), cycle);
    std::vector<Cycle> cycles;
    for (const auto &[locks, cycle] : found)
      if (none_of(found, [&](const auto &other) {
            return other.first.size() < locks.size() && other.first.size() > 1 &&
                   std::includes(locks.begin(), locks.end(), other.first.begin(),
                                 other.first.end());
          }))
        cycles.push_back(cycle);
    return cycles;
  }

private:
  Cycle shortest(std::uint32_t first, std::uint32_t second) const {
    std::map<std::uint32_t, std::uint32_t> before{{second, first}};
    std::deque<std::uint32_t> work{second};
    while (!work.empty()) {
      const std::uint32_t at = work.front();
      work.pop_front();
      if (at == first) {
        Cycle cycle{first};
        for (std::uint32_t step = first == second ? first : before.at(first); step != first;
             step = before.at(step))
          cycle.push_back(step);
        std::reverse(cycle.begin() + 1, cycle.end());
        return cycle;
      }
      const auto found = next_.find(at);
      if (found == next_.end())
        continue;
      for (const std::uint32_t next : found->second)
        if (before.try_emplace(next, at).second)
          work.push_back(next);
    }
    return {};
  }

  std::map<std::uint32_t, std::set<std::uint32_t>> next_;
};

class Reporter {
public:
  Reporter(const AnalysisView &view, const HeldLocks &held, const Orders &orders)
      : view_(view), held_(held), orders_(orders) {}

  void report(const Cycle &cycle, Findings &findings) const {
    std::vector<const Order *> orders;
    for (std::size_t i = 0; i < cycle.size(); ++i)
      orders.push_back(&orders_.at({cycle[i], cycle[(i + 1) % cycle.size()]}));
    if (!may_meet(orders))
      return;
    ReportFinding finding =
        finding_at("lock-order", place_of(*orders.front()->chain.back()), message(cycle));
    for (std::size_t i = 0; i < cycle.size(); ++i)
      add_notes(cycle[i], cycle[(i + 1) % cycle.size()], *orders[i], finding);
    findings.push_back(std::move(finding));
  }

private:
  // Whether threads can be on all the paths at the same time.
  bool may_meet(const std::vector<const Order *> &orders) const {
    LockSet guards = orders.front()->guards;
    for (std::size_t i = 0; i < orders.size(); ++i) {
      const Order &next = *orders[(i + 1) % orders.size()];
      guards.intersect(next.guards);
      if (orders.size() > 1 && !view_.sharing.may_overlap(orders[i]->entries, next.entries))
        return false;
    }
    return guards.empty();
  }

  std::string message(const Cycle &cycle) const {
    const std::string &first = held_.classes()[cycle.front()].name;
    if (cycle.size() == 1)
      return held_.classes()[cycle.front()].many
                 ? fmt::format("a second lock of '{}' is acquired while one is "
                               "held: two threads "
                               "that do so in different orders wait for each "
                               "other for ever",
                               first)
                 : fmt::format("'{}' is acquired while it is held: unless the "
                               "lock is recursive, "
                               "the thread waits for itself for ever",
                               first);
    std::string names;
    for (std::size_t i = 0; i < cycle.size(); ++i)
      names += fmt::format("{}'{}'",
                           i == 0                  ? ""
                           : i + 1 == cycle.size() ? " and "
                                                   : ", ",
                           held_.classes()[cycle[i]].name);
    return fmt::format("{} are acquired in different orders: threads that hold "
                       "one each wait for "
                       "each other for ever",
                       names);
  }

  void add_notes(std::uint32_t first, std::uint32_t second, const Order &order,
                 ReportFinding &finding) const {
    const CallBase &begin = *order.chain.front();
    if (const CallBase *acquisition = acquisition_before(begin, first, view_, held_))
      finding.notes.push_back(
          note_at(place_of(*acquisition),
                  fmt::format("'{}' is acquired here, in '{}'", held_.classes()[first].name,
                              shown_name(*begin.getFunction()))));
    for (std::size_t i = 0; i + 1 < order.chain.size(); ++i)
      if (!is_library_function(*order.chain[i]->getFunction()))
        finding.notes.push_back(
            note_at(place_of(*order.chain[i]),
                    fmt::format("'{}' calls '{}' here", shown_name(*order.chain[i]->getFunction()),
                                shown_name(*order.chain[i + 1]->getFunction()))));
    finding.notes.push_back(
        note_at(place_of(*order.chain.back()),
                fmt::format("'{}' is acquired here while '{}' is held",
                            held_.classes()[second].name, held_.classes()[first].name)));
  }

  const AnalysisView &view_;
  const HeldLocks &held_;
  const Orders &orders_;
};

} // namespace

void find_lock_orders(const AnalysisView &view, const HeldLocks &held, Findings &findings) {
  const Orders orders = OrderFinder(view, held).find();
  const Reporter reporter(view, held, orders);
  for (const Cycle &cycle : CycleFinder(orders).find())
    reporter.report(cycle, findings);
}

} // namespace tandem
