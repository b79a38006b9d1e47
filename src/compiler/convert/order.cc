// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/order.h"

#include "compiler/convert/sites.h"
#include "compiler/convert/waits.h"
#include "compiler/effects/effects.h"
#include "compiler/findings/held_locks.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/blocks.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/converted_operations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

#include <deque>
#include <map>

namespace tandem {
namespace {

using namespace llvm;

// Functions that wait for what another thread does.
constexpr StringRef kWaits[] = {"pthread_join", "thrd_join", "sem_wait", "pthread_barrier_wait"};

bool waits_for_thread(const CallBase &call) {
  const llvm::Function *callee = called_function(call);
  if (sleep_at(call) != nullptr)
    return true;
  return callee != nullptr && is_contained(kWaits, callee->getName());
}

// For the end of a region that holds a converted lock really.
bool waits_for_region(const CallBase &call) {
  const llvm::Function *callee = called_function(call);
  return callee != nullptr && callee->getName() == kHeldWait;
}

bool begins_section(const CallBase &call) {
  const llvm::Function *callee = called_function(call);
  return callee != nullptr && callee->getName().starts_with(kBlockEnter);
}

class Order {
public:
  Order(const Module &module, const BlocksInside &inside, const LockCalls &calls,
        const PointsToAnalysis &points_to, const ConversionFile &file, bool outermost)
      : module_(module), inside_(inside), calls_(calls), points_to_(points_to), file_(file),
        outermost_(outermost), held_(module, calls, points_to) {}

  Result<std::vector<CallBase *>> check() {
    find_acquired();
    for (const Function &function : module_) {
      if (function.isDeclaration() || calls_.is_wrapper(function))
        continue;
      std::map<const CallBase *, const HeldState *> held;
      for (const HeldLocks::At &at : held_.calls(function))
        held[at.call] = at.held;
      for (const Instruction &instruction : instructions(function))
        if (const auto *call = dyn_cast<CallBase>(&instruction)) {
          // Markers have no entry; the operation behind one does.
          const auto *next = dyn_cast_or_null<CallBase>(call->getNextNode());
          const auto known = held.find(begins_section(*call) ? next : call);
          if (Status good = add(*call, known == held.end() ? HeldState{} : *known->second); !good)
            return good.error();
        }
    }
    if (Status good = check_cycles(); !good)
      return good.error();
    return std::move(nested_);
  }

private:
  using Node = std::uint32_t; // a class of real locks, or one of the next two
  static constexpr Node kSection = ~0U;
  static constexpr Node kCondition = ~1U; // any condition or thread
  // A region that holds a converted lock really. Who does waits for no more than in the original,
  // so it is in no cycle that was not there; only sections must not wait for it.
  static constexpr Node kRegion = ~2U;
  struct Edge {
    const CallBase *at;          // where the second is waited for, or the call that leads there
    const CallBase *acquisition; // of the second
  };
  // What is waited for, with a place.
  using Acquired = std::map<Node, const CallBase *>;

  // What the call waits for itself.
  [[nodiscard]] Acquired own(const CallBase &call) const {
    Acquired result;
    if (begins_section(call))
      result.emplace(kSection, &call);
    if (waits_for_thread(call))
      result.emplace(kCondition, &call);
    if (waits_for_region(call))
      result.emplace(kRegion, &call);
    const LockSite *site = calls_.at(call);
    if (site == nullptr)
      return result;
    if (changes_word(*site))
      result.emplace(kSection, &call);
    if (site->operation == LockOperation::wait)
      result.emplace(kCondition, &call);
    if (site->operation == LockOperation::lock || site->operation == LockOperation::wait)
      for (const Node node : held_.classes_of(*site))
        result.emplace(node, &call);
    return result;
  }

  // Whether the operation is a section that changes the lock's word, also in a wrapper.
  [[nodiscard]] bool changes_word(const LockSite &site) const {
    const LockSite *inner = &site;
    while (inner->wrapper != nullptr) {
      const std::vector<const LockSite *> sites = calls_.sites(*inner->wrapper);
      if (sites.empty())
        return false;
      inner = sites.front();
    }
    const Function *callee = called_function(*inner->call);
    return callee != nullptr && callee->getName().starts_with(kWordPrefix);
  }

  // By function: itself, or through what it calls.
  void find_acquired() {
    std::map<const Function *, std::set<const Function *>> callers;
    std::deque<const Function *> work;
    for (const Function &function : module_) {
      if (function.isDeclaration() || calls_.is_wrapper(function))
        continue;
      Acquired &all = acquired_[&function];
      for (const Instruction &instruction : instructions(function)) {
        const auto *call = dyn_cast<CallBase>(&instruction);
        if (call == nullptr)
          continue;
        all.merge(own(*call));
        if (calls_.at(*call) == nullptr)
          for (const Function *target : points_to_.targets(*call))
            callers[target].insert(&function);
      }
      work.push_back(&function);
    }
    while (!work.empty()) {
      const Function *function = work.front();
      work.pop_front();
      for (const Function *caller : callers[function]) {
        Acquired &into = acquired_[caller];
        const std::size_t before = into.size();
        into.insert(acquired_[function].begin(), acquired_[function].end());
        if (into.size() != before)
          work.push_back(caller);
      }
    }
  }

  Status add(const CallBase &call, const HeldState &held) {
    Acquired waits = own(call);
    const LockSite *site = calls_.at(call);
    if (site == nullptr)
      for (const Function *target : points_to_.targets(call))
        if (const auto found = acquired_.find(target); found != acquired_.end())
          waits.insert(found->second.begin(), found->second.end());
    LockSet before = held.may;
    if (site != nullptr && site->operation == LockOperation::wait)
      for (const Node node : held_.classes_of(*site)) // which it gives up
        before.erase(node);
    if (inside_.contains(call.getParent())) {
      waits.erase(kSection); // it is in one
      before.insert(kSection);
    }
    for (const Node first : before)
      for (const auto &[second, acquisition] : waits) {
        if (second == kRegion) {
          if (first == kSection && !outermost_)
            return waits_inside(*acquisition, reached(call, *acquisition));
          if (first == kSection && !is_contained(nested_, &call))
            nested_.push_back(const_cast<CallBase *>(&call));
          continue;
        }
        if (second == kCondition && first == kSection && sleep_at(*acquisition) != nullptr)
          return Error{
              fmt::format("{}: a thread waits here {}, which may be inside of a section{}{}: "
                          "a section cannot give up the middle of itself; keep the locks "
                          "of that section",
                          source_place(*acquisition), describe_wait(*acquisition), of_lock(call),
                          reached(call, *acquisition))};
        if (second == kCondition && first == kSection)
          return Error{fmt::format("{}: a section{} may wait here for another thread, which may "
                                   "wait for the section's end{}; keep the lock",
                                   source_place(*acquisition), of_lock(call),
                                   reached(call, *acquisition))};
        if (second != first)
          edges_[first].try_emplace(second, Edge{&call, acquisition});
      }
    return Unit{};
  }

  static std::string reached(const CallBase &call, const CallBase &acquisition) {
    return &call == &acquisition
               ? ""
               : fmt::format(" (called from {} at {})", source_name(*call.getFunction()),
                             source_place(call));
  }

  // The lock of a section that `inside` is in. Empty: the section begins in another function.
  [[nodiscard]] std::string of_lock(const CallBase &inside) const {
    const auto lock = converted_lock_before(inside);
    return lock ? fmt::format(" of '{}'", fmt::join(file_.sections[*lock].names, "' or '")) : "";
  }

  // A way from a section through real locks to a section.
  [[nodiscard]] Status check_cycles() const {
    std::map<Node, Node> from{{kSection, kSection}};
    std::deque<Node> work{kSection};
    while (!work.empty()) {
      const Node node = work.front();
      work.pop_front();
      const auto found = edges_.find(node);
      if (found == edges_.end())
        continue;
      for (const auto &[next, edge] : found->second) {
        if (next == kSection || next == kCondition)
          return cycle(from, node, next);
        if (from.try_emplace(next, node).second)
          work.push_back(next);
      }
    }
    return Unit{};
  }

  [[nodiscard]] std::string name(Node node) const {
    if (node == kSection)
      return "a section";
    if (node == kCondition)
      return "another thread";
    return "'" + held_.classes()[node].name + "'";
  }

  [[nodiscard]] Error cycle(const std::map<Node, Node> &from, Node last, Node end) const {
    std::vector<Node> way{end, last};
    while (way.back() != kSection)
      way.push_back(from.at(way.back()));
    std::string text;
    const CallBase *first = nullptr;
    for (std::size_t i = way.size() - 1; i > 0; --i) {
      const Edge &edge = edges_.at(way[i]).at(way[i - 1]);
      first = first == nullptr ? edge.acquisition : first;
      text += fmt::format(
          "{}{} waits for {} at {}{}", text.empty() ? "" : ", ",
          way[i] == kSection ? name(way[i]) + of_lock(*edge.at) : "who holds " + name(way[i]),
          name(way[i - 1]), source_place(*edge.acquisition), reached(*edge.at, *edge.acquisition));
    }
    return Error{fmt::format("{}: {}: they may wait for each other for ever; make the real lock a "
                             "section, or keep more locks",
                             source_place(*first), text)};
  }

  const Module &module_;
  const BlocksInside &inside_;
  const LockCalls &calls_;
  const PointsToAnalysis &points_to_;
  const ConversionFile &file_;
  const bool outermost_;
  const HeldLocks held_;
  std::vector<CallBase *> nested_;
  std::map<const Function *, Acquired> acquired_;
  std::map<Node, std::map<Node, Edge>> edges_;
};

} // namespace

void trap_waits(Function &function, const LockCalls &calls, const BlocksInside &inside) {
  std::vector<CallBase *> waits;
  for (BasicBlock &block : function) {
    if (!inside.contains(&block))
      continue;
    for (Instruction &instruction : block) {
      auto *call = dyn_cast<CallBase>(&instruction);
      const LockSite *site = call == nullptr ? nullptr : calls.at(*call);
      if (call != nullptr && (waits_for_thread(*call) ||
                              (site != nullptr && (site->operation == LockOperation::lock ||
                                                   site->operation == LockOperation::wait)))) {
        waits.push_back(call);
        break; // nothing behind it is reached
      }
    }
  }
  for (CallBase *call : waits) {
    IRBuilder<> builder(call);
    builder.CreateIntrinsic(Intrinsic::trap, {}, {});
    changeToUnreachable(call);
  }
  removeUnreachableBlocks(function);
}

Error waits_inside(const CallBase &acquisition, std::string_view reached) {
  return Error{fmt::format("{}: a section may acquire here a lock of which [[lock-region]] keeps "
                           "regions real, and cannot wait for these{}; keep that lock, or "
                           "say with outermost that this is not reached",
                           source_place(acquisition), reached)};
}

Result<std::vector<CallBase *>> check_order(Module &module, const BlocksInside &inside,
                                            const LockCalls &calls,
                                            const PointsToAnalysis &points_to,
                                            const ConversionFile &file, bool outermost) {
  return Order(module, inside, calls, points_to, file, outermost).check();
}

} // namespace tandem
