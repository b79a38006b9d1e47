// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lies in objects: by offset, and copies of memory (flow.h).
#include "compiler/points_to/flow.h"

#include <algorithm>

namespace tandem {

namespace {

std::uint64_t distance(std::uint64_t begin, std::uint64_t end) {
  return end == kNoEnd ? kNoEnd : end - begin;
}

} // namespace

// What lies at an offset of an object; in those that code outside the program knows, anywhere.
FlowNode ObjectFlow::content(ObjectId object, std::uint64_t offset) {
  if (objects_[object].outside)
    return kOutside;
  offset = objects_[object].layout.fold(offset);
  auto &contents = objects_[object].contents;
  auto *const at = std::lower_bound(
      contents.begin(), contents.end(), offset,
      [](const auto &entry, std::uint64_t wanted) { return entry.first < wanted; });
  if (at != contents.end() && at->first == offset)
    return at->second;
  const FlowNode made = add_node();
  contents.insert(at, {offset, made});
  for (const Object::Filling &filling : objects_[object].fillings)
    if (filling.begin < offset + kAddressBytes && offset < filling.end)
      connect(filling.node, made);
  if (offset % kAddressBytes != 0) { // a part of what lies before it, perhaps
    const FlowNode part = add_node(Take::only_marks);
    connect(made, part);
    connect(part, content(object, offset - offset % kAddressBytes));
  }
  if (objects_[object].escaped && loads_hidden_)
    connect(made, kEscaped);
  if (objects_[object].escaped && stores_hidden_)
    connect(kHiddenPointer, made);
  return made;
}

// After the layout of an object changed: what lay at different offsets may lie at one.
void ObjectFlow::refold(ObjectId object) {
  again_ = true;
  refolded_.insert(object);
  for (const ElementId id : objects_[object].elements)
    if (elements_[id].second != objects_[object].layout.fold(elements_[id].second))
      stale_.insert(id);
  const auto old = std::move(objects_[object].contents);
  objects_[object].contents.clear();
  for (const auto &[offset, node] : old) {
    const std::uint64_t folded = objects_[object].layout.fold(offset);
    auto &contents = objects_[object].contents;
    auto *const at = std::lower_bound(
        contents.begin(), contents.end(), folded,
        [](const auto &entry, std::uint64_t wanted) { return entry.first < wanted; });
    if (at == contents.end() || at->first != folded) {
      contents.insert(at, {folded, node});
      continue;
    }
    const FlowNode other = at->second;
    connect(node, other);
    connect(other, node);
    if (untyped_.contains(node))
      untyped_.insert(other);
  }
  refill(object);
}

void ObjectFlow::process_copy(std::pair<ObjectId, std::uint64_t> source,
                              std::pair<ObjectId, std::uint64_t> target, std::uint64_t size,
                              bool typed) {
  const auto [from, begin] = source;
  const auto [to, at] = target;
  if (objects_[to].constant)
    return;
  if (to == kMarks || !is_place(from) || objects_[from].outside) {
    const FlowNode held = from == kMarks ? kHiddenPointer : kOutside;
    if (from == kMarks)
      load_hidden();
    if (to == kMarks) {
      if (is_place(from) && !objects_[from].outside) {
        const Object held_there = objects_[from]; // storing fills objects
        for (const auto &[offset, node] : held_there.contents)
          store_hidden(node);
        for (const Object::Filling &filling : held_there.fillings)
          if (const std::optional<FlowNode> filled = filler(filling.node))
            store_hidden(*filled);
      } else {
        store_hidden(held);
      }
    } else {
      fill(to, at, size, held);
    }
    return;
  }
  // Of unknown size: up to the end of either array.
  if (size == kNoEnd)
    size =
        std::min(distance(begin, objects_[from].layout.length_end(begin)),
                 objects_[to].outside ? kNoEnd : distance(at, objects_[to].layout.length_end(at)));
  const std::uint64_t end = saturating_add(begin, size);
  // An array's contents arrive as an array's.
  const llvm::SmallVector<Fold, 4> folds(objects_[from].layout.folds());
  for (const Fold &fold : folds) {
    if (begin >= fold.end || fold.begin >= end || source == target || size <= fold.period)
      continue;
    const std::uint64_t last = std::min(fold.end, end);
    if (!objects_[to].outside && objects_[to].layout.add_folds(Fold{
                                     std::max(fold.begin, begin) - begin + at,
                                     last == kNoEnd ? kNoEnd : last - begin + at, fold.period}))
      refold(to);
  }
  const auto fillings = objects_[from].fillings;
  for (const Object::Filling &filling : fillings)
    if (begin < filling.end && filling.begin < end)
      if (const std::optional<FlowNode> filled = filler(filling.node))
        fill(to, at, size, *filled);
  const auto contents = objects_[from].contents;
  for (const auto &[offset, node] : contents) {
    std::uint64_t ahead = offset;
    for (const Fold &fold : folds)
      if (ahead < begin && fold.begin <= ahead && begin < fold.end)
        ahead += (begin - ahead + fold.period - 1) / fold.period * fold.period;
    if (ahead < begin && ahead + kAddressBytes > begin && folds.empty() &&
        !sets_[root(node)].empty()) {
      // The end of an address.
      connect(node, kEscaped);
      connect(kHiddenPointer, content(to, at));
    }
    if (ahead < begin || ahead - begin >= size)
      continue;
    ++steps_;
    const FlowNode copy = content(to, at + (ahead - begin));
    if ((!typed || untyped_.contains(node)) && untyped_.insert(copy).second)
      again_ = true;
    connect(node, copy);
    if (!typed && sets_[root(node)].test(kHiddenNumber)) // copied memory may be a pointer's
      connect(kHiddenPointer, copy);
  }
}

// Copies of memory, pair of objects by pair.
void ObjectFlow::process_copies() {
  for (const MemoryCopy &copy : memory_copies_) {
    const auto sources = folded(sets_[root(copy.from)]);
    const auto targets = folded(sets_[root(copy.to)]);
    for (const auto &from : sources) {
      if (is_place(from.first) && !objects_[from.first].outside &&
          objects_[from.first].contents.empty() && objects_[from.first].fillings.empty())
        continue;
      for (const auto &to : targets) {
        ++steps_;
        process_copy(from, to, copy.size, copy.typed);
      }
    }
  }
}

} // namespace tandem
