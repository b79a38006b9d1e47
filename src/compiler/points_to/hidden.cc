// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses that are hidden in numbers and bytes: the marks that stand for them, parts of addresses
// in memory, and what a hidden pointer leads to (flow.h).
#include "compiler/points_to/flow.h"

#include <algorithm>

namespace tandem {

FlowNode ObjectFlow::add_node(Take take) {
  const FlowNode node = add_node();
  takes_[node] = take;
  return node;
}

void ObjectFlow::hide(FlowNode from, FlowNode to) {
  copy(from, kEscaped);
  add_use(from, {.kind = Use::Kind::hide, .other = to});
}

void ObjectFlow::load_part(FlowNode address, std::uint64_t size, bool loaded, bool typed,
                           FlowNode result) {
  partial_accesses_.push_back({PartialAccess::Kind::load, address, result, size, loaded, typed});
}

void ObjectFlow::store_part(FlowNode address, std::uint64_t size, bool stored, FlowNode value) {
  partial_accesses_.push_back({PartialAccess::Kind::store, address, value, size, stored});
}

void ObjectFlow::give_bytes(FlowNode address, std::uint64_t size, FlowNode hand) {
  partial_accesses_.push_back({PartialAccess::Kind::give, address, hand, size});
}

void ObjectFlow::take_bytes(FlowNode address, std::uint64_t size, FlowNode hand) {
  partial_accesses_.push_back({PartialAccess::Kind::take, address, hand, size});
}

// What a node takes of elements that have marks among them.
ElementSet ObjectFlow::taken(Take take, const ElementSet &elements) const {
  if (take == Take::all)
    return elements;
  ElementSet marks;
  for (const ElementId mark : {kHidden, kHiddenNumber, kHiddenText})
    marks.insert(mark);
  ElementSet kept = elements.without(marks);
  if (take == Take::as_pointer)
    kept.insert(kHidden);
  else if (take == Take::as_number)
    kept.insert(kHiddenNumber);
  else if (take == Take::as_text)
    kept.insert(kHiddenText);
  else if (take == Take::only_marks)
    kept = elements.without(kept);
  else if (elements.test(kHidden))
    kept.insert(kHidden);
  return kept;
}

// Contents of an object that is hidden, as far as hidden pointers load and store.
void ObjectFlow::escape(ObjectId object) {
  if (object == kMarks || objects_[object].escaped)
    return;
  objects_[object].escaped = true;
  escaped_objects_.push_back(object);
  if (loads_hidden_)
    escape_contents(object);
  if (stores_hidden_)
    hide_contents(object);
}

void ObjectFlow::take_escaped(const ElementSet &fresh) {
  for (const ElementId id : fresh)
    escape(elements_[id].first);
  if (fresh.test(kAny) && !outside_escapes_) {
    outside_escapes_ = true;
    for (const ObjectId object : outside_objects_)
      escape(object);
  }
  open_hidden();
}

// Calls through hidden pointers, to functions that have escaped.
void ObjectFlow::open_hidden() {
  for (const std::uint32_t number : hidden_guards_)
    if (Guard &guard = guards_[number]; !guard.open && opens(guard, sets_[root(guard.pointer)]))
      open(guard);
}

void ObjectFlow::escape_contents(ObjectId object) {
  if (objects_[object].outside)
    connect(kOutside, kEscaped);
  for (const auto &[offset, node] : objects_[object].contents)
    connect(node, kEscaped);
}

// All of the object, so that copies of its memory have it too.
void ObjectFlow::hide_contents(ObjectId object) {
  if (objects_[object].outside)
    connect(kHiddenStored, kOutside);
  else
    fill(object, 0, kNoEnd - 1, kHiddenPointer);
  for (const auto &[offset, node] : objects_[object].contents)
    connect(kHiddenPointer, node);
}

// A hidden pointer is loaded through: what escaped objects hold has escaped.
void ObjectFlow::load_hidden() {
  if (loads_hidden_)
    return;
  loads_hidden_ = true;
  for (std::size_t i = 0; i < escaped_objects_.size(); ++i)
    escape_contents(escaped_objects_[i]);
}

// A hidden pointer is stored through: escaped objects may hold the value.
void ObjectFlow::store_hidden(FlowNode value) {
  connect(value, kHiddenStored);
  if (stores_hidden_)
    return;
  stores_hidden_ = true;
  connect(kHiddenStored, kEscaped);
  for (std::size_t i = 0; i < escaped_objects_.size(); ++i)
    hide_contents(escaped_objects_[i]);
}

// Whether a call may enter the function of a guard.
bool ObjectFlow::opens(const Guard &guard, const ElementSet &set) const {
  if (set.test(guard.function))
    return true;
  const Object &function = objects_[elements_[guard.function].first];
  return (set.test(kAny) && function.outside) ||
         ((set.test(kHidden) || set.test(kHiddenNumber)) && function.escaped);
}

// Any content of the bytes from `begin` on may be what `node` has.
void ObjectFlow::fill(ObjectId object, std::uint64_t begin, std::uint64_t size, FlowNode node) {
  if (objects_[object].constant)
    return;
  if (objects_[object].outside) {
    connect(node, kOutside);
    return;
  }
  const Layout &layout = objects_[object].layout;
  const std::uint64_t end = size == kNoEnd ? layout.length_end(begin) : saturating_add(begin, size);
  Object::Filling filling{begin, end, node};
  widen(object, filling);
  auto &fillings = objects_[object].fillings;
  const auto covers = [&](const Object::Filling &other) {
    return other.node == filling.node && other.begin <= filling.begin && filling.end <= other.end;
  };
  if (std::any_of(fillings.begin(), fillings.end(), covers))
    return;
  fillings.erase(std::remove_if(fillings.begin(), fillings.end(),
                                [&](const Object::Filling &other) {
                                  return other.node == filling.node &&
                                         filling.begin <= other.begin && other.end <= filling.end;
                                }),
                 fillings.end());
  fillings.push_back(filling);
  again_ = true; // it may be copied on
  apply(object, filling);
}

// What fills memory that other memory is copied to, which `node` fills.
std::optional<FlowNode> ObjectFlow::filler(FlowNode node) const {
  if (root(node) == root(kOutside))
    return kOutside;
  if (is_hidden(node))
    return kHiddenPointer;
  return sets_[root(node)].test(kHiddenText) ? std::optional(kHiddenWords) : std::nullopt;
}

// The elements of an array count as its first.
void ObjectFlow::widen(ObjectId object, Object::Filling &filling) const {
  for (const Fold &fold : objects_[object].layout.folds())
    if (fold.begin < filling.end && filling.begin < fold.end)
      filling.begin = std::min(filling.begin, fold.begin);
}

void ObjectFlow::apply(ObjectId object, const Object::Filling &filling) {
  for (const auto &[offset, node] : objects_[object].contents)
    if (filling.begin < offset + kAddressBytes && offset < filling.end)
      connect(filling.node, node);
}

void ObjectFlow::refill(ObjectId object) {
  for (std::size_t i = 0; i < objects_[object].fillings.size(); ++i) {
    widen(object, objects_[object].fillings[i]);
    apply(object, objects_[object].fillings[i]);
  }
}

// An address, or a part of one, goes where it is not followed; text stays what it is.
void ObjectFlow::give_content(FlowNode content, const PartialAccess &access) {
  const ElementSet &held = sets_[root(content)];
  if (held.empty())
    return;
  const bool text = access.kind == PartialAccess::Kind::give && held.test(kHiddenText);
  if (text && held.count() == 1) {
    connect(kHiddenWords, access.value);
    return;
  }
  if (!access.typed || untyped_.contains(content))
    connect(content, kEscaped);
  else if (!is_hidden(content) && !held.test(kHiddenText))
    return;
  connect(kHiddenPointer, access.value);
}

void ObjectFlow::process_part(const PartialAccess &access, ObjectId object, std::uint64_t offset) {
  using Kind = PartialAccess::Kind;
  const bool gives = access.kind == Kind::load || access.kind == Kind::give;
  if (object == kMarks) {
    if (gives) {
      load_hidden();
      connect(kHiddenPointer, access.value);
    } else if (!sets_[root(access.value)].empty() && !access.done) {
      store_hidden(access.value);
    }
    return;
  }
  if (gives) {
    if (objects_[object].outside) {
      if (!access.done)
        give_content(kOutside, access);
      return;
    }
    const Layout &layout = objects_[object].layout;
    const std::uint64_t end =
        access.size == kNoEnd ? layout.length_end(offset) : saturating_add(offset, access.size);
    Object::Filling range{offset, end, 0};
    widen(object, range);
    for (const auto &[at, node] : objects_[object].contents)
      if (range.begin < at + kAddressBytes && at < range.end && !(access.done && at == offset))
        give_content(node, access);
    for (const Object::Filling &filling : objects_[object].fillings)
      if (range.begin < filling.end && filling.begin < range.end)
        give_content(filling.node, access);
    return;
  }
  if (sets_[root(access.value)].empty() || objects_[object].constant)
    return;
  if (access.kind == Kind::take) {
    fill(object, offset, access.size, access.value);
    return;
  }
  if (!access.done)
    connect(access.value, content(object, offset));
  if (offset % kAddressBytes == 0)
    return;
  const FlowNode begin = content(object, offset - offset % kAddressBytes);
  if (access.done) // an address, or a part of one
    give_content(access.value, {PartialAccess::Kind::store, 0, begin, 0});
  else
    connect(access.value, begin);
}

// Accesses of parts of addresses and of many bytes, once the rest is known.
void ObjectFlow::process_parts() {
  for (std::size_t i = 0; i < partial_accesses_.size(); ++i) {
    const PartialAccess access = partial_accesses_[i];
    const bool takes =
        access.kind == PartialAccess::Kind::store || access.kind == PartialAccess::Kind::take;
    if (takes && sets_[root(access.value)].empty())
      continue;
    for (const auto &[object, offset] : folded(sets_[root(access.address)])) {
      ++steps_;
      process_part(access, object, offset);
    }
  }
}

} // namespace tandem
