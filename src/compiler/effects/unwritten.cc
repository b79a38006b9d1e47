// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/effects/effects.h"

namespace tandem {

using namespace llvm;

std::vector<const LoadInst *> Effects::unwritten_reads(const std::vector<Section> &sections,
                                                       const std::vector<SectionEffects> &effects) {
  std::map<NodeId, std::vector<std::uint32_t>> written;
  std::set<std::uint32_t> all;
  for (const SectionEffects &of_one : effects)
    all.insert(of_one.writes.begin(), of_one.writes.end());
  for (const std::uint32_t id : all)
    written[locations_[id].node].push_back(id);
  // A section of another output may run functions of this one.
  for (const auto &[node, touched] : by_others_)
    for (const auto &[id, writes] : touched)
      if (writes)
        written[node].push_back(id);
  const auto is_unwritten = [&](std::uint32_t id) {
    const Location &location = locations_[id];
    // Sections of another output may write what code outside knows.
    if (points_to_.is_external(location.node) || (points_to_.has_objects() && location.object == 0))
      return false;
    const auto found = written.find(location.node);
    return found == written.end() || none_of(found->second, [&](std::uint32_t other) {
             return may_meet(location, locations_[other]);
           });
  };
  const auto touches_unwritten = [&](const Touch &touch) {
    Summary places;
    for (const Cell &place : points_to_.places(touch.cell))
      for (const ObjectRange &range : touch.objects)
        add_range(place, {range, touch.type}, kReads, places);
    bool all_unwritten = !places.reads.empty() && places.local.empty();
    for (const std::uint32_t id : places.reads)
      all_unwritten = all_unwritten && is_unwritten(id);
    return all_unwritten;
  };
  std::map<const Instruction *, bool> unwritten;
  const auto look_at = [&](const FunctionFacts &facts) {
    for (const Own &own : facts.own)
      if (isa<LoadInst>(own.instruction)) {
        const auto [entry, fresh] = unwritten.try_emplace(own.instruction, true);
        entry->second = entry->second && touches_unwritten(own.touch);
      }
  };
  for (const auto &[function, facts] : facts_)
    look_at(facts);
  for (const Section &section : sections)
    if (section.kind == SectionKind::block)
      look_at(facts_of(section));
  std::vector<const LoadInst *> result;
  for (const auto &[instruction, is_so] : unwritten)
    if (const auto *load = cast<LoadInst>(instruction); is_so && load->isSimple())
      result.push_back(load);
  return result;
}

} // namespace tandem
