// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races that no section shows: a location that threads touch at the same time, one of them writing,
// under locks of which none is common (different-locks), or without any (unguarded-access). Each
// function is looked at once for each thread that runs it and each set of locks that it is called
// with. What rests on a guess about memory (two pointers of one type, elements of an array, what
// a thread was handed when it was created) is a possible-race, as are atomic and volatile accesses.
// One finding for each location, at the better of its accesses.
//
// A lock that is held as a reader excludes no other reader. The control of pthread_once and
// std::call_once counts as a lock: the function that runs once holds it for writing, and a thread
// that has returned from the call holds it for reading until it ends. So the two are ordered.
#include "compiler/effects/unpublished.h"
#include "compiler/findings/access.h"
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/findings/virtual_slots.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
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

// In sets of this file: a lock that is held as a reader.
constexpr std::uint32_t kReader = 1U << 31;
std::uint32_t lock_of(std::uint32_t held) { return held & ~kReader; }

// What a variable that nothing but loads and one store know of holds.
const Value *only_value(const Value &value) {
  const auto *load = dyn_cast<LoadInst>(&value);
  const auto *slot = load == nullptr ? nullptr : dyn_cast<AllocaInst>(load->getPointerOperand());
  const Value *stored = nullptr;
  if (slot == nullptr)
    return nullptr;
  for (const User *user : slot->users()) {
    const auto *store = dyn_cast<StoreInst>(user);
    if (store != nullptr && store->getPointerOperand() == slot && stored == nullptr)
      stored = store->getValueOperand();
    else if (store != nullptr || (!isa<LoadInst>(user) && !is_marker(*cast<Instruction>(user))))
      return nullptr;
  }
  return stored;
}

// Whether the value is computed from what `is_source` says so that two sources give two values.
bool follows_from(const Value &value, function_ref<bool(const Value &)> is_source,
                  unsigned depth = 12) {
  if (is_source(value))
    return true;
  if (depth == 0)
    return false;
  if (const Value *held = only_value(value))
    return follows_from(*held, is_source, depth - 1);
  if (isa<PtrToIntInst, IntToPtrInst, SExtInst, ZExtInst>(value))
    return follows_from(*cast<Instruction>(value).getOperand(0), is_source, depth - 1);
  const auto *element = dyn_cast<GetElementPtrInst>(&value);
  if (element == nullptr)
    return false;
  const Value *moving = nullptr; // what is not the same in all threads
  for (const Value *operand : element->operands())
    if (!isa<Constant>(operand) && !isa<AllocaInst>(operand)) {
      if (moving != nullptr)
        return false;
      moving = operand;
    }
  return moving != nullptr && follows_from(*moving, is_source, depth - 1);
}

bool is_in_cycle(const Instruction &instruction) { return may_follow(instruction, instruction); }

class RaceFinder {
public:
  RaceFinder(const AnalysisView &view, const HeldLocks &held, Phases &phases, Findings &findings)
      : view_(view), held_(held), phases_(phases), findings_(findings), slots_(view.module),
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
    has_threads_ =
        any_of(entries, [](const Entry &entry) { return entry.kind == EntryKind::thread; });
    find_contexts();
    find_waiting();
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
    SetId locks; // that the callers may hold
    auto operator<=>(const Context &) const = default;
  };
  using Contexts = std::map<Context, SetId>; // with what the callers certainly hold then
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
      both.unite(*sets_[inner]);
      known->second = set_id(std::move(both));
    }
    return known->second;
  }

  // What is held for certain by two ways; as a reader, if by one of them only so.
  SetId common(SetId one, SetId other) {
    if (one == other)
      return one;
    LockSet both;
    for (const std::uint32_t held : *sets_[one])
      for (const std::uint32_t known : {held, held ^ kReader})
        if (sets_[other]->test(known))
          both.insert(held | known);
    return set_id(std::move(both));
  }

  struct Step {
    const CallBase *call;
    SetId held;   // by the function itself
    SetId always; // of these, on every path
    ArrayRef<const Function *> targets;
  };
  const std::vector<Step> &steps(const Function &function) {
    const auto [known, fresh] = steps_.try_emplace(&function);
    if (!fresh)
      return known->second;
    DenseMap<const CallBase *, const HeldState *> held;
    for (const HeldLocks::At &at : held_.calls(function))
      held[at.call] = at.held;
    std::set<std::tuple<const Function *const *, SetId, SetId, std::optional<std::int64_t>>> seen;
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || view_.locks.at(instruction) != nullptr ||
          view_.sharing.entries_of(instruction).empty())
        continue;
      const HeldState *state = held.lookup(call);
      auto [locks, always] = state == nullptr ? std::pair<LockSet, LockSet>() : sets_of(*state);
      auto targets = likely_targets(*call, view_.points_to);
      if (is_once(*call)) {
        for (LockSet *set : {&locks, &always})
          set->insert(held_.class_of_once(*call));
        const Function *callee = called_function(*call);
        if (!callee->isDeclaration())
          targets =
              proxied_.try_emplace(callee, once_targets(*call, view_.points_to)).first->second;
      }
      const SetId may = set_id(std::move(locks));
      const SetId must = set_id(std::move(always));
      if (!targets.empty() &&
          seen.emplace(targets.data(), may, must, VirtualSlots::slot(*call)).second)
        known->second.push_back({call, may, must, targets});
    }
    return known->second;
  }

  // The locks that may be, and those that are certainly held, each as this file has them.
  static std::pair<LockSet, LockSet> sets_of(const HeldState &state) {
    std::pair<LockSet, LockSet> sets;
    for (const auto &[from, to] : {std::pair{&state.may, &sets.first}, {&state.must, &sets.second}})
      for (const std::uint32_t lock : *from)
        to->insert(state.shared.test(lock) ? lock | kReader : lock);
    for (const std::uint32_t control : state.once)
      for (LockSet *set : {&sets.first, &sets.second})
        set->insert(control | kReader);
    return sets;
  }

  // Whether locks are held, and not only what has run once.
  [[nodiscard]] bool has_lock(SetId set) const {
    return any_of(*sets_[set],
                  [&](std::uint32_t held) { return !held_.classes()[lock_of(held)].once; });
  }

  // Whether one of the locks makes sections, which unprotected-access looks at.
  [[nodiscard]] bool has_section(SetId set) const {
    return any_of(*sets_[set], [&](std::uint32_t held) {
      const LockClass &lock = held_.classes()[lock_of(held)];
      return !lock.once && !lock.semaphore;
    });
  }

  void find_contexts() {
    set_id({});
    std::deque<std::pair<const Function *, Context>> work;
    const auto add = [&](const Function &function, Context context, SetId always) {
      Contexts &known = contexts_[&function];
      if (const auto found = known.find(context); found != known.end()) {
        const SetId both = common(found->second, always);
        if (both == found->second)
          return;
        found->second = both;
      } else {
        const auto of_entry =
            count_if(known, [&](const auto &other) { return other.first.entry == context.entry; });
        if (static_cast<std::size_t>(of_entry) >= kMostContexts) // the union: nothing is said of it
          return;
        known.emplace(context, always);
      }
      work.emplace_back(&function, context);
    };
    const std::vector<Entry> &entries = view_.sharing.entries();
    for (std::uint32_t entry = 0; entry < entries.size(); ++entry)
      if (entries[entry].function != nullptr)
        add(*entries[entry].function, {entry, 0}, 0);
    while (!work.empty()) {
      const auto [function, context] = work.front();
      work.pop_front();
      const SetId always = contexts_.at(function).at(context);
      for (const Step &step : steps(*function))
        for (const Function *target : step.targets)
          if (!target->isDeclaration() && !is_operation(*target) && !is_marked(*target) &&
              slots_.may_enter(VirtualSlots::slot(*step.call), *target) &&
              (runs_once(with(context.locks, step.held)) || !is_for_once(*target)))
            add(*target, {context.entry, with(context.locks, step.held)},
                with(always, step.always));
    }
  }

  // Whether control is in what a call lets one thread run.
  [[nodiscard]] bool runs_once(SetId set) const {
    return any_of(*sets_[set], [&](std::uint32_t held) {
      return !(held & kReader) && held_.classes()[lock_of(held)].once;
    });
  }

  // A function that stands for an operation on a lock. The C++ library's others lead on to what
  // the program has given it to run.
  [[nodiscard]] bool is_operation(const Function &function) const {
    return view_.locks.is_wrapper(function) && !is_library_function(function);
  }

  // Threads that wait for others by more than locks and joins: what these have done before is often
  // over then, and only barriers are followed. So are those that take a lock of the program's own.
  void find_waiting() {
    for (const auto &[function, contexts] : contexts_)
      for (const Instruction &instruction : instructions(*function))
        if (waits_at(instruction))
          for (const auto &[context, always] : contexts)
            waiting_.insert(context.entry);
  }

  static bool waits_at(const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    return (callee != nullptr && waits(*callee)) ||
           (exchanges(instruction) && is_in_cycle(instruction));
  }

  // Whether an instruction, or what it calls of the C++ library, exchanges an atomic value: in a
  // loop, a thread that spins until it has set a flag.
  static bool exchanges(const Instruction &instruction, unsigned calls = 3) {
    if (const auto *update = dyn_cast<AtomicRMWInst>(&instruction))
      return update->getOperation() == AtomicRMWInst::Xchg;
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr || calls == 0 ? nullptr : called_function(*call);
    return isa<AtomicCmpXchgInst>(instruction) ||
           (callee != nullptr && is_library_function(*callee) &&
            any_of(instructions(*callee),
                   [&](const Instruction &inner) { return exchanges(inner, calls - 1); }));
  }

  static bool waits(const Function &function) {
    const StringRef name = function.getName();
    for (const char *known : {"pthread_barrier_wait", "pthread_cond_wait", "pthread_cond_timedwait",
                              "sem_wait", "sem_timedwait", "cnd_wait", "cnd_timedwait"})
      if (name == known)
        return true;
    for (const char *known :
         {"_ZNSt18condition_variable4wait", "_ZNSt3_V222condition_variable_any", "_ZNSt7barrierI",
          "_ZNKSt5latch4wait", "_ZNSt18counting_semaphore", "_ZNKSt14__basic_future",
          "_ZNSt28__atomic_futex_unsigned_base", "_ZSt9call_onceI"})
      if (name.starts_with(known))
        return true;
    return false;
  }

  [[nodiscard]] bool is_marked(const Function &function) const {
    return marked_.contains(&function);
  }

  void visit(const Instruction &instruction, const Contexts &contexts) {
    if (is_marked(*instruction.getFunction()) || is_library_function(*instruction.getFunction()))
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
          slot != nullptr && !(is_main(*instruction.getFunction()) && is_shown(*slot)))
        continue;
      for (const Cell &cell : view_.points_to.places(*access.pointer)) {
        if (!own) {
          if (is_unpublished(*access.pointer, instruction, view_.points_to))
            return;
          auto [may, must] = sets_of(held_.held_at(instruction));
          own = set_id(std::move(may));
          certain = set_id(std::move(must));
        }
        const AccessKinds::Kind kind = kinds_.of(access);
        for (const auto &[begin, end] : view_.points_to.ranges(cell, access.size))
          for (const auto &[context, always] : contexts) {
            const Context here{context.entry, with(context.locks, *own)};
            const bool locked = has_lock(with(always, certain));
            const Instruction *where =
                phases_.changes_in(*instruction.getFunction()) ? &instruction : nullptr;
            const SetId certain_here = with(context.locks, certain);
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

  // `fixed`: what is accessed is one variable, which an element of an array of locks, or one of
  // several locks by a pointer, guards only where it is known which one.
  [[nodiscard]] bool have_common_lock(SetId a, SetId b, bool fixed) const {
    const auto is_known = [&](std::uint32_t held) {
      const LockClass &lock = held_.classes()[lock_of(held)];
      return !lock.unknown || (fixed && lock.several);
    };
    for (const SetId set : {a, b}) // any lock may be in it
      if (!all_of(*sets_[set], is_known))
        return true;
    return any_of(*sets_[a], [&](std::uint32_t one) {
      return any_of(*sets_[b], [&](std::uint32_t other) {
        const LockClass &lock = held_.classes()[lock_of(one)];
        return !(one & other & kReader) && held_.may_be_one(lock_of(one), lock_of(other)) &&
               !(fixed && one == other && lock.many &&
                 (lock.several || lock.name.find('[') != std::string::npos));
      });
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
    const bool alike = has_lock(one.context.locks) == has_lock(other.context.locks);
    const bool locked = has_lock(one.context.locks) || has_lock(other.context.locks);
    const bool fixed = names_variable(one) && names_variable(other);
    const bool on_some_paths = have_common_lock(one.context.locks, other.context.locks, fixed);
    if (on_some_paths
            ? have_common_lock(one.certain, other.certain, fixed)
            : !alike && (has_section(one.context.locks) || has_section(other.context.locks)))
      return;
    if (!phases_.may_meet(one.context.entry, *one.instruction, other.context.entry,
                          *other.instruction))
      return;
    if (are_of_each_thread(one, other))
      return;
    // A flag that a handler sets, or asks, in a program without threads.
    if (!has_threads_ && one.access.is_volatile && other.access.is_volatile &&
        !(one.access.writes && other.access.writes))
      return;
    const std::optional<bool> sure = overlap(one, other);
    if (!sure)
      return;
    // Many locks at once are those of paths that are not told apart.
    const bool few = sets_[one.context.locks]->count() <= kFewLocks &&
                     sets_[other.context.locks]->count() <= kFewLocks;
    const bool by_index = fixed && have_common_lock(one.certain, other.certain, false);
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

  [[nodiscard]] bool names_variable(const Touch &touch) const {
    APInt offset(
        view_.module.getDataLayout().getIndexTypeSizeInBits(touch.access.pointer->getType()), 0);
    return isa<GlobalVariable>(touch.access.pointer->stripAndAccumulateConstantOffsets(
        view_.module.getDataLayout(), offset, true));
  }

  // Whether both are accesses of one entry's threads to what each was given when it was created: an
  // argument that no other of them has.
  bool are_of_each_thread(const Touch &one, const Touch &other) {
    if (one.context.entry != other.context.entry)
      return false;
    const Entry &entry = view_.sharing.entries()[one.context.entry];
    const auto is_argument = [&](const Value &value) {
      const auto *argument = dyn_cast<Argument>(&value);
      return argument != nullptr && argument->getParent() == entry.function;
    };
    return entry.kind == EntryKind::thread && follows_from(*one.access.pointer, is_argument) &&
           follows_from(*other.access.pointer, is_argument) && has_own_arguments(entry);
  }

  bool has_own_arguments(const Entry &entry) {
    const auto [known, fresh] = own_arguments_.try_emplace(entry.function, false);
    if (!fresh)
      return known->second;
    std::set<const Value *> given;
    for (const PointsToAnalysis::Spawn &spawn : view_.points_to.spawns()) {
      if (spawn.function != entry.function)
        continue;
      const Function *callee = called_function(*spawn.call);
      if (callee == nullptr || callee->getName() != "pthread_create" || spawn.call->arg_size() != 4)
        return false;
      const Value *argument = spawn.call->getArgOperand(3);
      const auto counts = [&](const Value &value) { // a variable that the loop goes on with
        const auto *load = dyn_cast<LoadInst>(&value);
        return load != nullptr && isa<AllocaInst>(load->getPointerOperand()) &&
               value.getType()->isIntegerTy() && only_value(value) == nullptr;
      };
      if (is_in_cycle(*spawn.call) ? !follows_from(*argument, counts)
                                   : !isa<Constant>(argument) || !given.insert(argument).second)
        return false;
    }
    return known->second = true;
  }

  // Whether two accesses touch one object: nothing if not, true if the text says so, or if there is
  // nothing else that they could touch, false if only the analysis does.
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
    return plain && is_known(one.access) && is_known(other.access);
  }

  // Whether there is one place only that an access can touch: a variable, or a field of one, which
  // exists once.
  bool is_known(const Access &access) {
    const std::vector<ObjectRange> &ranges = objects_of(access);
    if (ranges.size() != 1 || ranges.front().object == 0 ||
        ranges.front().end - ranges.front().begin != access.size ||
        view_.points_to.is_united(ranges.front().object) ||
        view_.points_to.may_be_hidden(*access.pointer))
      return false;
    const Value *label = view_.points_to.label(ranges.front().object);
    const auto *slot = dyn_cast_or_null<AllocaInst>(label);
    return (isa_and_nonnull<GlobalVariable>(label) ||
            (slot != nullptr && slot->isStaticAlloca() && is_main(*slot->getFunction()))) &&
           none_of(view_.points_to.object_folds(ranges.front().object), [&](const Fold &fold) {
             return fold.begin < ranges.front().end && ranges.front().begin < fold.end;
           });
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
    for (const std::uint32_t held : *sets_[set])
      if (const LockClass &lock = held_.classes()[lock_of(held)]; !lock.once)
        text += fmt::format("{}'{}'{}", text.empty() ? "" : ", ", lock.name,
                            held & kReader ? " (as a reader)" : "");
    return text.empty() ? "no lock" : text;
  }

  void report(const Pair &pair) {
    const bool locked = has_lock(pair.one.context.locks) || has_lock(pair.other.context.locks);
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
                                    fmt::format("{} here, by the thread that begins with {}",
                                                does(pair.other), thread(pair.other))));
    finding.notes.push_back(note_at(
        place_of(*pair.one.instruction),
        fmt::format("{} here by the one that begins with {}", does(pair.one), thread(pair.one))));
    findings_.push_back(std::move(finding));
  }

  const AnalysisView &view_;
  const HeldLocks &held_;
  Phases &phases_;
  Findings &findings_;
  const VirtualSlots slots_;
  AccessKinds kinds_;
  bool has_threads_ = false;
  std::set<std::uint32_t> waiting_; // entries
  std::map<LockSet, SetId> set_ids_;
  std::vector<const LockSet *> sets_;
  std::map<std::pair<SetId, SetId>, SetId> unions_;
  std::map<const Function *, std::vector<Step>> steps_;
  std::map<const Function *, bool> own_arguments_; // of functions that threads begin with
  std::map<const Function *, SmallVector<const Function *, 1>> proxied_; // by std::call_once
  DenseSet<const Function *> marked_;
  std::map<const Function *, Contexts> contexts_;
  std::map<NodeId, std::vector<Touch>> touches_;
  std::set<std::tuple<NodeId, std::uint64_t, std::uint64_t, AccessKinds::Kind, bool, Context, bool,
                      SetId, const Instruction *>>
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
