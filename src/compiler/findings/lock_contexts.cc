// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/lock_contexts.h"

#include "compiler/findings/run_once.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstIterator.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <tuple>

namespace tandem {
namespace {

using namespace llvm;

// Sets of locks that one thread comes to one function with; with more, none is told apart.
constexpr std::size_t kMostContexts = 8;

// In these sets: a lock that is held as a reader.
constexpr std::uint32_t kReader = 1U << 31;
std::uint32_t lock_of(std::uint32_t held) { return held & ~kReader; }

// The locks that may be, and those that are certainly held, each as this file has them.
std::pair<LockSet, LockSet> sets_of(const HeldState &state) {
  std::pair<LockSet, LockSet> sets;
  for (const auto &[from, to] : {std::pair{&state.may, &sets.first}, {&state.must, &sets.second}})
    for (const std::uint32_t lock : *from)
      to->insert(state.shared.test(lock) ? lock | kReader : lock);
  for (const std::uint32_t control : state.once)
    for (LockSet *set : {&sets.first, &sets.second})
      set->insert(control | kReader);
  return sets;
}

} // namespace

LockContexts::LockContexts(const AnalysisView &view, const HeldLocks &held)
    : view_(view), held_(held), slots_(view.module) {
  for (const Section &section : view.sections)
    if (section.kind != SectionKind::lock_region)
      marked_.insert(section.function);
  find();
}

std::pair<LockContexts::SetId, LockContexts::SetId>
LockContexts::held_at(const Instruction &instruction) {
  auto [may, must] = sets_of(held_.held_at(instruction));
  const SetId possible = set_id(std::move(may));
  return {possible, set_id(std::move(must))};
}

LockContexts::SetId LockContexts::set_id(LockSet set) {
  const auto [known, fresh] = set_ids_.try_emplace(std::move(set), sets_.size());
  if (fresh)
    sets_.push_back(&known->first);
  return known->second;
}

LockContexts::SetId LockContexts::with(SetId outer, SetId inner) {
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
LockContexts::SetId LockContexts::common(SetId one, SetId other) {
  if (one == other)
    return one;
  LockSet both;
  for (const std::uint32_t held : *sets_[one])
    for (const std::uint32_t known : {held, held ^ kReader})
      if (sets_[other]->test(known))
        both.insert(held | known);
  return set_id(std::move(both));
}

const std::vector<LockContexts::Step> &LockContexts::steps(const Function &function) {
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
        targets = proxied_.try_emplace(callee, once_targets(*call, view_.points_to)).first->second;
    }
    const SetId may = set_id(std::move(locks));
    const SetId must = set_id(std::move(always));
    if (!targets.empty() &&
        seen.emplace(targets.data(), may, must, VirtualSlots::slot(*call)).second)
      known->second.push_back({call, may, must, targets});
  }
  return known->second;
}

bool LockContexts::has_lock(SetId set) const {
  return any_of(*sets_[set],
                [&](std::uint32_t held) { return !held_.classes()[lock_of(held)].once; });
}

bool LockContexts::has_section(SetId set) const {
  return any_of(*sets_[set], [&](std::uint32_t held) {
    const LockClass &lock = held_.classes()[lock_of(held)];
    return !lock.once && !lock.semaphore;
  });
}

void LockContexts::find() {
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
          add(*target, {context.entry, with(context.locks, step.held)}, with(always, step.always));
  }
}

// Whether control is in what a call lets one thread run.
bool LockContexts::runs_once(SetId set) const {
  return any_of(*sets_[set], [&](std::uint32_t held) {
    return !(held & kReader) && held_.classes()[lock_of(held)].once;
  });
}

// A function that stands for an operation on a lock. The C++ library's others lead on to what
// the program has given it to run.
bool LockContexts::is_operation(const Function &function) const {
  return view_.locks.is_wrapper(function) && !is_library_function(function);
}

bool LockContexts::have_common_lock(SetId a, SetId b, bool fixed) const {
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

std::string LockContexts::print(SetId set) const {
  std::string text;
  for (const std::uint32_t held : *sets_[set])
    if (const LockClass &lock = held_.classes()[lock_of(held)]; !lock.once)
      text += fmt::format("{}'{}'{}", text.empty() ? "" : ", ", lock.name,
                          held & kReader ? " (as a reader)" : "");
  return text.empty() ? "no lock" : text;
}

} // namespace tandem
