// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic operations that a catalogue says need not be undone. In a transaction such a one runs at
// once and as it stands: it neither sees what the transaction has written so far nor changes what
// transactions read beside it. It is left so only where no section touches the same memory in
// another way, nor may one of another output, which this analysis does not see.
#include "compiler/effects/effects.h"

namespace tandem {

using namespace llvm;

void Effects::find_mixed_atomics(const std::vector<Section> &sections,
                                 const std::set<const Function *> &needed) {
  if (actions_.holds_atomics())
    return;
  std::map<NodeId, std::map<std::uint32_t, bool>> plain; // locations; whether one writes
  std::vector<Own> atomics;
  const auto look_at = [&](const FunctionFacts &facts) {
    for (const Own &own : facts.own)
      if (own.instruction->isAtomic())
        atomics.push_back(own);
      else
        for (const std::uint32_t id : locations_of(own.touch))
          plain[locations_[id].node][id] |= own.touch.writes;
  };
  for (const Function *function : needed)
    look_at(facts_of(*function));
  for (const Section &section : sections)
    if (!is_whole_function(section))
      look_at(facts_of(section));
  const auto meets = [&](std::uint32_t id, bool writes) {
    const Location &location = locations_[id];
    if (points_to_.is_external(location.node) || (points_to_.has_objects() && location.object == 0))
      return true;
    const auto found = plain.find(location.node);
    return found != plain.end() && any_of(found->second, [&](const auto &other) {
             return (writes || other.second) && may_meet(location, locations_[other.first]);
           });
  };
  for (const Own &own : atomics)
    if (any_of(locations_of(own.touch),
               [&](std::uint32_t id) { return meets(id, own.touch.writes); }))
      mixed_atomics_.insert(own.instruction);
  for (const Instruction *instruction : mixed_atomics_)
    if (const auto facts = facts_.find(instruction->getFunction()); facts != facts_.end())
      facts->second.irrevocable.try_emplace(std::string(kAtomicOperation), instruction, false);
}

} // namespace tandem
