// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/parts.h"

#include "compiler/convert/sites.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"

#include <algorithm>
#include <map>
#include <set>
#include <tandem/abi.h>

namespace tandem {
namespace {

using namespace llvm;

// The entries of the file whose locks a section may acquire, in whatever it calls.
std::set<std::size_t> locks_of(const Section &section, const PointsToAnalysis &points_to) {
  std::set<std::size_t> locks;
  SetVector<const Function *> called;
  const auto look = [&](const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr)
      return;
    if (const auto lock = converted_lock(*call))
      locks.insert(*lock);
    for (const Function *target : points_to.targets(*call))
      called.insert(target);
  };
  if (section.body.empty())
    called.insert(section.function);
  for (const Instruction *instruction : section.body)
    look(*instruction);
  for (std::size_t i = 0; i < called.size(); ++i) // grows
    for (const Instruction &instruction : instructions(*called[i]))
      look(instruction);
  return locks;
}

} // namespace

std::vector<std::uint32_t> parts_of(const std::vector<Section> &sections,
                                    const ConflictGraph &graph, const PointsToAnalysis &points_to) {
  EquivalenceClasses<std::size_t> together;
  std::map<std::size_t, std::size_t> first_with; // lock: section
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].kind == SectionKind::lock_region)
      continue;
    together.insert(i);
    for (const std::size_t lock : locks_of(sections[i], points_to))
      together.unionSets(i, first_with.try_emplace(lock, i).first->second);
  }
  for (const auto &[pair, on] : graph.edges())
    if (sections[pair.first].kind != SectionKind::lock_region &&
        sections[pair.second].kind != SectionKind::lock_region)
      together.unionSets(pair.first, pair.second);
  std::vector<std::vector<std::size_t>> classes;
  for (auto leader = together.begin(); leader != together.end(); ++leader)
    if (leader->isLeader())
      classes.emplace_back(together.member_begin(leader), together.member_end());
  for (std::vector<std::size_t> &members : classes)
    std::sort(members.begin(), members.end());
  std::sort(classes.begin(), classes.end(), [](const auto &a, const auto &b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
  });
  std::vector<std::uint32_t> parts(sections.size());
  for (std::size_t part = 0; part < classes.size(); ++part)
    for (const std::size_t section : classes[part])
      parts[section] = static_cast<std::uint32_t>(std::min<std::size_t>(part, TANDEM_PARTS - 1));
  return parts;
}

} // namespace tandem
