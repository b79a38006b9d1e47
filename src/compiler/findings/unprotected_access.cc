// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// unprotected-access: a shared location that a section touches is also touched where no section
// runs, by a thread that may run at the same time, and one of the two writes. An access is outside
// all sections if a thread can get there without holding a lock and without being in a marked
// section. One finding for each location, at the access outside, unless another
// location has the same two accesses. Two accesses by pointers are evidence only where the field is
// mostly accessed in sections: else one of the two is likely an object that only its thread has,
// and they are a possible-race. So are those that only code outside the program might run at the
// same time, those behind a call by pointer of which the text does not tell where it leads, those
// by a pointer to an object that is being made or destroyed, and those by a pointer that was loaded
// in a section behind a wait for a condition: what another thread has handed over.
#include "compiler/effects/unpublished.h"
#include "compiler/findings/access.h"
#include "compiler/findings/phases.h"
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/findings/virtual_slots.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

namespace tandem {
namespace {

using namespace llvm;

// A call and the functions of the program that it enters; calls may have one array.
struct Steps {
  const CallBase *call;
  ArrayRef<const Function *> targets;
};

// Whether a call makes an object at `address`.
bool constructs(const CallBase &call, const Value &address) {
  const Function *callee = called_function(call);
  return callee != nullptr && call.arg_size() > 0 && call.getArgOperand(0) == &address &&
         is_constructor(*callee) &&
         none_of(drop_begin(call.args()), [&](const Use &use) { return use.get() == &address; });
}

// Whether a pointer leads into a local variable, or into the object under construction, whose
// address has not been published before `at`.
bool is_being_made(const Value &pointer, const Instruction &at, const PointsToAnalysis &points_to) {
  const Value *object = getUnderlyingObject(&pointer, /*MaxLookup=*/0);
  if (isa<AllocaInst>(object))
    return is_untold(*object, &at, points_to);
  const std::optional<Origin> origin = origin_of(&pointer, at.getModule()->getDataLayout());
  return origin && origin->argument == 0 && origin->offsets.size() == 1 &&
         is_constructor(*at.getFunction()) &&
         is_untold(*at.getFunction()->getArg(0), &at, points_to);
}

enum class LockLife { begins, ends };

// What a function does to a lock's life.
std::optional<LockLife> lock_life(StringRef name) {
  return StringSwitch<std::optional<LockLife>>(name)
      .Cases("pthread_mutex_init", "pthread_rwlock_init", "pthread_spin_init", "mtx_init",
             LockLife::begins)
      .Cases("pthread_mutex_destroy", "pthread_rwlock_destroy", "pthread_spin_destroy",
             "mtx_destroy", LockLife::ends)
      .Default(std::nullopt);
}

// Where a lock's life begins or ends in a function, or in one that it hands the lock to.
struct LockMade {
  const CallBase *call;
  const Value *lock;
  LockLife life;
};

// Whether two addresses of a function are in one object, by its text.
bool are_in_one_object(const Value &a, const Value &b) {
  const Value *one = getUnderlyingObject(&a, /*MaxLookup=*/0);
  const Value *other = getUnderlyingObject(&b, /*MaxLookup=*/0);
  return one == other || same_value(*one, *other);
}

// Whether a store in a loop is of the address of an element by a number that the loop changes.
bool is_next_element(const StoreInst &set) {
  const auto *element = dyn_cast<GetElementPtrInst>(set.getValueOperand());
  if (element == nullptr || !may_follow(set, set))
    return false;
  const Value *index = element->getOperand(element->getNumOperands() - 1);
  while (const auto *cast = dyn_cast<CastInst>(index))
    index = cast->getOperand(0);
  const auto *load = dyn_cast<LoadInst>(index);
  return load != nullptr && is_plain_variable(*load->getPointerOperand()) &&
         any_of(load->getPointerOperand()->users(), [&](const User *user) {
           const auto *step = dyn_cast<StoreInst>(user);
           return step != nullptr && may_follow(*step, set) && may_follow(set, *step);
         });
}

// Whether an instruction may see what another thread does, without a lock.
bool asks_others(const Instruction &instruction) {
  return instruction.isAtomic() || (isa<LoadInst>(instruction) && instruction.isVolatile());
}

class UnprotectedFinder {
public:
  UnprotectedFinder(const AnalysisView &view, const HeldLocks &held, Phases &phases,
                    Findings &findings)
      : view_(view), held_(held), phases_(phases), findings_(findings), slots_(view.module),
        kinds_(view.module.getDataLayout()) {
    find_once();
    for (const Section &section : view.sections)
      if (section.kind == SectionKind::function)
        marked_.insert(section.function);
      else
        inside_.insert(section.body.begin(), section.body.end());
    for (std::size_t i = 0; i < view.sections.size(); ++i)
      for (const SectionAccess &access : view.effects[i].accesses)
        if (view.locations[access.location].shared &&
            !once_.contains(access.instruction->getFunction()))
          touch(i, access);
    find_locations();
  }

  void find() {
    find_entered();
    count_inside();
    for (const Section &section : view_.sections)
      if (section.kind == SectionKind::lock_region &&
          section.entry.operation == LockOperation::wait)
        waits_[section.function].push_back(section.entry.call);
    for (const auto &[function, entered] : entered_by_)
      for (const Steps &one : steps(*function))
        for (const Function *target : one.targets)
          calls_of_[target].push_back(one.call);
    for (const auto &[function, entered] : entered_by_)
      for (const Instruction &instruction : instructions(*function))
        if (!is_library_function(*function) && !inside_.contains(&instruction))
          visit(instruction, entered);
    // Two accesses that have several locations in common are one finding.
    std::set<std::pair<const Instruction *, const Instruction *>> reported;
    for (const Spot &spot : spots_)
      if (spot.found &&
          reported.emplace(spot.found->outside, spot.found->inside.access->instruction).second)
        report(spot.location, *spot.found);
  }

private:
  struct Inside {
    std::size_t section;
    const SectionAccess *access;
    AccessKinds::Kind kind;
  };
  struct Pair {
    Inside inside;
    const Instruction *outside = nullptr;
    Access access;
    Place place;             // of what is outside
    std::uint32_t entry = 0; // whose thread is outside
    bool sure = false;
    // Whether it is evidence; the outside writes; the section writes: the better, the lower.
    [[nodiscard]] auto rank() const {
      return std::tuple<bool, bool, bool, const Place &>(!sure, !access.writes,
                                                         !inside.access->writes, place);
    }
  };
  // A location that sections touch, and the best pair for it so far.
  struct Spot {
    std::uint32_t location;
    std::uint64_t begin;
    std::uint64_t end;
    std::vector<Inside> touched;
    std::map<AccessKinds::Kind, std::vector<std::uint32_t>> by_kind; // indices of touched
    std::optional<Pair> found;
  };
  // Notes that a section touches a location. Of accesses of one kind, in sections that the same
  // threads run, the first stands for all: whoever meets one of them meets each.
  void touch(std::size_t section, const SectionAccess &access) {
    for (const Access &part : accesses_of(*access.instruction)) {
      const AccessKinds::Kind kind = kinds_.of(part);
      const EntrySet &entries = view_.effects[section].entries;
      const Function *where = access.instruction->getFunction();
      if (alike_
              .emplace(access.location, kind, access.writes,
                       phases_.changes_in(*where) ? access.instruction : nullptr, entries)
              .second)
        touched_[access.location].push_back({section, &access, kind});
    }
  }

  // The locations at each node; of those that the same accesses touch, one.
  void find_locations() {
    using Accesses = std::vector<std::tuple<std::size_t, const Instruction *, bool>>;
    std::set<std::tuple<NodeId, std::uint64_t, std::uint64_t, Accesses>> known;
    for (const auto &[number, accesses] : touched_) {
      const Location &location = view_.locations[number];
      Accesses key;
      for (const Inside &inside : accesses)
        key.emplace_back(inside.section, inside.access->instruction, inside.access->writes);
      if (!known.emplace(location.node, location.begin, location.end, std::move(key)).second)
        continue;
      at_node_[location.node].push_back(spots_.size());
      Spot &spot = spots_.emplace_back(number, location.begin, location.end, accesses);
      for (std::uint32_t i = 0; i < accesses.size(); ++i)
        spot.by_kind[accesses[i].kind].push_back(i);
    }
  }

  // A spot, and which of its accesses one of some kind is likely to meet.
  struct Meeting {
    std::size_t spot;
    std::vector<std::uint32_t> inside;
  };
  const std::vector<Meeting> &met_at(NodeId node, AccessKinds::Kind kind) {
    const auto [known, fresh] = met_at_.try_emplace({node, kind});
    if (fresh)
      for (const std::size_t spot : at_node_.at(node)) {
        Meeting meeting{spot, {}};
        for (const auto &[other, inside] : spots_[spot].by_kind)
          if (kinds_.likely_meet(kind, other))
            append_range(meeting.inside, inside);
        if (meeting.inside.empty())
          continue;
        sort(meeting.inside);
        known->second.push_back(std::move(meeting));
      }
    return known->second;
  }

  // Finds the functions that only pthread_once and its like run, and what only those call.
  void find_once() {
    std::vector<const Function *> work;
    for (const Function &function : view_.module)
      for (const Instruction &instruction : instructions(function))
        if (const auto *call = dyn_cast<CallBase>(&instruction); call != nullptr && is_once(*call))
          append_range(work, once_targets(*call, view_.points_to));
    if (work.empty())
      return;
    std::map<const Function *, std::vector<const CallBase *>> callers;
    for (const Function &function : view_.module)
      for (const Instruction &instruction : instructions(function))
        if (const auto *call = dyn_cast<CallBase>(&instruction))
          for (const Function *target : view_.points_to.targets(*call))
            callers[target].push_back(call);
    while (!work.empty()) {
      const Function *function = work.back();
      work.pop_back();
      const bool only_once =
          is_for_once(*function) ||
          (!begins_thread(*function) && all_of(callers[function], [&](const CallBase *call) {
            return is_once(*call) || once_.contains(call->getFunction());
          }));
      if (!only_once || !once_.insert(function).second)
        continue;
      for (const Instruction &instruction : instructions(*function))
        if (const auto *call = dyn_cast<CallBase>(&instruction))
          append_range(work, view_.points_to.targets(*call));
    }
  }

  [[nodiscard]] bool begins_thread(const Function &function) const {
    return any_of(view_.sharing.entries(), [&](const Entry &entry) {
      return entry.function == &function && entry.kind != EntryKind::exported;
    });
  }

  // The calls of a function that are made outside all sections.
  const std::vector<Steps> &steps(const Function &function) {
    const auto [known, fresh] = steps_.try_emplace(&function);
    if (!fresh)
      return known->second;
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || view_.locks.at(instruction) != nullptr ||
          inside_.contains(&instruction) || is_once(*call) || held_.may_hold(instruction))
        continue;
      if (const auto targets = entered(*call); !targets.empty())
        known->second.push_back({call, targets});
    }
    return known->second;
  }

  // The targets of a call that are followed; of the C++ library those that are given functions.
  ArrayRef<const Function *> entered(const CallBase &call) {
    const ArrayRef<const Function *> targets = likely_targets(call, view_.points_to);
    if (targets.empty())
      return targets;
    const std::optional<std::int64_t> slot = VirtualSlots::slot(call);
    const auto [known, fresh] = entered_.try_emplace({targets.data(), slot});
    if (fresh)
      copy_if(targets, std::back_inserter(known->second), [&](const Function *target) {
        return !target->isDeclaration() && !marked_.contains(target) && !once_.contains(target) &&
               (!view_.locks.is_wrapper(*target) || is_library_function(*target)) &&
               slots_.may_enter(slot, *target);
      });
    return known->second;
  }

  // The functions that an entry's thread begins with; main's runs what comes before main, too.
  SmallVector<const Function *, 2> begins(const Entry &entry) const {
    SmallVector<const Function *, 2> functions{entry.function};
    if (entry.kind == EntryKind::main)
      append_range(functions, view_.sharing.start().before);
    return functions;
  }

  // Finds which entries' threads run each function outside all sections. What is known of a
  // function or array of targets goes on to what it leads to, until nothing changes.
  void find_entered() {
    const std::vector<Entry> &entries = view_.sharing.entries();
    const auto count = static_cast<unsigned>(entries.size());
    DenseMap<const void *, BitVector> known; // by function, and by array of targets
    std::deque<std::variant<const Function *, ArrayRef<const Function *>>> work;
    const auto add = [&](const void *place, const BitVector &more, auto next) {
      BitVector &all = known.try_emplace(place, count).first->second;
      if (!more.test(all)) // nothing new
        return;
      all |= more;
      work.push_back(next);
    };
    for (std::uint32_t entry = 0; entry < count; ++entry) {
      BitVector one(count);
      one.set(entry);
      for (const Function *begin : begins(entries[entry]))
        if (!marked_.contains(begin))
          add(begin, one, begin);
    }
    while (!work.empty()) {
      const auto next = work.front();
      work.pop_front();
      if (const auto *const *function = std::get_if<const Function *>(&next)) {
        const BitVector entered = known.at(*function);
        for (const Steps &one : steps(**function))
          if (one.targets.size() == 1)
            add(one.targets.front(), entered, one.targets.front());
          else
            add(one.targets.data(), entered, one.targets);
      } else {
        const auto targets = std::get<ArrayRef<const Function *>>(next);
        const BitVector entered = known.at(targets.data());
        for (const Function *target : targets)
          add(target, entered, target);
      }
    }
    for (const Function &function : view_.module)
      if (const auto found = known.find(&function); found != known.end())
        append_range(entered_by_[&function], found->second.set_bits());
  }

  // How often each field is accessed, as the text has it.
  struct Accesses {
    std::size_t inside = 0; // sections, or with a lock held
    std::size_t all = 0;
  };
  void count_inside() {
    for (const Function &function : view_.module) {
      if (view_.sharing.entries_of(function).empty())
        continue;
      const bool enters = entered_by_.contains(&function);
      for (const Instruction &instruction : instructions(function))
        for (const Access &access : accesses_of(instruction)) {
          const std::uint32_t field = kinds_.field(kinds_.of(access));
          if (field == 0 || is_unpublished(*access.pointer, instruction, view_.points_to))
            continue;
          Accesses &of_field = accesses_[field];
          ++of_field.all;
          if (!enters || inside_.contains(&instruction) || held_.may_hold(instruction))
            ++of_field.inside;
        }
    }
  }

  [[nodiscard]] bool is_of_field_mostly_guarded(const Access &access, AccessKinds::Kind inside) {
    const AccessKinds::Kind outside = kinds_.of(access);
    if (kinds_.name_one_variable(outside, inside))
      return true;
    const std::uint32_t field = kinds_.field(outside); // 0: the text does not tell
    return field != 0 && 2 * accesses_[field].inside >= accesses_[field].all;
  }

  // The thread that is certainly outside while another one is certainly in the section.
  [[nodiscard]] std::optional<std::uint32_t> evidence(const Inside &inside,
                                                      const Instruction &outside,
                                                      const Access &access,
                                                      const EntrySet &entered) {
    if (!is_of_field_mostly_guarded(access, inside.kind) || !certain_in(inside) ||
        is_given_new(*access.pointer, outside))
      return std::nullopt;
    for (const std::uint32_t entry : entered) {
      if (!phases_.is_known(entry) || ways(entry).doubtful.contains(outside.getFunction()) ||
          is_handed_over(*access.pointer, outside, entry))
        continue;
      for (const std::uint32_t other : view_.effects[inside.section].entries)
        if (phases_.is_known(other) && !is_handed_next(*access.pointer, outside, other) &&
            phases_.certainly_meet(entry, outside, other, *inside.access->instruction))
          return entry;
    }
    return std::nullopt;
  }

  // Whether a pointer leads to what a thread of the entry was handed over when it had waited for a
  // condition: behind the wait it was loaded in a section, or is the result of a function that
  // waits, and it does not lead to the object that has the condition or its lock.
  bool is_handed_over(const Value &pointer, const Instruction &at, std::uint32_t entry,
                      unsigned depth = 0) {
    constexpr unsigned kMostDeep = 8;
    const Function *function = at.getFunction();
    const Value *object = getUnderlyingObject(&pointer, /*MaxLookup=*/0);
    if (depth == kMostDeep)
      return false;
    if (const auto *argument = dyn_cast<Argument>(object)) {
      const CallBase *call = ways(entry).call.lookup(function);
      return call != nullptr && called_function(*call) == function &&
             argument->getArgNo() < call->arg_size() &&
             is_handed_over(*call->getArgOperand(argument->getArgNo()), *call, entry, depth + 1);
    }
    if (const auto *call = dyn_cast<CallBase>(object))
      return waits_.contains(called_function(*call)) &&
             none_of(call->args(), [&](const Value *given) { return same_value(*given, *call); });
    const auto *load = dyn_cast<LoadInst>(object);
    if (load == nullptr)
      return false;
    if (is_plain_variable(*load->getPointerOperand())) {
      bool any = false;
      for (const User *user : load->getPointerOperand()->users())
        if (const auto *store = dyn_cast<StoreInst>(user);
            store != nullptr && !isa<ConstantPointerNull>(store->getValueOperand())) {
          if (!is_handed_over(*store->getValueOperand(), *store, entry, depth + 1))
            return false;
          any = true;
        }
      return any;
    }
    const auto handed = [&](const Instruction *wait) {
      return may_follow(*load, *wait) &&
             none_of(cast<CallBase>(wait)->args(), [&](const Value *of) {
               return of->getType()->isPointerTy() && are_in_one_object(*load, *of);
             });
    };
    if (inside_.contains(load) && any_of(waits_before(*function), handed))
      return true;
    return is_handed_over(*load->getPointerOperand(), *load, entry, depth + 1);
  }

  // Whether the pointer leads into what the function soon hands to each thread of the entry that it
  // creates, an element of an array for each round of a loop: no thread has it yet.
  bool is_handed_next(const Value &pointer, const Instruction &at, std::uint32_t other) {
    const Value *object = getUnderlyingObject(&pointer, /*MaxLookup=*/0);
    const auto *load = dyn_cast<LoadInst>(object);
    if (load == nullptr || !is_plain_variable(*load->getPointerOperand()))
      return false;
    const StoreInst *set = nullptr; // where the variable gets the object
    for (const User *user : load->getPointerOperand()->users())
      if (const auto *store = dyn_cast<StoreInst>(user)) {
        if (set != nullptr)
          return false;
        set = store;
      }
    const std::vector<const CallBase *> creations = phases_.creations_of(other);
    return set != nullptr && is_next_element(*set) && !creations.empty() &&
           all_of(creations, [&](const CallBase *call) {
             return call->getFunction() == at.getFunction() && may_follow(*call, at, set) &&
                    !may_follow(at, *call, set) && any_of(call->args(), [&](const Value *given) {
                      return given->getType()->isPointerTy() && same_value(*given, *object);
                    });
           });
  }

  // Where a function waits for a condition, itself or in what it calls by name.
  const std::vector<const Instruction *> &waits_before(const Function &function) {
    const auto [known, fresh] = waiting_.try_emplace(&function);
    if (!fresh)
      return known->second;
    if (const auto own = waits_.find(&function); own != waits_.end())
      append_range(known->second, own->second);
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call != nullptr && waits_.contains(called_function(*call)))
        known->second.push_back(call);
    }
    return known->second;
  }

  // Whether the section gets to the access by calls of which the text tells where they lead.
  bool certain_in(const Inside &inside) {
    const Function *function = inside.access->instruction->getFunction();
    const Section &section = view_.sections[inside.section];
    if (function == section.function)
      return true;
    const auto [known, fresh] = certain_.try_emplace(inside.section);
    if (!fresh)
      return known->second.contains(function);
    std::vector<const Function *> work;
    const auto look_at = [&](const Instruction &instruction) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr)
        return;
      const auto targets = entered(*call);
      if (targets.size() <= kFewTargets)
        for (const Function *target : targets)
          if (known->second.insert(target).second)
            work.push_back(target);
    };
    if (section.kind == SectionKind::function)
      for (const Instruction &instruction : instructions(*section.function))
        look_at(instruction);
    for (const Instruction *instruction : section.body)
      look_at(*instruction);
    while (!work.empty()) {
      const Function *next = work.back();
      work.pop_back();
      for (const Instruction &instruction : instructions(*next))
        look_at(instruction);
    }
    return known->second.contains(function);
  }

  // Whether the pointer leads into an object that is being made, or into what the function is given
  // and each call of it outside all sections gives it an object that no other thread can reach yet.
  bool is_given_new(const Value &pointer, const Instruction &at, unsigned depth = 0) {
    constexpr unsigned kMostDeep = 4; // constructors of members and bases
    const Function *function = at.getFunction();
    const std::optional<Origin> origin = origin_of(&pointer, view_.module.getDataLayout());
    const auto calls = calls_of_.find(function);
    if (is_being_made(pointer, at, view_.points_to) || is_of_lock_made(pointer, at))
      return true;
    return depth < kMostDeep && origin && origin->offsets.size() == 1 && calls != calls_of_.end() &&
           all_of(
               calls->second,
               [&](const CallBase *call) {
                 if (called_function(*call) != function || origin->argument >= call->arg_size())
                   return false;
                 const Value &given = *call->getArgOperand(origin->argument);
                 const bool begins = // here, whatever this variable held before
                     isa<AllocaInst>(getUnderlyingObject(&given, 0)) && constructs(*call, given);
                 return begins || is_unpublished(given, *call, view_.points_to) ||
                        is_given_new(given, *call, depth + 1);
               });
  }

  // Whether the function has initialised a lock of the pointer's object and not published the
  // object yet; or has destroyed such a lock, or destroys it on every path from here without
  // waiting for another thread before. Only an owner without competitors may do that.
  bool is_of_lock_made(const Value &pointer, const Instruction &at) {
    const Value *object = getUnderlyingObject(&pointer, /*MaxLookup=*/0);
    if (isa<GlobalVariable>(object))
      return false;
    return any_of(locks_made_in(*at.getFunction()), [&](const LockMade &made) {
      if (!are_in_one_object(pointer, *made.lock))
        return false;
      const bool behind = may_follow(at, *made.call) && !may_follow(*made.call, at);
      if (made.life == LockLife::begins)
        return behind && is_untold(root_of(*object), &at, view_.points_to);
      return behind || (!may_follow(at, *made.call) && leads_to(at, *made.call));
    });
  }

  // The object that a variable holds which is set once: an argument, an allocation.
  static const Value &root_of(const Value &object) {
    const auto *load = dyn_cast<LoadInst>(&object);
    if (load == nullptr || !is_plain_variable(*load->getPointerOperand()))
      return object;
    const StoreInst *set = nullptr;
    for (const User *user : load->getPointerOperand()->users())
      if (const auto *store = dyn_cast<StoreInst>(user)) {
        if (set != nullptr)
          return object;
        set = store;
      }
    return set == nullptr ? object : *set->getValueOperand();
  }

  // Whether each way from an instruction comes to a call before the function ends, and before
  // anything that may wait for another thread.
  bool leads_to(const Instruction &from, const CallBase &call) {
    DenseSet<const BasicBlock *> seen;
    std::vector<const Instruction *> work{&from};
    while (!work.empty()) {
      const Instruction *at = work.back();
      work.pop_back();
      for (; at != &call && !at->isTerminator(); at = at->getNextNode())
        if (const auto *other = dyn_cast<CallBase>(at);
            asks_others(*at) || (other != nullptr && may_wait(*other)))
          return false;
      if (at == &call)
        continue;
      const auto *invoke = dyn_cast<InvokeInst>(at);
      if (at->getNumSuccessors() == 0 || (invoke != nullptr && may_wait(*invoke)))
        return false;
      for (const BasicBlock *next : successors(at->getParent()))
        if (seen.insert(next).second)
          work.push_back(&next->front());
    }
    return true;
  }

  // Whether a call may wait for another thread: it takes a lock, creates or joins threads, waits by
  // its name, or calls by pointer, itself or in what it calls.
  bool may_wait(const CallBase &call) {
    const Function *callee = called_function(call);
    if (isa<IntrinsicInst>(call) || (callee != nullptr && lock_life(callee->getName())))
      return false;
    if (callee == nullptr || view_.locks.at(call) != nullptr || phases_.changes_at(call))
      return true;
    if (callee->isDeclaration())
      return any_of(ArrayRef<StringRef>{"wait", "join", "barrier", "sleep", "poll", "select"},
                    [&](StringRef word) { return callee->getName().contains(word); });
    const auto [known, fresh] = may_wait_.try_emplace(callee, true); // if it calls itself
    if (!fresh)
      return known->second;
    const bool waits = any_of(instructions(*callee), [&](const Instruction &instruction) {
      const auto *inner = dyn_cast<CallBase>(&instruction);
      return asks_others(instruction) || (inner != nullptr && may_wait(*inner));
    });
    return may_wait_[callee] = waits;
  }

  const std::vector<LockMade> &locks_made_in(const Function &function, unsigned steps = 2) {
    const auto [known, fresh] = locks_made_.try_emplace({&function, steps});
    std::vector<LockMade> &made = known->second;
    if (!fresh)
      return made;
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      if (callee == nullptr || call->arg_size() == 0)
        continue;
      if (const auto life = lock_life(callee->getName())) {
        made.push_back({call, call->getArgOperand(0), *life});
      } else if (steps > 0 && !callee->isDeclaration() && callee != &function) {
        for (const LockMade &inner : locks_made_in(*callee, steps - 1))
          if (const auto origin = origin_of(inner.lock, callee->getDataLayout());
              origin && origin->offsets.size() == 1 && origin->argument < call->arg_size())
            made.push_back({call, call->getArgOperand(origin->argument), inner.life});
      }
    }
    return made;
  }

  // Functions that a thread of the entry runs outside all sections, and a call on a way to each:
  // without a call that may enter many functions, where there is such a way.
  struct Ways {
    DenseMap<const Function *, const CallBase *> call;
    DenseSet<const Function *> doubtful; // there is none
  };
  const Ways &ways(std::uint32_t entry) {
    const auto [known, fresh] = ways_.try_emplace(entry);
    if (!fresh)
      return known->second;
    Ways &ways = known->second;
    const SmallVector<const Function *, 2> first = begins(view_.sharing.entries()[entry]);
    std::deque<const Function *> work(first.begin(), first.end());
    std::deque<Steps> doubtful;
    DenseSet<const Function *const *> arrays; // of which all are reached
    for (const Function *begin : first)
      ways.call[begin] = nullptr;
    bool sure = true;
    const auto take = [&](const Steps &one) {
      for (const Function *target : one.targets)
        if (ways.call.try_emplace(target, one.call).second) {
          work.push_back(target);
          if (!sure)
            ways.doubtful.insert(target);
        }
    };
    while (!work.empty() || !doubtful.empty()) {
      if (work.empty()) {
        sure = false;
        take(doubtful.front());
        doubtful.pop_front();
        continue;
      }
      const Function *function = work.front();
      work.pop_front();
      for (const Steps &one : steps(*function))
        if (one.targets.size() > kFewTargets) {
          if (arrays.insert(one.targets.data()).second)
            doubtful.push_back(one);
        } else {
          take(one);
        }
    }
    return ways;
  }

  // Whether a thread of `entry` may be at `outside` while another one is at `inside`, in a section.
  bool may_meet(std::uint32_t entry, const Instruction &outside, const EntrySet &section,
                const Instruction &inside) {
    return any_of(section, [&](std::uint32_t other) {
      return phases_.may_meet(entry, outside, other, inside);
    });
  }

  void visit(const Instruction &instruction, const EntrySet &entered) {
    const SmallVector<Access, 2> accesses = accesses_of(instruction);
    if (accesses.empty() || view_.sharing.entries_of(instruction).empty())
      return;
    bool outside = false; // not asked yet
    for (const Access &access : accesses) {
      std::optional<AccessKinds::Kind> kind;
      for (const Cell &cell : view_.points_to.places(*access.pointer)) {
        if (!at_node_.contains(cell.node))
          continue;
        if (!outside && (held_.may_hold(instruction) ||
                         is_unpublished(*access.pointer, instruction, view_.points_to)))
          return;
        if (!outside)
          place_ = place_of(instruction);
        outside = true;
        if (!kind)
          kind = kinds_.of(access);
        const std::vector<Meeting> &met = met_at(cell.node, *kind);
        for (const auto &[begin, end] : view_.points_to.ranges(cell, access.size))
          for (const Meeting &meeting : met)
            if (const Spot &spot = spots_[meeting.spot]; begin < spot.end && spot.begin < end)
              add(meeting, instruction, access, entered);
      }
    }
  }

  void add(const Meeting &meeting, const Instruction &outside, const Access &access,
           const EntrySet &entered) {
    Spot &spot = spots_[meeting.spot];
    const auto known = [&](bool sure, bool inside_writes) {
      return spot.found && spot.found->rank() <= std::tuple<bool, bool, bool, const Place &>(
                                                     !sure, !access.writes, !inside_writes, place_);
    };
    if (known(true, true))
      return;
    for (const std::uint32_t i : meeting.inside) {
      const Inside &inside = spot.touched[i];
      const bool writes = inside.access->writes;
      if ((!access.writes && !writes) || known(true, writes))
        continue;
      if (const auto entry = evidence(inside, outside, access, entered)) {
        spot.found = Pair{inside, &outside, access, place_, *entry, true};
        continue;
      }
      if (known(false, writes))
        continue;
      for (const std::uint32_t entry : entered)
        if (may_meet(entry, outside, view_.effects[inside.section].entries,
                     *inside.access->instruction)) {
          spot.found = Pair{inside, &outside, access, place_, entry, false};
          break;
        }
    }
  }

  void report(std::uint32_t location, const Pair &pair) {
    const char *how = pair.access.atomic        ? " (the access is atomic)"
                      : pair.access.is_volatile ? " (the access is volatile)"
                                                : "";
    const Section &section = view_.sections[pair.inside.section];
    const char *inside = pair.inside.access->writes ? "written" : "read";
    ReportFinding finding =
        finding_at(pair.sure ? "unprotected-access" : "possible-race", place_of(*pair.outside),
                   fmt::format("'{}' is {} here outside all sections, and {} in section '{}'{}",
                               view_.locations[location].name,
                               pair.access.writes ? "written" : "read", inside, section.name, how));
    finding.notes.push_back(note_at(place_of(*pair.inside.access->instruction),
                                    fmt::format("{} here in section '{}'", inside, section.name)));
    add_way(pair, finding);
    if (const Accesses of_field = accesses_[kinds_.field(kinds_.of(pair.access))]; of_field.all > 2)
      finding.notes.push_back(note_at(place_of(*pair.outside),
                                      fmt::format("{} of {} accesses to it are in sections or with "
                                                  "a lock held",
                                                  of_field.inside, of_field.all)));
    findings_.push_back(std::move(finding));
  }

  // How the thread gets to the access outside.
  void add_way(const Pair &pair, ReportFinding &finding) {
    std::vector<std::pair<const CallBase *, const Function *>> way;
    const Function *function = pair.outside->getFunction();
    const Ways &ways = this->ways(pair.entry);
    while (const CallBase *call = ways.call.at(function)) {
      way.emplace_back(call, function);
      function = call->getFunction();
    }
    for (const auto &[call, target] : reverse(way))
      finding.notes.push_back(note_at(
          place_of(*call), fmt::format("'{}' calls '{}' here, outside all sections",
                                       source_name(*call->getFunction()), source_name(*target))));
  }

  const AnalysisView &view_;
  const HeldLocks &held_;
  Phases &phases_;
  Findings &findings_;
  const VirtualSlots slots_;
  AccessKinds kinds_;
  DenseSet<const Function *> marked_;
  DenseSet<const Function *> once_;
  DenseSet<const Instruction *> inside_;                 // lock regions and blocks
  std::map<std::uint32_t, std::vector<Inside>> touched_; // by location
  std::vector<Spot> spots_;                              // by location
  std::map<NodeId, std::vector<std::size_t>> at_node_;   // of spots_
  std::map<std::pair<NodeId, AccessKinds::Kind>, std::vector<Meeting>> met_at_;
  std::map<const Function *, std::vector<Steps>> steps_;
  std::map<std::pair<const Function *const *, std::optional<std::int64_t>>,
           std::vector<const Function *>>
      entered_;                        // by array, and the virtual call's entry
  std::map<std::uint32_t, Ways> ways_; // by entry, of those that a finding is about
  std::map<const Function *, EntrySet> entered_by_;
  // Calls of each function outside all sections.
  DenseMap<const Function *, std::vector<const CallBase *>> calls_of_;
  // Of functions that wait for conditions, the waits; of those that were asked for, also the calls
  // that lead to them.
  std::map<const Function *, std::vector<const Instruction *>> waits_;
  std::map<const Function *, std::vector<const Instruction *>> waiting_;
  // Of functions asked for, by how many calls deep.
  std::map<std::pair<const Function *, unsigned>, std::vector<LockMade>> locks_made_;
  DenseMap<const Function *, bool> may_wait_;
  std::map<std::size_t, DenseSet<const Function *>> certain_; // by section, what it gets to
  std::map<std::uint32_t, Accesses> accesses_;                // by field
  std::set<std::tuple<std::uint32_t, AccessKinds::Kind, bool, const Instruction *, EntrySet>>
      alike_;
  Place place_; // of the instruction that is visited
};

} // namespace

void find_unprotected_accesses(const AnalysisView &view, const HeldLocks &held, Phases &phases,
                               Findings &findings) {
  UnprotectedFinder(view, held, phases, findings).find();
}

} // namespace tandem
