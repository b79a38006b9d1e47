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
#include "compiler/findings/handed_over.h"
#include "compiler/findings/new_objects.h"
#include "compiler/findings/phases.h"
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/findings/virtual_slots.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

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

class UnprotectedFinder {
public:
  UnprotectedFinder(const AnalysisView &view, const HeldLocks &held, Phases &phases,
                    Findings &findings)
      : view_(view), held_(held), phases_(phases), findings_(findings), slots_(view.module),
        new_objects_(view, phases), handed_over_(view), kinds_(view.module.getDataLayout()) {
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
    std::uint32_t other = 0; // if sure: whose thread is in the section
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

  // The thread that is certainly outside, and another one that is certainly in the section then.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>>
  evidence(const Inside &inside, const Instruction &outside, const Access &access,
           const EntrySet &entered) {
    if (!is_of_field_mostly_guarded(access, inside.kind) || !certain_in(inside) ||
        new_objects_.contain(*access.pointer, outside, calls_of_))
      return std::nullopt;
    for (const std::uint32_t entry : entered) {
      if (!phases_.is_known(entry) || ways(entry).doubtful.contains(outside.getFunction()) ||
          handed_over_.is_behind_wait(*access.pointer, outside, ways(entry).call))
        continue;
      for (const std::uint32_t other : view_.effects[inside.section].entries)
        if (phases_.is_known(other) &&
            !handed_over_.is_for_new_thread(*access.pointer, outside,
                                            phases_.creations_of(other)) &&
            phases_.certainly_meet(entry, outside, other, *inside.access->instruction) &&
            comes_beside(entry, outside, other))
          return std::pair(entry, other);
    }
    return std::nullopt;
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

  // Functions that a thread of the entry runs outside all sections, and a call on a way to each:
  // without a call that may enter many functions, where there is such a way.
  struct Ways {
    DenseMap<const Function *, const CallBase *> call;
    DenseSet<const Function *> doubtful; // there is none
    // For entries that the phases follow, by ways of the first kind alone: the threads that may
    // exist when it comes to each function, by where they are created, and a call that it comes by
    // while they do.
    DenseMap<const Function *, Phases::Sites> beside;
    DenseMap<std::pair<const Function *, unsigned>, const CallBase *> with;
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
    if (phases_.likely().is_followed(entry))
      find_beside(entry, ways);
    return ways;
  }

  void find_beside(std::uint32_t entry, Ways &ways) {
    const Phases &phases = phases_.likely();
    std::deque<const Function *> work;
    const auto add = [&](const Function *function, const Phases::Sites &sites,
                         const CallBase *call) {
      Phases::Sites fresh = sites;
      const auto [known, first] = ways.beside.try_emplace(function, sites);
      if (!first) {
        fresh.reset(known->second);
        known->second |= fresh;
      }
      for (const unsigned site : fresh.set_bits())
        ways.with[{function, site}] = call;
      if (first || fresh.any())
        work.push_back(function);
    };
    for (const Function *begin : begins(view_.sharing.entries()[entry]))
      add(begin, phases.at_begin(entry), nullptr);
    while (!work.empty()) {
      const Function *function = work.front();
      work.pop_front();
      const Phases::Sites entered = ways.beside.at(function);
      for (const Steps &one : steps(*function))
        if (one.targets.size() <= kFewTargets) {
          const Phases::Sites here = phases.at(*one.call, entered);
          for (const Function *target : one.targets)
            add(target, here, one.call);
        }
    }
  }

  // Where threads are created that exist when one of `entry` comes to the access, by a way of calls
  // of which the text tells where they lead.
  Phases::Sites sites_beside(std::uint32_t entry, const Instruction &outside) {
    const Ways &ways = this->ways(entry);
    const auto entered = ways.beside.find(outside.getFunction());
    return entered == ways.beside.end() ? Phases::Sites()
                                        : phases_.likely().at(outside, entered->second);
  }

  // Whether some way to the access is one on which a thread of `other` exists, as far as that is
  // followed.
  bool comes_beside(std::uint32_t entry, const Instruction &outside, std::uint32_t other) {
    const Phases &phases = phases_.likely();
    return entry == other || !phases.is_followed(entry) ||
           phases.may_run(other, entry, sites_beside(entry, outside));
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
      if (const auto threads = evidence(inside, outside, access, entered)) {
        const auto [entry, other] = *threads;
        spot.found = Pair{inside, &outside, access, place_, entry, true, other};
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

  // A location by the variable that one of the two accesses names, if one does: its own name may be
  // that of another variable, which the analysis does not tell apart from it.
  [[nodiscard]] std::string name_of(std::uint32_t location, const Pair &pair) {
    const auto path_of = [](const Access &access) {
      return access_path(access.pointer,
                         access.size == PointsToAnalysis::kUnknownSize ? 0 : access.size);
    };
    if (const AccessPath path = path_of(pair.access); path.global != nullptr)
      return path.print();
    for (const Access &access : accesses_of(*pair.inside.access->instruction))
      if (const AccessPath path = path_of(access);
          path.global != nullptr && kinds_.of(access) == pair.inside.kind)
        return path.print();
    return view_.locations[location].name;
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
                               name_of(location, pair), pair.access.writes ? "written" : "read",
                               inside, section.name, how));
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

  // How the thread gets to the access outside; while the other one exists, where that is known.
  void add_way(const Pair &pair, ReportFinding &finding) {
    std::vector<std::pair<const CallBase *, const Function *>> way;
    const Function *function = pair.outside->getFunction();
    const Ways &ways = this->ways(pair.entry);
    Phases::Sites beside;
    if (pair.sure && phases_.likely().is_followed(pair.entry)) {
      beside = sites_beside(pair.entry, *pair.outside);
      beside &= phases_.likely().sites_of(pair.other);
    }
    bool beside_at_entry = beside.any(); // not only from a creation in the function on
    const unsigned site = beside_at_entry ? static_cast<unsigned>(beside.find_first()) : 0;
    while (true) {
      const auto with = ways.with.find({function, site});
      beside_at_entry = beside_at_entry && with != ways.with.end();
      const CallBase *call = beside_at_entry ? with->second : ways.call.at(function);
      if (call == nullptr)
        break;
      way.emplace_back(call, function);
      function = call->getFunction();
    }
    for (const auto &[call, target] : reverse(way))
      if (!is_library_function(*call->getFunction())) // the program has no names for these
        finding.notes.push_back(note_at(
            place_of(*call), fmt::format("'{}' calls '{}' here, outside all sections",
                                         source_name(*call->getFunction()), source_name(*target))));
  }

  const AnalysisView &view_;
  const HeldLocks &held_;
  Phases &phases_;
  Findings &findings_;
  const VirtualSlots slots_;
  NewObjects new_objects_;
  HandedOver handed_over_;
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
  CallsOf calls_of_;
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
