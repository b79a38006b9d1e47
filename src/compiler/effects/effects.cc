// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/effects/effects.h"

#include "base/check.h"
#include "base/doing.h"
#include "compiler/points_to/components.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/promises.h"
#include "compiler/sections/told.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"

#include <algorithm>

namespace tandem {

using namespace llvm;

namespace {

constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();
// Addresses kept for each location, to name it by.
constexpr std::size_t kSamples = 16;
// Types of accesses to one place of many objects.
constexpr std::size_t kMostTypes = 32;

} // namespace

std::string source_place(const Instruction &instruction) {
  const DebugLoc &location = instruction.getDebugLoc();
  if (!location)
    return "";
  return fmt::format("{}:{}", cast<DIScope>(location.getScope())->getFilename().str(),
                     location.getLine());
}

Effects::Effects(const Module &module, const Catalogue &catalogue,
                 const PointsToAnalysis &points_to, const Sharing &sharing)
    : actions_(module, catalogue), types_(module), points_to_(points_to), sharing_(sharing),
      layout_(module.getDataLayout()), hides_outside_(points_to.hides_outside()),
      program_(points_to.node_count()) {
  std::set<const Function *> known(points_to_.exported().begin(), points_to_.exported().end());
  for (const PointsToAnalysis::Spawn &spawn : points_to_.spawns())
    if (spawn.when == Callback::When::later)
      known.insert(spawn.function);
  for (const Function &function : module)
    if (known.contains(&function))
      known_outside_.push_back(&function);
  survey(module);
}

// Finds the parts of objects that count as one where accesses are of too many types to tell apart.
void Effects::find_typeless(const Module &module) {
  std::map<ObjectRange, std::set<AccessType>> types;
  for (const Function &function : module)
    if (!function.isDeclaration())
      for (const Own &own : facts_of(function).own)
        for (const ObjectRange &range : own.touch.objects)
          if (points_to_.is_united(range.object))
            types[range].insert(own.touch.type);
  for (const auto &[range, all] : types)
    if (all.size() > kMostTypes)
      typeless_.insert(range);
}

// What each function's own instructions do; and from where in the program memory is touched.
void Effects::survey(const Module &module) {
  find_typeless(module);
  for (const Function &function : module) {
    if (function.isDeclaration())
      continue;
    const FunctionFacts &facts = facts_of(function);
    for (const Own &own : facts.own) {
      const EntrySet &entries = sharing_.entries_of(*own.instruction);
      const auto [set, fresh] =
          entry_sets_.try_emplace(&entries, static_cast<std::uint32_t>(entry_set_of_.size()));
      if (fresh)
        entry_set_of_.push_back(&entries);
      for (const std::uint32_t id : locations_of(own.touch)) {
        if (own.touch.address != nullptr && samples_[id].size() < kSamples)
          samples_[id].push_back({own.touch.address, own.touch.size});
        if (entries.empty())
          continue;
        const Location &location = locations_[id];
        if (location.node >= program_.size())
          program_.resize(location.node + 1);
        if (own.touch.reads)
          program_[location.node].push_back(
              {location.object, location.begin, location.end, location.type, set->second, false});
        if (own.touch.writes)
          program_[location.node].push_back(
              {location.object, location.begin, location.end, location.type, set->second, true});
      }
    }
  }
  for (std::vector<ProgramAccess> &accesses : program_) {
    std::sort(accesses.begin(), accesses.end());
    accesses.erase(std::unique(accesses.begin(), accesses.end()), accesses.end());
    accesses.shrink_to_fit();
  }
}

std::uint32_t Effects::location(NodeId node, const Range &range) {
  const auto [entry, fresh] =
      ids_.try_emplace({node, range}, static_cast<std::uint32_t>(locations_.size()));
  if (fresh) {
    locations_.push_back({.node = node,
                          .object = range.object,
                          .begin = range.begin,
                          .end = range.end,
                          .type = range.type,
                          .shared = false,
                          .name = ""});
    samples_.emplace_back();
  }
  return entry->second;
}

// In the program's graph.
std::vector<std::uint32_t> Effects::locations_of(const Touch &touch) {
  std::vector<std::uint32_t> found;
  for (const Cell &place : points_to_.places(touch.cell)) {
    Summary one;
    for (const ObjectRange &range : touch.objects)
      add_range(place, {range, touch.type}, kReads, one);
    for (const std::uint32_t id : one.reads)
      found.push_back(id);
  }
  return found;
}

const Effects::FunctionFacts &Effects::facts_of(const Function &function) {
  if (const FunctionFacts *known = known_facts_.lookup(&function))
    return *known;
  FunctionFacts &facts = facts_[&function];
  for (const Instruction &instruction : instructions(function))
    add_facts(instruction, facts);
  known_facts_[&function] = &facts;
  return facts;
}

Effects::FunctionFacts Effects::facts_of(const Section &section) {
  FunctionFacts facts;
  for (const Instruction *instruction : section.body)
    add_facts(*instruction, facts);
  return facts;
}

void Effects::add_facts(const Instruction &instruction, FunctionFacts &facts) {
  for (const Touch &touch : touches(instruction))
    facts.own.push_back({&instruction, touch});
  if (mixed_atomics_.contains(&instruction))
    facts.irrevocable.try_emplace(std::string(kAtomicOperation), &instruction, false);
  if (!isa<CallBase>(instruction))
    if (const std::string action = actions_.irrevocable_action(instruction); !action.empty())
      facts.irrevocable.try_emplace(action, &instruction, false);
  if (const auto *call = dyn_cast<CallBase>(&instruction))
    add_call_facts(*call, facts);
}

// A function outside that may touch anything may also call back what it, or its library, was given
// earlier: an event loop runs the handlers of events.
ArrayRef<const Function *> Effects::targets_of(const CallBase &call) {
  const Function *callee = called_function(call);
  const bool outside = points_to_.may_leave(call) ||
                       (callee != nullptr && callee->isDeclaration() && !callee->isIntrinsic() &&
                        !is_lock_operation(*callee) && !is_pure(*callee) &&
                        points_to_.entry(*callee).touches_anything);
  if (!outside || known_outside_.empty())
    return points_to_.targets(call);
  if (points_to_.targets(call).empty())
    return known_outside_;
  const auto [entry, fresh] = targets_.try_emplace(&call);
  if (fresh) {
    append_range(entry->second, points_to_.targets(call));
    const std::set<const Function *> known(entry->second.begin(), entry->second.end());
    for (const Function *function : known_outside_)
      if (!known.contains(function))
        entry->second.push_back(function);
  }
  return entry->second;
}

void Effects::add_call_facts(const CallBase &call, FunctionFacts &facts) {
  if (const ArrayRef<const Function *> targets = targets_of(call); !targets.empty())
    facts.calls.push_back({&call, targets});
  const Function *callee = called_function(call);
  if (callee != nullptr && callee->isDeclaration() && is_lock_operation(*callee)) {
    // Signals and waits have transactional versions.
    if (!actions_.irrevocable_action(call).empty())
      facts.irrevocable.try_emplace(callee->getName().str(), &call, true);
    facts.lock_operations.push_back(&call);
    return;
  }
  if (callee == nullptr && !call.isInlineAsm()) {
    for (const Function *target : points_to_.external_targets(call))
      if (const std::string action = actions_.irrevocable_call(call, *target); !action.empty())
        facts.irrevocable.try_emplace(action, &call, false);
    for (const Function *target : points_to_.targets(call))
      if (is_unsafe(*target))
        facts.irrevocable.try_emplace(source_name(*target), &call, false);
    if (points_to_.may_leave(call) ||
        (points_to_.targets(call).empty() && points_to_.external_targets(call).empty()))
      facts.irrevocable.try_emplace("(indirect call)", &call, false);
    return;
  }
  if (const std::string action = actions_.irrevocable_action(call); !action.empty())
    facts.irrevocable.try_emplace(action, &call, false);
}

bool Effects::is_lock_operation(const Function &callee) {
  const auto known = lock_operations_.find(&callee);
  if (known != lock_operations_.end())
    return known->second;
  const std::optional<LockFunction> found = lock_function(callee);
  return lock_operations_[&callee] = found && (found->operation || found->signals);
}

// Memory of the function's own that nothing else can reach.
bool Effects::is_private(const Value *address) {
  const Value *object = address->stripInBoundsOffsets();
  if (!isa<AllocaInst>(object))
    return isa<ConstantPointerNull>(object) || isa<UndefValue>(object);
  const auto [entry, fresh] = captured_.try_emplace(object, false);
  if (fresh)
    entry->second = PointerMayBeCaptured(object, /*ReturnCaptures=*/true, /*StoreCaptures=*/true);
  return !captured_.lookup(object);
}

void Effects::touch(const Value *address, std::uint64_t size, bool reads, bool writes,
                    std::vector<Touch> &out) {
  if ((!reads && !writes) || is_private(address))
    return;
  const std::optional<Cell> cell = points_to_.local(*address);
  if (!cell) {
    if (isa<ConstantExpr>(address)) // a number
      touch_outside(reads, writes, out);
    return;
  }
  const std::vector<ObjectRange> objects = points_to_.objects(*address, size);
  if (objects.empty()) {
    if (points_to_.comes_from_nowhere(*address))
      touch_outside(reads, writes, out);
    return;
  }
  if (points_to_.may_be_hidden(*address))
    touch_hidden(reads, writes, out);
  if (points_to_.has_objects()) {
    out.push_back({.cell = *cell,
                   .end = kToTheEnd,
                   .reads = reads,
                   .writes = writes,
                   .address = address,
                   .size = size,
                   .objects = objects});
    return;
  }
  for (const auto &[begin, end] : points_to_.ranges(*cell, size))
    out.push_back({.cell = {cell->node, begin},
                   .end = end,
                   .reads = reads,
                   .writes = writes,
                   .address = address,
                   .size = size,
                   .objects = {{0, begin, end}}});
}

// What a pointer denotes and all that it leads to.
void Effects::touch_all(const Value &pointer, bool reads, bool writes, std::vector<Touch> &out) {
  const std::optional<Cell> cell = points_to_.local(pointer);
  if (!cell)
    return;
  if (points_to_.may_be_hidden(pointer))
    touch_hidden(reads, writes, out);
  const std::vector<ObjectRange> objects = points_to_.reachable_objects(pointer);
  for (const NodeId node : points_to_.reachable(*cell))
    out.push_back({.cell = {node, 0},
                   .end = kToTheEnd,
                   .reads = reads,
                   .writes = writes,
                   .objects = objects});
}

// Through a pointer that was hidden: any object that is.
void Effects::touch_hidden(bool reads, bool writes, std::vector<Touch> &out) {
  for (const auto &[cell, objects] : points_to_.hidden_places())
    out.push_back(
        {.cell = cell, .end = kToTheEnd, .reads = reads, .writes = writes, .objects = objects});
}

void Effects::touch_outside(bool reads, bool writes, std::vector<Touch> &out) {
  out.push_back({.cell = points_to_.external(),
                 .end = kToTheEnd,
                 .reads = reads,
                 .writes = writes,
                 .objects = {ObjectRange{}}});
}

std::vector<Effects::Touch> Effects::touches(const Instruction &instruction) {
  std::vector<Touch> out;
  const auto size = [&](Type *type) { return layout_.getTypeStoreSize(type).getFixedValue(); };
  if (const auto *load = dyn_cast<LoadInst>(&instruction))
    touch(load->getPointerOperand(), size(load->getType()), true, false, out);
  else if (const auto *store = dyn_cast<StoreInst>(&instruction))
    touch(store->getPointerOperand(), size(store->getValueOperand()->getType()), false, true, out);
  else if (const auto *update = dyn_cast<AtomicRMWInst>(&instruction))
    touch(update->getPointerOperand(), size(update->getType()), true, true, out);
  else if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    touch(exchange->getPointerOperand(), size(exchange->getNewValOperand()->getType()), true, true,
          out);
  else if (const auto *arguments = dyn_cast<VAArgInst>(&instruction))
    touch(arguments->getPointerOperand(), PointsToAnalysis::kUnknownSize, true, true, out);
  else if (const auto *call = dyn_cast<CallBase>(&instruction))
    touch_call(*call, out);
  if (!isa<CallBase>(instruction))
    for (Touch &touch : out)
      touch.type = types_.of(instruction);
  return out;
}

void Effects::touch_call(const CallBase &call, std::vector<Touch> &out) {
  constexpr std::uint64_t kUnknown = PointsToAnalysis::kUnknownSize;
  const auto length = [](const Value *value) {
    const auto *constant = dyn_cast<ConstantInt>(value);
    return constant == nullptr ? kUnknown : constant->getZExtValue();
  };
  if (const auto *transfer = dyn_cast<AnyMemTransferInst>(&call)) {
    touch(transfer->getRawDest(), length(transfer->getLength()), false, true, out);
    touch(transfer->getRawSource(), length(transfer->getLength()), true, false, out);
    return;
  }
  if (const auto *set = dyn_cast<AnyMemSetInst>(&call)) {
    touch(set->getRawDest(), length(set->getLength()), false, true, out);
    return;
  }
  if (const std::optional<ListOperation> list = list_operation(call)) {
    touch(list->written, list->bytes, false, true, out);
    if (list->read != nullptr)
      touch(list->read, list->bytes, true, false, out);
    return;
  }
  // A parameter that is passed in memory is copied.
  for (unsigned i = 0; i < call.arg_size(); ++i)
    if (Type *copied = call.getParamByValType(i))
      touch(call.getArgOperand(i), layout_.getTypeStoreSize(copied).getFixedValue(), true, false,
            out);
  if (points_to_.may_leave(call))
    touch_outside(true, true, out);
  const auto *intrinsic = dyn_cast<IntrinsicInst>(&call);
  if (call.isInlineAsm() || intrinsic != nullptr) {
    const bool nothing = intrinsic != nullptr ? is_harmless(*intrinsic)
                                              : call.arg_empty() || call.doesNotAccessMemory();
    if (nothing)
      return;
    for (const Value *argument : call.args())
      if (argument->getType()->isPtrOrPtrVectorTy())
        touch(argument, kUnknown, !call.onlyWritesMemory(), !call.onlyReadsMemory(), out);
    return;
  }
  if (const Function *callee = called_function(call)) {
    if (callee->isDeclaration())
      touch_external(call, *callee, out);
    return;
  }
  for (const Function *target : points_to_.external_targets(call))
    touch_external(call, *target, out);
}

void Effects::touch_external(const CallBase &call, const Function &callee,
                             std::vector<Touch> &out) {
  if (call.doesNotAccessMemory() || is_lock_operation(callee))
    return;
  const CatalogueEntry &entry = points_to_.entry(callee);
  const bool may_write = !call.onlyReadsMemory();
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const Value *argument = call.getArgOperand(i);
    if (!argument->getType()->isPointerTy())
      continue;
    const bool reads = entry.reads.contains(i);
    const bool writes = entry.writes.contains(i) && may_write;
    touch(argument, PointsToAnalysis::kUnknownSize, reads, writes, out);
    if (entry.follows.contains(i) && (reads || writes) && !is_private(argument))
      touch_all(*argument, true, writes, out);
  }
  if (!entry.own.empty())
    if (const std::optional<Cell> own = points_to_.own_memory(callee))
      out.push_back({.cell = {own->node, 0},
                     .end = kToTheEnd,
                     .reads = true,
                     .writes = entry.writes_own && may_write,
                     .objects = {{points_to_.own_object(callee), 0, kToTheEnd}}});
  if (entry.touches_anything)
    touch_outside(true, may_write, out);
}

// A range of an object that a node may hold; where objects are not told apart, of the node.
void Effects::add_range(const Cell &cell, const Range &range, std::uint8_t how, Summary &summary) {
  const Cell root = points_to_.find(cell);
  if (!points_to_.everywhere(root)) {
    summary.local[{root, range}] |= how;
    return;
  }
  if (points_to_.places(root).empty())
    return;
  if (!points_to_.may_hold(root.node, range.object)) {
    // What code outside knows by hidden pointers the graph does not show as known to it.
    if (range.object == 0 && hides_outside_)
      add_range(points_to_.external(), range, how, summary);
    return;
  }
  const auto take = [&](const ObjectRange &part) {
    const AccessType type = typeless_.contains(part) ? kAnyAccess : range.type;
    const std::uint32_t id = location(root.node, {part, type});
    if ((how & kReads) != 0)
      summary.reads.set(id);
    if ((how & kWrites) != 0)
      summary.writes.set(id);
  };
  if (points_to_.has_objects()) {
    take(range.object == 0 ? ObjectRange{} : ObjectRange(range));
  } else if (range.end == kToTheEnd) {
    std::uint64_t begin = root.offset;
    for (const Fold &fold : points_to_.folds(root.node))
      if (fold.begin <= begin && begin < fold.end)
        begin = fold.begin;
    take({0, begin, kToTheEnd});
  } else {
    for (const auto &[begin, end] : points_to_.ranges(root, range.end - range.begin))
      take({0, begin, end});
  }
}

// What a function's own instructions do, its calls apart.
void Effects::add(const FunctionFacts &facts, Summary &summary) {
  for (const Own &own : facts.own)
    add(own.touch, summary);
  for (const auto &[name, action] : facts.irrevocable) {
    const auto [entry, fresh] = action_numbers_.try_emplace(
        {name, action.second}, static_cast<unsigned>(actions_met_.size()));
    if (fresh)
      actions_met_.push_back(entry->first);
    summary.actions.set(entry->second);
  }
  summary.has_lock_operations |= !facts.lock_operations.empty();
}

void Effects::add(const Touch &touch, Summary &summary) {
  const auto how =
      static_cast<std::uint8_t>((touch.reads ? kReads : 0) | (touch.writes ? kWrites : 0));
  for (const ObjectRange &range : touch.objects)
    add_range(touch.cell, {range, touch.type}, how, summary);
}

// What the target of a call does, as its caller knows it.
void Effects::add(const Call &call, Summary &summary) {
  for (const Function *target : call.targets) {
    const Summary &callee = summaries_[group_.at(target)];
    if (&callee == &summary)
      continue;
    summary.reads |= callee.reads;
    summary.writes |= callee.writes;
    summary.actions |= callee.actions;
    summary.has_lock_operations |= callee.has_lock_operations;
    for (const auto &[key, how] : callee.local) {
      const auto &[cell, range] = key;
      if (const std::optional<Cell> known = points_to_.in_caller(*call.call, *target, cell))
        add_range(*known, range, how, summary);
    }
  }
}

// Of calls that have all their targets in common, and the same memory of theirs, one stands for
// all.
void Effects::add(const std::vector<Call> &calls, Summary &summary) {
  std::set<const Function *const *> seen;
  for (const Call &call : calls)
    if (!points_to_.is_in_crowd(*call.call) || seen.insert(call.targets.data()).second)
      add(call, summary);
}

void Effects::summarise(const Module &module, const std::set<const Function *> &needed) {
  const auto groups = components(module, [&](const CallBase &call) { return targets_of(call); });
  summaries_.reserve(groups.size());
  for (const auto &group : groups) {
    const auto number = static_cast<std::uint32_t>(summaries_.size());
    summaries_.emplace_back();
    for (const Function *function : group)
      group_[function] = number;
    if (none_of(group, [&](const Function *function) { return needed.contains(function); }))
      continue;
    Summary &summary = summaries_.back();
    std::vector<Call> calls;
    for (const Function *function : group) {
      const FunctionFacts &facts = facts_of(*function);
      add(facts, summary);
      append_range(calls, facts.calls);
    }
    add(calls, summary);
    // Of functions that call each other those that are not pure keep what cannot be undone.
    if (all_of(group, [](const Function *function) { return is_pure(*function); }))
      summary.actions.clear();
  }
}

void Effects::add_by_others(const Function &function) {
  const auto group = group_.find(&function);
  if (group == group_.end())
    return;
  const Summary &summary = summaries_[group->second];
  for (const std::uint32_t id : summary.reads)
    by_others_[locations_[id].node].try_emplace(id, false);
  for (const std::uint32_t id : summary.writes)
    by_others_[locations_[id].node][id] = true;
}

bool Effects::meets_others(const SectionEffects &section) const {
  const auto meets = [&](std::uint32_t id, bool writes) {
    const Location &location = locations_[id];
    const auto found = by_others_.find(location.node);
    return location.shared && found != by_others_.end() &&
           any_of(found->second, [&](const auto &other) {
             return (writes || other.second) && may_meet(location, locations_[other.first]);
           });
  };
  return any_of(section.reads, [&](std::uint32_t id) { return meets(id, false); }) ||
         any_of(section.writes, [&](std::uint32_t id) { return meets(id, true); });
}

std::vector<SectionEffects> Effects::of(const std::vector<Section> &sections, bool meets_others) {
  if (sections.empty())
    return {};
  std::set<const Function *> needed;
  std::vector<const Function *> work;
  const auto need = [&](const Function *function) {
    if (!function->isDeclaration() && needed.insert(function).second)
      work.push_back(function);
  };
  std::set<const Function *const *> arrays;
  const auto need_targets = [&](const FunctionFacts &facts) {
    for (const Call &call : facts.calls)
      if (arrays.insert(call.targets.data()).second)
        for_each(call.targets, need);
  };
  for (const Section &section : sections) {
    if (is_whole_function(section))
      need(section.function);
    else
      need_targets(facts_of(section));
  }
  const auto close = [&] {
    while (!work.empty()) {
      const Function *function = work.back();
      work.pop_back();
      need_targets(facts_of(*function));
    }
  };
  close();
  reached_ = needed;
  find_mixed_atomics(sections, needed);
  const std::vector<const Function *> others =
      meets_others ? sharing_.called_from_outside() : std::vector<const Function *>();
  for_each(others, need);
  close();
  summarise(*sections.front().function->getParent(), needed);
  std::vector<SectionEffects> all;
  std::set<std::uint32_t> used;
  for (const Section &section : sections) {
    const Doing what(told("analysing", section));
    all.push_back(effects_of(section));
    used.insert(all.back().reads.begin(), all.back().reads.end());
    used.insert(all.back().writes.begin(), all.back().writes.end());
  }
  mark_shared(used);
  name_locations(used);
  for (const Function *function : others)
    add_by_others(*function);
  for (SectionEffects &effects : all)
    std::erase_if(effects.accesses,
                  [&](const SectionAccess &access) { return !locations_[access.location].shared; });
  return all;
}

void Effects::mark_shared(const std::set<std::uint32_t> &used) {
  // Whether entries overlap, two of them tell as well as all (Sharing::may_overlap).
  const auto add = [&](EntrySet &into, const ProgramAccess &access) {
    for (const std::uint32_t entry : *entry_set_of_[access.entries])
      if (into.size() < 2 && !is_contained(into, entry))
        into.push_back(entry);
  };
  for (const std::uint32_t id : used) {
    Location &location = locations_[id];
    if (location.node >= program_.size())
      continue;
    EntrySet all;
    EntrySet writing;
    const std::vector<ProgramAccess> &accesses = program_[location.node];
    auto access = std::lower_bound(
        accesses.begin(), accesses.end(), location.object,
        [](const ProgramAccess &one, ObjectId wanted) { return one.object < wanted; });
    for (; access != accesses.end() && access->object == location.object && !location.shared;
         ++access) {
      if (access->begin >= location.end || location.begin >= access->end ||
          !types_.may_alias(access->type, location.type))
        continue;
      add(all, *access);
      if (access->writes)
        add(writing, *access);
      location.shared = sharing_.may_overlap(writing, all);
    }
  }
}

} // namespace tandem
