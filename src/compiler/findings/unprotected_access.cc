// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// unprotected-access: a shared location that a section touches is also touched where no section
// runs, by a thread that may run at the same time, and one of the two writes. An access is outside
// all sections if a thread can get there without holding a lock and without being in a marked
// section. One finding for each location, at the access outside, unless another
// location has the same two accesses, or the same name there. Two accesses by pointers are evidence
// only where the field is mostly accessed in sections: else one of the two is likely an object that
// only its thread has, and they are a possible-race. So are those that only code outside the
// program might run at the same time, those behind a call by pointer of which the text does not
// tell where it leads, those by a pointer to an object that is being made or destroyed, and those
// by a pointer that was loaded in a section behind a wait for a condition, or is stored in one
// before a signal: what another thread has handed over, and what is about to be.
#include "compiler/effects/unpublished.h"
#include "compiler/findings/access.h"
#include "compiler/findings/accessed_objects.h"
#include "compiler/findings/handed_over.h"
#include "compiler/findings/new_objects.h"
#include "compiler/findings/outside_sections.h"
#include "compiler/findings/own_arguments.h"
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tandem {
namespace {

using namespace llvm;

class UnprotectedFinder {
public:
  UnprotectedFinder(const AnalysisView &view, const HeldLocks &held, Phases &phases,
                    Findings &findings)
      : view_(view), held_(held), phases_(phases), findings_(findings),
        outside_(view, held, phases), new_objects_(view, phases), handed_over_(view),
        kinds_(view.module.getDataLayout()), objects_(view) {
    for (std::size_t i = 0; i < view.sections.size(); ++i)
      for (const SectionAccess &access : view.effects[i].accesses)
        if (view.locations[access.location].shared &&
            !outside_.runs_once(*access.instruction->getFunction()))
          touch(i, access);
    find_locations();
  }

  void find() {
    count_inside();
    for (const auto &[function, entered] : outside_.entered())
      for (const OutsideSections::Steps &one : outside_.steps(*function))
        for (const Function *target : one.targets)
          calls_of_[target].push_back(one.call);
    for (const auto &[function, entered] : outside_.entered())
      for (const Instruction &instruction : instructions(*function))
        if (!is_library_function(*function) && !outside_.is_inside(instruction))
          visit(instruction, entered);
    report_spots();
  }

private:
  struct Inside {
    std::size_t section;
    const SectionAccess *access;
    AccessKinds::Kind kind;
    bool atomic;
    bool made; // the object is being made there, by the text around it
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
      const bool made = new_objects_.contain(*part.pointer, *access.instruction, CallsOf());
      if (alike_
              .emplace(access.location, kind, access.writes, part.atomic, made,
                       phases_.changes_in(*where) ? access.instruction : nullptr, entries)
              .second)
        touched_[access.location].push_back({section, &access, kind, part.atomic, made});
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

  // How often each field is accessed, as the text has it: where its lines are known, each counts
  // once.
  struct Accesses {
    std::size_t inside = 0; // sections, or with a lock held
    std::size_t all = 0;
  };
  void count_inside() {
    for (const Function &function : view_.module) {
      if (view_.sharing.entries_of(function).empty())
        continue;
      const bool enters = outside_.entered().contains(&function);
      std::set<std::tuple<std::uint32_t, bool, StringRef, unsigned>>
          lines; // of fields, inside or not
      for (const Instruction &instruction : instructions(function))
        for (const Access &access : accesses_of(instruction)) {
          const std::uint32_t field = kinds_.field(kinds_.of(access));
          if (field == 0 || is_unpublished(*access.pointer, instruction, view_.points_to))
            continue;
          const bool inside =
              !enters || outside_.is_inside(instruction) || held_.may_hold(instruction);
          if (const DebugLoc &at = instruction.getDebugLoc();
              at && at.getLine() != 0 &&
              !lines.emplace(field, inside, at->getFilename(), at.getLine()).second)
            continue;
          ++accesses_[field].all;
          accesses_[field].inside += inside ? 1 : 0;
        }
    }
  }

  [[nodiscard]] bool is_of_field_mostly_guarded(const Access &access, AccessKinds::Kind inside) {
    const AccessKinds::Kind outside = kinds_.of(access);
    if (kinds_.name_one_variable(outside, inside))
      return true;
    const std::uint32_t field = kinds_.field(outside); // 0: the text does not tell
    if (field == 0)
      return false;
    const Accesses of_field = accesses_[field];
    return 2 * of_field.inside >= of_field.all &&
           of_field.all - of_field.inside <= std::max<std::size_t>(1, of_field.all / 4);
  }

  // The thread that is certainly outside, and another one that is certainly in the section then.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>>
  evidence(const Inside &inside, const Instruction &outside, const Access &access,
           const EntrySet &entered) {
    if (!is_of_field_mostly_guarded(access, inside.kind) || !certain_in(inside) ||
        new_objects_.contain(*access.pointer, outside, calls_of_) || inside.made ||
        handed_over_.is_before_signal(*access.pointer, outside))
      return std::nullopt;
    const bool is_for_thread = handed_over_.is_for_new_thread(*access.pointer, outside);
    for (const std::uint32_t entry : entered) {
      if (!phases_.is_known(entry) ||
          outside_.ways(entry).doubtful.contains(outside.getFunction()) ||
          handed_over_.is_behind_wait(*access.pointer, outside, outside_.ways(entry).call))
        continue;
      for (const std::uint32_t other : view_.effects[inside.section].entries)
        if (phases_.is_known(other) &&
            !handed_over_.is_for_new_thread(*access.pointer, outside,
                                            phases_.creations_of(other)) &&
            !(is_for_thread && has_of_its_own(other, *inside.access->instruction)) &&
            phases_.certainly_meet(entry, outside, other, *inside.access->instruction) &&
            outside_.comes_beside(entry, outside, other))
          return std::pair(entry, other);
    }
    return std::nullopt;
  }

  // Whether all that an instruction accesses is what a thread of the entry was given.
  [[nodiscard]] bool has_of_its_own(std::uint32_t entry, const Instruction &instruction) const {
    return all_of(accesses_of(instruction), [&](const Access &access) {
      return OwnArguments::leads_from(view_.sharing.entries()[entry], *access.pointer);
    });
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
      const auto targets = outside_.targets(*call);
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
        for (const Meeting &meeting : met_at(cell.node, *kind))
          if (touches(access, cell, spots_[meeting.spot]))
            add(meeting, instruction, access, entered);
      }
    }
  }

  // Whether an access that may be at a cell may touch the spot there: its object, where objects are
  // told apart.
  bool touches(const Access &access, const Cell &cell, const Spot &spot) {
    const PointsToAnalysis &points_to = view_.points_to;
    const auto is_in = [&](std::uint64_t begin, std::uint64_t end) {
      return begin < spot.end && spot.begin < end;
    };
    if (points_to.has_objects() && !points_to.may_be_hidden(*access.pointer) &&
        !points_to.comes_from_nowhere(*access.pointer))
      return any_of(objects_.of(access), [&](const ObjectRange &range) {
        return range.object == view_.locations[spot.location].object &&
               is_in(range.begin, range.end);
      });
    return any_of(points_to.ranges(cell, access.size),
                  [&](const auto &range) { return is_in(range.first, range.second); });
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
      if ((!access.writes && !writes) || (access.atomic && inside.atomic) || known(true, writes))
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

  // Two accesses that have several locations in common are one finding, and so are locations of one
  // name at one access outside: objects, or ways to use their memory, that have no names.
  void report_spots() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < spots_.size(); ++i)
      if (spots_[i].found)
        order.push_back(i);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return spots_[a].found->rank() < spots_[b].found->rank();
    });
    std::set<std::pair<const Instruction *, const Instruction *>> accesses;
    std::set<std::pair<const Instruction *, std::string>> names;
    std::vector<std::size_t> chosen;
    for (const std::size_t i : order) {
      const Pair &pair = *spots_[i].found;
      const bool fresh = names.emplace(pair.outside, name_of(spots_[i].location, pair)).second;
      if (accesses.emplace(pair.outside, pair.inside.access->instruction).second && fresh)
        chosen.push_back(i);
    }
    sort(chosen);
    for (const std::size_t i : chosen)
      report(spots_[i].location, *spots_[i].found);
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
    const auto other = pair.sure ? std::optional(pair.other) : std::nullopt;
    for (const auto &[call, target] : outside_.way_to(*pair.outside, pair.entry, other))
      if (!is_library_function(*call->getFunction())) // the program has no names for these
        finding.notes.push_back(note_at(
            place_of(*call), fmt::format("'{}' calls '{}' here, outside all sections",
                                         shown_name(*call->getFunction()), shown_name(*target))));
  }

  const AnalysisView &view_;
  const HeldLocks &held_;
  Phases &phases_;
  Findings &findings_;
  OutsideSections outside_;
  NewObjects new_objects_;
  HandedOver handed_over_;
  AccessKinds kinds_;
  AccessedObjects objects_;
  std::map<std::uint32_t, std::vector<Inside>> touched_; // by location
  std::vector<Spot> spots_;                              // by location
  std::map<NodeId, std::vector<std::size_t>> at_node_;   // of spots_
  std::map<std::pair<NodeId, AccessKinds::Kind>, std::vector<Meeting>> met_at_;
  // Calls of each function outside all sections.
  CallsOf calls_of_;
  std::map<std::size_t, DenseSet<const Function *>> certain_; // by section, what it gets to
  std::map<std::uint32_t, Accesses> accesses_;                // by field
  std::set<
      std::tuple<std::uint32_t, AccessKinds::Kind, bool, bool, bool, const Instruction *, EntrySet>>
      alike_;
  Place place_; // of the instruction that is visited
};

} // namespace

void find_unprotected_accesses(const AnalysisView &view, const HeldLocks &held, Phases &phases,
                               Findings &findings) {
  UnprotectedFinder(view, held, phases, findings).find();
}

} // namespace tandem
