// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races that no section shows: a location that threads touch at the same time, one of them writing,
// under locks of which none is common (different-locks), or without any (unguarded-access). Each
// function is looked at once for each thread that runs it and each set of locks that it is called
// with. What rests on a guess about memory (two pointers of one type, elements of an array, what
// a thread was handed when it was created) is a possible-race, as are atomic and volatile accesses.
// One finding for each location, at the better of its accesses.
#include "compiler/effects/unpublished.h"
#include "compiler/findings/access.h"
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace tandem {
namespace {

using namespace llvm;

// Sets of locks that one thread comes to one function with; with more, none is told apart.
constexpr std::size_t kMostContexts = 8;
// Pairs of accesses that are looked at in one place of memory, and threads that are told apart.
// What a large program has in one place is merged by the analysis, and no evidence.
constexpr std::size_t kMostPairs = 40000;
constexpr std::size_t kMostEntries = 48;

// Locks that a program holds at once, as it is written.
constexpr std::size_t kFewLocks = 2;

using SetId = std::uint32_t;

class RaceFinder {
public:
  RaceFinder(const AnalysisView &view, const HeldLocks &held, Phases &phases, Findings &findings)
      : view_(view), held_(held), phases_(phases), findings_(findings),
        kinds_(view.module.getDataLayout()) {
    for (const Section &section : view.sections)
      if (section.kind != SectionKind::lock_region)
        marked_.insert(section.function);
  }

  void find() {
    const std::vector<Entry> &entries = view_.sharing.entries();
    const bool threads = any_of(entries, [](const Entry &entry) {
      return entry.kind == EntryKind::thread || entry.kind == EntryKind::signal_handler;
    });
    if (!threads || entries.size() > kMostEntries)
      return;
    const Function *barrier = view_.module.getFunction("pthread_barrier_wait");
    has_barriers_ = barrier != nullptr && !barrier->use_empty();
    find_contexts();
    for (const auto &[function, contexts] : contexts_)
      for (const Instruction &instruction : instructions(*function))
        visit(instruction, contexts);
    for (const auto &[node, touches] : touches_)
      look_at(touches);
    // One finding for a location: what a section shows of it says more.
    std::vector<std::string> shown;
    for (const ReportFinding &finding : findings_)
      if (finding.rule == "unprotected-access")
        shown.push_back(finding.message);
    std::set<std::pair<std::string, std::string>> reported; // by another name
    for (const auto &[place, found] : found_) {
      const std::string begin = fmt::format("'{}' is ", place.first);
      if (any_of(shown,
                 [&](const std::string &text) { return StringRef(text).starts_with(begin); }))
        continue;
      auto places = std::pair(place_of(*found.one.instruction).print(),
                              place_of(*found.other.instruction).print());
      if (places.first > places.second)
        std::swap(places.first, places.second);
      if (reported.insert(std::move(places)).second)
        report(found);
    }
  }

private:
  struct Context {
    std::uint32_t entry;
    SetId locks;
    auto operator<=>(const Context &) const = default;
  };
  struct Touch {
    const Instruction *instruction;
    Access access;
    AccessKinds::Kind kind;
    Context context;
    SetId certain;       // the locks that the function holds on every path, and its callers' ones
    std::uint64_t begin; // in the node
    std::uint64_t end;
  };
  struct Pair {
    Touch one;
    Touch other;
    bool sure = false;
    bool on_some_paths = false; // the lock that would exclude them is held
    [[nodiscard]] auto rank() const {
      return std::tuple(!sure, on_some_paths, !(one.access.writes && other.access.writes));
    }
  };

  SetId set_id(LockSet set) {
    const auto [known, fresh] = set_ids_.try_emplace(std::move(set), sets_.size());
    if (fresh)
      sets_.push_back(&known->first);
    return known->second;
  }

  // The set before a call, with what the caller held.
  SetId with(SetId outer, SetId inner) {
    if (sets_[inner]->empty() || inner == outer)
      return outer;
    const auto [known, fresh] = unions_.try_emplace({outer, inner}, 0);
    if (fresh) {
      LockSet both = *sets_[outer];
      both.insert(sets_[inner]->begin(), sets_[inner]->end());
      known->second = set_id(std::move(both));
    }
    return known->second;
  }

  struct Step {
    const CallBase *call;
    SetId held; // by the function itself
    ArrayRef<const Function *> targets;
  };
  const std::vector<Step> &steps(const Function &function) {
    const auto [known, fresh] = steps_.try_emplace(&function);
    if (!fresh)
      return known->second;
    DenseMap<const CallBase *, SetId> held;
    for (const HeldLocks::At &at : held_.calls(function))
      if (!at.held.may.empty())
        held[at.call] = set_id(at.held.may);
    std::set<std::pair<const Function *const *, SetId>> seen;
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || view_.locks.at(instruction) != nullptr || is_once(*call) ||
          view_.sharing.entries_of(instruction).empty())
        continue;
      const auto targets = likely_targets(*call, view_.points_to);
      const SetId locks = held.lookup(call); // 0: none
      if (!targets.empty() && seen.emplace(targets.data(), locks).second)
        known->second.push_back({call, locks, targets});
    }
    return known->second;
  }

  static bool is_once(const CallBase &call) {
    const Function *callee = called_function(call);
    return callee != nullptr && callee->isDeclaration() &&
           (callee->getName() == "pthread_once" || callee->getName() == "call_once");
  }

  void find_contexts() {
    set_id({});
    std::deque<std::pair<const Function *, Context>> work;
    const auto add = [&](const Function &function, Context context) {
      std::set<Context> &known = contexts_[&function];
      if (known.contains(context))
        return;
      const auto of_entry =
          count_if(known, [&](const Context &other) { return other.entry == context.entry; });
      if (static_cast<std::size_t>(of_entry) >= kMostContexts) // the union: nothing is said of it
        return;
      known.insert(context);
      work.emplace_back(&function, context);
    };
    const std::vector<Entry> &entries = view_.sharing.entries();
    for (std::uint32_t entry = 0; entry < entries.size(); ++entry)
      if (entries[entry].function != nullptr)
        add(*entries[entry].function, {entry, 0});
    while (!work.empty()) {
      const auto [function, context] = work.front();
      work.pop_front();
      for (const Step &step : steps(*function))
        for (const Function *target : step.targets)
          if (!target->isDeclaration() && !view_.locks.is_wrapper(*target) && !is_marked(*target))
            add(*target, {context.entry, with(context.locks, step.held)});
    }
  }

  [[nodiscard]] bool is_marked(const Function &function) const {
    return marked_.contains(&function);
  }

  void visit(const Instruction &instruction, const std::set<Context> &contexts) {
    if (is_marked(*instruction.getFunction()))
      return;
    const SmallVector<Access, 2> accesses = accesses_of(instruction);
    if (accesses.empty() || view_.sharing.entries_of(instruction).empty())
      return;
    std::optional<SetId> own; // not asked yet
    SetId certain = 0;
    for (const Access &access : accesses) {
      // A variable that code of its function names: threads have their own, but main's.
      if (const auto *slot = dyn_cast<AllocaInst>(getUnderlyingObject(access.pointer));
          slot != nullptr && !(is_main(*instruction.getFunction()) && is_shown(*slot)))
        continue;
      for (const Cell &cell : view_.points_to.places(*access.pointer)) {
        if (!own) {
          if (is_unpublished(*access.pointer, instruction, view_.points_to))
            return;
          const HeldState state = held_.held_at(instruction);
          own = set_id(state.may);
          certain = set_id(state.must);
        }
        const AccessKinds::Kind kind = kinds_.of(access);
        for (const auto &[begin, end] : view_.points_to.ranges(cell, access.size))
          for (const Context &context : contexts) {
            const Context here{context.entry, with(context.locks, *own)};
            const Function *where = phases_.changes_in(*instruction.getFunction())
                                        ? instruction.getFunction()
                                        : nullptr;
            const SetId always = with(context.locks, certain);
            if (alike_.emplace(cell.node, begin, end, kind, access.writes, here, always, where)
                    .second)
              touches_[cell.node].push_back({&instruction, access, kind, here, always, begin, end});
          }
      }
    }
  }

  [[nodiscard]] bool is_main(const Function &function) const {
    return any_of(view_.sharing.entries(), [&](const Entry &entry) {
      return entry.kind == EntryKind::main && entry.function == &function;
    });
  }

  // Whether the address of the variable, or of a part of it, is given away.
  static bool is_shown(const Value &address) {
    return any_of(address.uses(), [](const Use &use) {
      if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst>(use.getUser()))
        return use.getUser()->getType()->isPointerTy() ? is_shown(*use.getUser()) : true;
      const auto *store = dyn_cast<StoreInst>(use.getUser());
      const auto *call = dyn_cast<CallBase>(use.getUser());
      return store != nullptr ? use.getOperandNo() == 0
                              : call != nullptr && !isa<IntrinsicInst>(call);
    });
  }

  [[nodiscard]] bool have_common_lock(SetId a, SetId b) const {
    const auto is_known = [&](std::uint32_t lock) { return !held_.classes()[lock].unknown; };
    for (const SetId set : {a, b}) // any lock may be in it
      if (!all_of(*sets_[set], is_known))
        return true;
    return any_of(*sets_[a], [&](std::uint32_t one) {
      return any_of(*sets_[b], [&](std::uint32_t other) { return held_.may_be_one(one, other); });
    });
  }

  void look_at(const std::vector<Touch> &touches) {
    if (touches.size() > 1 && touches.size() * touches.size() / 2 > kMostPairs)
      return;
    for (std::size_t i = 0; i < touches.size(); ++i)
      for (std::size_t j = i; j < touches.size(); ++j)
        consider(touches[i], touches[j]);
  }

  void consider(const Touch &one, const Touch &other) {
    if (!(one.access.writes || other.access.writes) || one.begin >= other.end ||
        other.begin >= one.end || (one.access.atomic && other.access.atomic) ||
        !kinds_.likely_meet(one.kind, other.kind))
      return;
    // One with a lock and one without: unprotected-access has looked at those.
    const bool locked = !sets_[one.context.locks]->empty();
    const bool on_some_paths = have_common_lock(one.context.locks, other.context.locks);
    if (on_some_paths ? have_common_lock(one.certain, other.certain)
                      : locked != !sets_[other.context.locks]->empty())
      return;
    if (!phases_.may_meet(one.context.entry, *one.instruction, other.context.entry,
                          *other.instruction))
      return;
    const std::optional<bool> sure = overlap(one, other);
    if (!sure)
      return;
    // Many locks at once are those of paths that are not told apart.
    const bool few = sets_[one.context.locks]->size() <= kFewLocks &&
                     sets_[other.context.locks]->size() <= kFewLocks;
    Pair pair{one, other, *sure && few && !on_some_paths && (locked || !has_barriers_),
              on_some_paths};
    if (place_of(*pair.one.instruction) > place_of(*pair.other.instruction) &&
        pair.one.access.writes == pair.other.access.writes)
      std::swap(pair.one, pair.other);
    if (!pair.one.access.writes && pair.other.access.writes)
      std::swap(pair.one, pair.other);
    const std::string name = name_of(pair.one);
    const auto [known, fresh] = found_.try_emplace({name, locked}, pair);
    if (!fresh && pair.rank() < known->second.rank())
      known->second = pair;
  }

  // Whether two accesses touch one object: nothing if not, true if the text says so, false if only
  // the analysis does.
  std::optional<bool> overlap(const Touch &one, const Touch &other) {
    const DataLayout &layout = view_.module.getDataLayout();
    const auto variable = [&](const Touch &touch) {
      APInt offset(layout.getIndexTypeSizeInBits(touch.access.pointer->getType()), 0);
      const Value *base =
          touch.access.pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
      return dyn_cast<GlobalVariable>(base);
    };
    const bool plain = !one.access.is_volatile && !other.access.is_volatile && !one.access.atomic &&
                       !other.access.atomic;
    if (variable(one) != nullptr && variable(one) == variable(other))
      return plain;
    const auto &here = objects_of(one.access);
    const auto &there = objects_of(other.access);
    const bool meet = any_of(here, [&](const ObjectRange &x) {
      return any_of(there, [&](const ObjectRange &y) {
        return x.object == y.object && x.begin < y.end && y.begin < x.end;
      });
    });
    if (!meet)
      return std::nullopt;
    return false;
  }

  const std::vector<ObjectRange> &objects_of(const Access &access) {
    const auto [known, fresh] = objects_.try_emplace({access.pointer, access.size});
    if (fresh)
      known->second = view_.points_to.objects(*access.pointer, access.size);
    return known->second;
  }

  std::string name_of(const Touch &touch) const {
    const std::uint64_t size =
        touch.access.size == PointsToAnalysis::kUnknownSize ? 0 : touch.access.size;
    return access_path(touch.access.pointer, size).print();
  }

  [[nodiscard]] std::string locks_text(SetId set) const {
    std::string text;
    for (const std::uint32_t lock : *sets_[set])
      text += fmt::format("{}'{}'", text.empty() ? "" : ", ", held_.classes()[lock].name);
    return text;
  }

  void report(const Pair &pair) {
    const bool locked = !sets_[pair.one.context.locks]->empty();
    const char *rule = !pair.sure ? "possible-race"
                       : locked   ? "different-locks"
                                  : "unguarded-access";
    const auto does = [](const Touch &touch) { return touch.access.writes ? "written" : "read"; };
    const char *how = pair.one.access.atomic || pair.other.access.atomic ? " (one access is atomic)"
                      : pair.one.access.is_volatile ? " (the access is volatile)"
                                                    : "";
    const auto thread = [&](const Touch &touch) {
      return source_name(*view_.sharing.entries()[touch.context.entry].function);
    };
    std::string message =
        pair.on_some_paths
            ? fmt::format("'{}' is {} here and {} by another thread: {} is held on some paths only",
                          name_of(pair.one), does(pair.one), does(pair.other),
                          locks_text(pair.one.context.locks))
        : locked
            ? fmt::format("'{}' is {} here with {} held, and {} with {} held: they do not "
                          "exclude each other{}",
                          name_of(pair.one), does(pair.one), locks_text(pair.one.context.locks),
                          does(pair.other), locks_text(pair.other.context.locks), how)
            : fmt::format("'{}' is {} here and {} by another thread, both without a lock{}",
                          name_of(pair.one), does(pair.one), does(pair.other), how);
    ReportFinding finding = finding_at(rule, place_of(*pair.one.instruction), std::move(message));
    finding.notes.push_back(note_at(place_of(*pair.other.instruction),
                                    fmt::format("{} here, by the thread that begins with '{}'",
                                                does(pair.other), thread(pair.other))));
    finding.notes.push_back(note_at(
        place_of(*pair.one.instruction),
        fmt::format("{} here by the one that begins with '{}'", does(pair.one), thread(pair.one))));
    findings_.push_back(std::move(finding));
  }

  const AnalysisView &view_;
  const HeldLocks &held_;
  Phases &phases_;
  Findings &findings_;
  AccessKinds kinds_;
  bool has_barriers_ = false; // which may keep two accesses apart; they are not followed
  std::map<LockSet, SetId> set_ids_;
  std::vector<const LockSet *> sets_;
  std::map<std::pair<SetId, SetId>, SetId> unions_;
  std::map<const Function *, std::vector<Step>> steps_;
  DenseSet<const Function *> marked_;
  std::map<const Function *, std::set<Context>> contexts_;
  std::map<NodeId, std::vector<Touch>> touches_;
  std::set<std::tuple<NodeId, std::uint64_t, std::uint64_t, AccessKinds::Kind, bool, Context, SetId,
                      const Function *>>
      alike_;
  std::map<std::pair<const Value *, std::uint64_t>, std::vector<ObjectRange>> objects_;
  std::map<std::pair<std::string, bool>, Pair> found_; // by name, and whether locks are held
};

} // namespace

void find_races(const AnalysisView &view, const HeldLocks &held, Phases &phases,
                Findings &findings) {
  RaceFinder(view, held, phases, findings).find();
}

} // namespace tandem
