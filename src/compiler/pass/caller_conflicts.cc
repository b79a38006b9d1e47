// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/caller_conflicts.h"

#include "compiler/conflicts/conflicts.h"
#include "compiler/points_to/specialise.h"

#include "llvm/IR/InstIterator.h"

namespace tandem {

using namespace llvm;

namespace {

// A section of the program as it is in one of its function's copies.
Section instance_of(const Section &section, Function &copy, const SpecialisedProgram &program) {
  DenseMap<const Value *, const Instruction *> copies;
  for (const Instruction &instruction : instructions(copy))
    copies[program.origin(instruction)] = &instruction;
  const auto call = [&](const CallBase *original) {
    return cast_or_null<CallBase>(copies.lookup(original));
  };
  Section made = section;
  made.function = &copy;
  made.entry.call = call(section.entry.call);
  for (const CallBase *&exit : made.exits)
    exit = call(exit);
  for (const CallBase *&partial : made.partial)
    partial = call(partial);
  std::erase(made.exits, nullptr);
  std::erase(made.partial, nullptr);
  made.body.clear();
  for (const Instruction *instruction : section.body)
    if (const Instruction *same = copies.lookup(instruction))
      made.body.push_back(same);
  return made;
}

} // namespace

CallerConflicts::CallerConflicts(const Module &module, const Catalogue &catalogue,
                                 const std::vector<Section> &sections) {
  const SpecialisedProgram program(module);
  const PointsToAnalysis points_to(program, catalogue);
  if (!points_to.has_objects())
    return;
  const Sharing sharing(program.module(), points_to);
  Effects effects(program.module(), catalogue, points_to, sharing);
  std::vector<Section> instances;
  std::vector<std::size_t> original;
  for (std::size_t i = 0; i < sections.size(); ++i)
    for (Function *copy : program.instances(*sections[i].function)) {
      instances.push_back(instance_of(sections[i], *copy, program));
      original.push_back(i);
    }
  const std::vector<SectionEffects> found = effects.of(instances);
  const ConflictGraph graph(
      found, effects.locations(),
      [&](std::size_t a, std::size_t b) {
        return sharing.may_overlap(found[a].entries, found[b].entries);
      },
      [&](const Location &a, const Location &b) { return effects.may_meet(a, b); });
  edges_.emplace();
  for (const auto &[pair, on] : graph.edges())
    edges_->insert(std::minmax(original[pair.first], original[pair.second]));
}

} // namespace tandem
