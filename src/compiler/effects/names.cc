// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of locations: the access path that the program writes most often for each.
#include "compiler/effects/effects.h"

#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/origin.h"

#include "llvm/IR/DebugInfoMetadata.h"

#include "llvm/IR/Function.h"

#include <algorithm>

namespace tandem {

using namespace llvm;

namespace {

// A path that depends on no function's variables says most; then the shortest.
struct Candidate {
  std::string text;
  bool global = false;
  std::size_t count = 0;
};

bool better(const Candidate &a, const Candidate &b) {
  const bool a_known = a.text.find('?') == std::string::npos;
  const bool b_known = b.text.find('?') == std::string::npos;
  return std::tuple(b_known, b.global, b.count, a.text.size(), a.text) <
         std::tuple(a_known, a.global, a.count, b.text.size(), b.text);
}

// Whether the C++ library computes the address: the program does not know such names as `__x`.
bool is_in_library(const Value &address) {
  const auto *instruction = dyn_cast<Instruction>(&address);
  const auto *argument = dyn_cast<Argument>(&address);
  const Function *function = instruction != nullptr ? instruction->getFunction()
                             : argument != nullptr  ? argument->getParent()
                                                    : nullptr;
  return function != nullptr && is_library_function(*function);
}

// The function outside the program that has returned the object at `address`; null if it is none.
const Function *returned_by(const Value &address) {
  const auto *instruction = dyn_cast<Instruction>(&address);
  const auto *call =
      instruction == nullptr
          ? nullptr
          : dyn_cast<CallBase>(base_of(&address, instruction->getModule()->getDataLayout()).first);
  const Function *callee = call == nullptr ? nullptr : called_function(*call);
  return callee != nullptr && callee->isDeclaration() ? callee : nullptr;
}

} // namespace

// What lies there, for a location that no access names.
std::string Effects::object_name(const Location &location) const {
  if (points_to_.is_external(location.node))
    return "(memory of code outside the program)";
  const Value *label = points_to_.label(location.object);
  if (label == nullptr) {
    const NodeObjects objects = points_to_.objects(location.node);
    if (!objects.globals.empty())
      label = objects.globals.front();
    else if (!objects.heap.empty())
      label = objects.heap.front();
    else if (!objects.stack.empty())
      label = objects.stack.front();
    else
      return "(memory)";
  }
  if (const auto *global = dyn_cast<GlobalObject>(label))
    return isa<Function>(global) ? "(memory of " + source_name(*global) + ")"
                                 : source_name(*global);
  const auto *instruction = dyn_cast<Instruction>(label);
  const std::string place = instruction == nullptr ? "" : source_place(*instruction);
  return std::string(isa<CallBase>(label) ? "(heap" : "(stack") +
         (place.empty() ? ")" : " of " + place + ")");
}

std::string Effects::name_of(std::uint32_t location) const {
  std::map<std::string, Candidate> candidates;
  const Function *outside = nullptr;
  for (const Sample &sample : samples_[location]) {
    if (is_in_library(*sample.address))
      continue;
    if (outside == nullptr)
      outside = returned_by(*sample.address);
    const AccessPath path = access_path(
        sample.address, sample.size == PointsToAnalysis::kUnknownSize ? 0 : sample.size);
    Candidate &candidate = candidates[path.print()];
    candidate.global = path.global != nullptr;
    ++candidate.count;
  }
  Candidate best;
  for (auto &[text, candidate] : candidates) {
    candidate.text = text;
    if (best.text.empty() || better(candidate, best))
      best = candidate;
  }
  if (!best.text.empty() && best.text != "*?" && best.text != "?")
    return best.text;
  return outside != nullptr && points_to_.is_external(locations_[location].node)
             ? "(memory of " + source_name(*outside) + ")"
             : object_name(locations_[location]);
}

std::vector<std::string> Effects::aliases(std::uint32_t location) const {
  std::set<std::string> names;
  for (const Sample &sample : samples_[location])
    if (!is_in_library(*sample.address))
      names.insert(access_path(sample.address,
                               sample.size == PointsToAnalysis::kUnknownSize ? 0 : sample.size)
                       .print());
  names.erase(locations_[location].name);
  return {names.begin(), names.end()};
}

void Effects::name_locations(const std::set<std::uint32_t> &used) {
  std::map<std::string, std::vector<std::uint32_t>> by_name;
  for (const std::uint32_t id : used) {
    locations_[id].name = name_of(id);
    by_name[locations_[id].name].push_back(id);
  }
  for (const auto &[name, ids] : by_name) {
    // Objects that one pointer may mean go by one name; other memory of that name by where it lies.
    std::map<NodeId, std::string> nodes;
    std::map<std::string, unsigned> uses;
    std::map<std::pair<NodeId, ObjectId>, std::uint64_t> first;
    for (const std::uint32_t id : ids) {
      const Location &location = locations_[id];
      first.try_emplace({location.node, location.object}, location.begin);
      if (const auto [entry, fresh] = nodes.try_emplace(location.node); fresh) {
        entry->second = object_name(location);
        if (const unsigned number = ++uses[entry->second]; number > 1)
          entry->second += fmt::format(" #{}", number);
      }
    }
    for (const std::uint32_t id : ids) {
      Location &location = locations_[id];
      const std::uint64_t begin = first.at({location.node, location.object});
      const bool apart = location.begin != begin && location.end > begin &&
                         name.find_first_of("?(") != std::string::npos;
      if (nodes.size() > 1 && nodes.at(location.node) != name)
        location.name += " in " + nodes.at(location.node);
      if (apart)
        location.name += fmt::format(" +{}", location.begin);
    }
  }
}

} // namespace tandem
