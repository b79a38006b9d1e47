// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races that no section shows: a location that threads touch at the same time, one of them writing,
// under locks of which none is common (different-locks), or without any (unguarded-access). Each
// function is looked at once for each of its lock contexts. What rests on a guess about memory (two
// pointers of one type, elements of an array, what a thread was handed when it was created) is a
// possible-race, as are atomic and volatile accesses. One finding for each location, at the better
// of its accesses.
#include "compiler/effects/unpublished.h"
#include "compiler/findings/access.h"
#include "compiler/findings/accessed_objects.h"
#include "compiler/findings/lock_contexts.h"
#include "compiler/findings/own_arguments.h"
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/findings/waiting_threads.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/origin.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace tandem {
namespace {

using namespace llvm;

// Pairs of accesses that are looked at in one place of memory, and threads that are told apart.
// What a large program has in one place is merged by the analysis, and no evidence.
constexpr std::size_t kMostPairs = 40000;
constexpr std::size_t kMostEntries = 48;

// Locks that a program holds at once, as it is written.
constexpr std::size_t kFewLocks = 2;

class RaceFinder {
public:
  RaceFinder(const AnalysisView &view, const HeldLocks &held, Phases &phases, Findings &findings)
      : view_(view), phases_(phases), findings_(findings), contexts_(view, held),
        waiting_(waiting_threads(contexts_)), objects_(view), own_arguments_(view),
        kinds_(view.module.getDataLayout()),
        has_threads_(any_of(view.sharing.entries(),
                            [](const Entry &entry) { return entry.kind == EntryKind::thread; })) {}

  void find() {
    for (const auto &[function, contexts] : contexts_.all())
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
  using SetId = LockContexts::SetId;
  using Context = LockContexts::Context;
  using Contexts = LockContexts::Contexts;
  struct Touch {
    const Instruction *instruction;
    Access access;
    AccessKinds::Kind kind;
    Context context;     // with the locks that the function itself may hold
    bool locked;         // whether any lock is certainly held
    SetId certain;       // the function's locks without those that it holds on some paths only
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

  void visit(const Instruction &instruction, const Contexts &contexts) {
    if (contexts_.is_marked(*instruction.getFunction()) ||
        is_library_function(*instruction.getFunction()))
      return;
    const SmallVector<Access, 2> accesses = accesses_of(instruction);
    if (accesses.empty() || view_.sharing.entries_of(instruction).empty() ||
        makes_static(instruction))
      return;
    std::optional<SetId> own; // not asked yet
    SetId certain = 0;
    for (const Access &access : accesses) {
      // A variable that code of its function names: threads have their own, but main's.
      if (const auto *slot = dyn_cast<AllocaInst>(getUnderlyingObject(access.pointer));
          slot != nullptr &&
          !(instruction.getFunction() == view_.sharing.start().main && is_shown(*slot)))
        continue;
      for (const Cell &cell : view_.points_to.places(*access.pointer)) {
        if (!own) {
          if (is_unpublished(*access.pointer, instruction, view_.points_to))
            return;
          const auto [may, must] = contexts_.held_at(instruction);
          own = may;
          certain = must;
        }
        const AccessKinds::Kind kind = kinds_.of(access);
        for (const auto &[begin, end] : view_.points_to.ranges(cell, access.size))
          for (const auto &[context, always] : contexts) {
            const Context here{context.entry, contexts_.with(context.locks, *own)};
            const bool locked = contexts_.has_lock(contexts_.with(always, certain));
            const Instruction *where =
                phases_.changes_in(*instruction.getFunction()) ? &instruction : nullptr;
            const SetId certain_here = contexts_.with(context.locks, certain);
            if (alike_
                    .emplace(cell.node, begin, end, kind, access.writes, here, locked, certain_here,
                             where)
                    .second)
              touches_[cell.node].push_back(
                  {&instruction, access, kind, here, locked, certain_here, begin, end});
          }
      }
    }
  }

  // Whether an instruction runs where a function makes a static variable of its own, which one
  // thread does while the others wait. Source: Itanium C++ ABI, 3.3.3.
  static bool makes_static(const Instruction &instruction) {
    bool begun = false;
    bool ends = false;
    for (const Instruction &other : instructions(*instruction.getFunction())) {
      const auto *call = dyn_cast<CallBase>(&other);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      if (callee == nullptr)
        continue;
      if (callee->getName() == "__cxa_guard_acquire")
        begun = begun || may_follow(instruction, other);
      else if (callee->getName() == "__cxa_guard_release")
        ends = ends || may_follow(other, instruction);
    }
    return begun && ends;
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
    const bool alike =
        contexts_.has_lock(one.context.locks) == contexts_.has_lock(other.context.locks);
    const bool locked =
        contexts_.has_lock(one.context.locks) || contexts_.has_lock(other.context.locks);
    const bool fixed = objects_.names_variable(one.access) && objects_.names_variable(other.access);
    const bool on_some_paths =
        contexts_.have_common_lock(one.context.locks, other.context.locks, fixed);
    if (on_some_paths ? contexts_.have_common_lock(one.certain, other.certain, fixed)
                      : !alike && (contexts_.has_section(one.context.locks) ||
                                   contexts_.has_section(other.context.locks)))
      return;
    if (!phases_.may_meet(one.context.entry, *one.instruction, other.context.entry,
                          *other.instruction))
      return;
    if (one.context.entry == other.context.entry &&
        own_arguments_.guard(view_.sharing.entries()[one.context.entry], one.access, other.access))
      return;
    // A flag that a handler sets, or asks, in a program without threads.
    if (!has_threads_ && one.access.is_volatile && other.access.is_volatile &&
        !(one.access.writes && other.access.writes))
      return;
    const std::optional<bool> sure = objects_.overlap(one.access, other.access);
    if (!sure)
      return;
    // Many locks at once are those of paths that are not told apart.
    const bool few = contexts_.count(one.context.locks) <= kFewLocks &&
                     contexts_.count(other.context.locks) <= kFewLocks;
    const bool by_index = fixed && contexts_.have_common_lock(one.certain, other.certain, false);
    Pair pair{one, other,
              *sure && few && !on_some_paths && !by_index && phases_.is_known(one.context.entry) &&
                  phases_.is_known(other.context.entry) &&
                  (locked ? one.locked && other.locked
                          : !(waiting_.contains(one.context.entry) ||
                              waiting_.contains(other.context.entry))) &&
                  phases_.certainly_meet(one.context.entry, *one.instruction, other.context.entry,
                                         *other.instruction),
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

  std::string name_of(const Touch &touch) const {
    const std::uint64_t size =
        touch.access.size == PointsToAnalysis::kUnknownSize ? 0 : touch.access.size;
    return access_path(touch.access.pointer, size).print();
  }

  void report(const Pair &pair) {
    const bool locked =
        contexts_.has_lock(pair.one.context.locks) || contexts_.has_lock(pair.other.context.locks);
    const char *rule = !pair.sure ? "possible-race"
                       : locked   ? "different-locks"
                                  : "unguarded-access";
    const auto does = [](const Touch &touch) { return touch.access.writes ? "written" : "read"; };
    const char *how = pair.one.access.atomic || pair.other.access.atomic ? " (one access is atomic)"
                      : pair.one.access.is_volatile ? " (the access is volatile)"
                                                    : "";
    const auto thread = [&](const Touch &touch) {
      return thread_name(*view_.sharing.entries()[touch.context.entry].function, view_.points_to);
    };
    std::string message =
        pair.on_some_paths
            ? fmt::format("'{}' is {} here and {} by another thread: {} is held on some paths only",
                          name_of(pair.one), does(pair.one), does(pair.other),
                          contexts_.print(pair.one.context.locks))
        : locked ? fmt::format("'{}' is {} here with {} held, and {} with {} held: they do not "
                               "exclude each other{}",
                               name_of(pair.one), does(pair.one),
                               contexts_.print(pair.one.context.locks), does(pair.other),
                               contexts_.print(pair.other.context.locks), how)
                 : fmt::format("'{}' is {} here and {} by another thread, both without a lock{}",
                               name_of(pair.one), does(pair.one), does(pair.other), how);
    ReportFinding finding = finding_at(rule, place_of(*pair.one.instruction), std::move(message));
    finding.notes.push_back(note_at(place_of(*pair.other.instruction),
                                    fmt::format("{} here, by the thread that begins with {}",
                                                does(pair.other), thread(pair.other))));
    finding.notes.push_back(note_at(
        place_of(*pair.one.instruction),
        fmt::format("{} here by the one that begins with {}", does(pair.one), thread(pair.one))));
    findings_.push_back(std::move(finding));
  }

  const AnalysisView &view_;
  Phases &phases_;
  Findings &findings_;
  LockContexts contexts_;
  const std::set<std::uint32_t> waiting_; // entries
  AccessedObjects objects_;
  OwnArguments own_arguments_;
  AccessKinds kinds_;
  const bool has_threads_; // other than the first, and handlers of signals
  std::map<NodeId, std::vector<Touch>> touches_;
  std::set<std::tuple<NodeId, std::uint64_t, std::uint64_t, AccessKinds::Kind, bool, Context, bool,
                      SetId, const Instruction *>>
      alike_;
  std::map<std::pair<std::string, bool>, Pair> found_; // by name, and whether locks are held
};

} // namespace

void find_races(const AnalysisView &view, const HeldLocks &held, Phases &phases,
                Findings &findings) {
  const std::vector<Entry> &entries = view.sharing.entries();
  const bool beside = any_of(entries, [](const Entry &entry) {
    return entry.kind == EntryKind::thread || entry.kind == EntryKind::signal_handler;
  });
  if (beside && entries.size() <= kMostEntries)
    RaceFinder(view, held, phases, findings).find();
}

} // namespace tandem
