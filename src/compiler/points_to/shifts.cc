// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointer arithmetic by constants in the flow of objects: which offsets of its objects a moved
// pointer may have, and when it counts as one that walks through an array (flow.h).
#include "compiler/points_to/flow.h"

#include <optional>
#include <utility>

namespace tandem {

namespace {

// Steps that one instruction takes a pointer within an object before it counts as walking through
// an array; and offsets of one object before none is told from another.
constexpr std::uint32_t kSteps = 8;
constexpr std::uint32_t kMostOffsets = 1024;

} // namespace

// Whether a pointer that is moved upwards came from before the array that `offset` lies in: it
// walks over bytes of a record, and leaves the array again.
bool ObjectFlow::walks_into(FlowNode node, ObjectId object, std::uint64_t offset,
                            std::uint64_t distance) const {
  const Layout &layout = objects_[object].layout;
  const auto array = layout.array_around(offset, distance);
  if (!array || offset < distance || offset - distance >= array->first)
    return false;
  return has(node, object, offset - distance);
}

bool ObjectFlow::has(FlowNode node, ObjectId object, std::uint64_t offset) const {
  const auto known = element_ids_.find({object, objects_[object].layout.fold(offset)});
  return known != element_ids_.end() && sets_[node].test(known->second);
}

void ObjectFlow::shift(FlowNode node, const Use &use, const ElementSet &fresh, bool again) {
  ElementSet shifted;
  for (const ElementId id : fresh) {
    const auto [object, raw] = elements_[id];
    if (!is_place(object) || objects_[object].outside) {
      shifted.insert(id);
      continue;
    }
    Layout &layout = objects_[object].layout;
    const std::uint64_t offset = layout.fold(raw);
    const auto distance = static_cast<std::uint64_t>(use.amount < 0 ? -use.amount : use.amount);
    if (use.amount >= 0 && walks_into(node, object, offset, distance)) {
      if (layout.walk(offset - distance, distance))
        refold(object);
      shifted.insert(element_at(object, offset + distance));
      continue;
    }
    const auto array =
        use.kind == Use::Kind::step ? layout.array_around(offset, distance) : std::nullopt;
    if (array && use.amount >= 0 && array->second - offset <= distance) {
      if (array->second - offset < distance)
        continue;
      // A pointer one past the end accesses nothing, but code may subtract from it: keep it as the
      // element it was computed from, in a fold whose period is the distance.
      if (layout.index(offset, distance, /*downwards=*/false))
        refold(object);
      shifted.insert(element_at(object, layout.fold(offset)));
      continue;
    }
    if (!again && ++steps_of_[{use.other, object}] > kSteps) {
      // A pointer that walks; over bytes from the begin of an array, perhaps out of it.
      const auto around = use.amount == 1 ? layout.array_around(offset, 1) : std::nullopt;
      const bool free = around && has(node, object, around->first);
      const bool changed =
          objects_[object].elements.size() > kMostOffsets
              ? layout.collapse()
              : layout.index(free ? around->first : offset, distance, use.amount < 0, free);
      if (changed)
        refold(object);
    }
    if (use.amount >= 0) {
      shifted.insert(element_at(object, offset + distance));
      continue;
    }
    const auto below = layout.below(layout.fold(offset), distance);
    if (!below && layout.collapse())
      refold(object);
    if (!below)
      shifted.insert(element_at(object, 0));
    else
      for (const std::uint64_t end : *below)
        if (!array || (array->first <= end && end < array->second))
          shifted.insert(element_at(object, end));
  }
  add(use.other, shifted);
}

// Repeats the shifts and indices of pointers into objects whose offsets have folded, or whose
// arrays have become larger, since they were applied.
void ObjectFlow::shift_again() {
  ElementSet moved;
  for (const ObjectId object : std::exchange(refolded_, {}))
    for (const ElementId id : objects_[object].elements)
      moved.insert(id);
  for (const auto &[of, uses] : uses_) {
    const FlowNode node = root(of);
    for (const Use &one : uses) {
      const bool shifts = one.kind == Use::Kind::shift || one.kind == Use::Kind::step;
      if ((!shifts && one.kind != Use::Kind::index) || !sets_[node].intersects(moved))
        continue;
      ElementSet of_these = sets_[node];
      of_these.intersect(moved);
      steps_ += of_these.count();
      if (shifts)
        shift(node, one, of_these, /*again=*/true);
      else
        use(node, one, of_these);
    }
  }
}

} // namespace tandem
