// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/points_to/flow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/GlobalVariable.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

namespace tandem {

namespace {

// Elements handed on, for each node, before the analysis is given up: it is worth its time where
// sets are small.
constexpr std::uint64_t kStepsPerNode = 4096;
// Elements handed on, for each node, before the order is made anew. With 8 a third of memcached's
// analysis was making it, with 32 an eighth.
constexpr std::uint64_t kStepsPerOrder = 32;
constexpr std::uint64_t kStepsToStart = 1U << 22U;
// A few seconds. Memcached takes 12 to 145 million, by the order in which its files are linked.
constexpr std::uint64_t kMostSteps = 1U << 28U;
constexpr std::uint64_t kPatience = 16;

} // namespace

ObjectFlow::ObjectFlow() {
  objects_.push_back({.layout = {}, .contents = {}, .elements = {}, .outside = true}); // kAnything
  objects_.push_back({.layout = {}, .contents = {}, .elements = {}});                  // kMarks
  for (const FlowNode node : {kOutside, kEscaped, kHiddenPointer, kHiddenStored, kHiddenWords})
    if (add_node() != node)
      llvm_unreachable("the first nodes have numbers of their own");
  sets_[kOutside].insert(element_at(kAnything, 0));    // kAny
  sets_[kHiddenPointer].insert(element_at(kMarks, 0)); // kHidden
  element_at(kMarks, 1);                               // kHiddenNumber
  sets_[kHiddenWords].insert(element_at(kMarks, 2));   // kHiddenText
}

FlowNode ObjectFlow::add_node() {
  const auto node = static_cast<FlowNode>(parent_.size());
  parent_.push_back(node);
  sets_.emplace_back();
  successors_.emplace_back();
  takes_.push_back(Take::all);
  if (solving_) {
    done_.emplace_back();
    queued_.push_back(false);
  }
  return node;
}

ObjectId ObjectFlow::object(const llvm::Value &label) {
  const auto [entry, fresh] = ids_.try_emplace(&label, static_cast<ObjectId>(objects_.size()));
  if (fresh)
    objects_.push_back({.label = &label, .layout = {}, .contents = {}, .elements = {}});
  if (const auto *global = llvm::dyn_cast<llvm::GlobalVariable>(&label); fresh && global != nullptr)
    objects_.back().constant = global->isConstant();
  return entry->second;
}

ElementId ObjectFlow::element_at(ObjectId object, std::uint64_t offset) {
  if (objects_[object].outside && !objects_[object].elements.empty())
    return objects_[object].elements.front(); // none of its places is told from another
  offset = objects_[object].layout.fold(offset);
  const auto [entry, fresh] =
      element_ids_.try_emplace({object, offset}, static_cast<ElementId>(elements_.size()));
  if (fresh) {
    elements_.emplace_back(object, offset);
    objects_[object].elements.push_back(entry->second);
  }
  return entry->second;
}

FlowNode ObjectFlow::pointer_to(const llvm::Value &label) {
  const auto known = pointers_.find(&label);
  if (known != pointers_.end())
    return known->second;
  const FlowNode node = add_node();
  ElementSet begin;
  begin.insert(element_at(object(label), 0));
  if (solving_)
    add(node, begin);
  else
    sets_[node] = begin;
  return pointers_[&label] = node;
}

FlowNode ObjectFlow::root(FlowNode node) const {
  while (parent_[node] != node) {
    parent_[node] = parent_[parent_[node]];
    node = parent_[node];
  }
  return node;
}

void ObjectFlow::copy(FlowNode from, FlowNode to) {
  if (solving_)
    connect(from, to);
  else if (from != to)
    successors_[from].push_back(to);
}

void ObjectFlow::add_use(FlowNode pointer, Use use) {
  uses_[root(pointer)].push_back(use);
  if (solving_)
    this->use(root(pointer), use, ElementSet(sets_[root(pointer)]));
}

void ObjectFlow::shift(FlowNode from, std::int64_t bytes, FlowNode to) {
  add_use(from, {.kind = Use::Kind::shift, .other = to, .amount = bytes});
}

void ObjectFlow::step(FlowNode from, std::int64_t bytes, FlowNode to) {
  add_use(from, {.kind = Use::Kind::step, .other = to, .amount = bytes});
}

void ObjectFlow::load(FlowNode address, FlowNode result) {
  add_use(address, {.kind = Use::Kind::load, .other = result});
}

void ObjectFlow::store(FlowNode address, FlowNode value, bool typed) {
  add_use(address, {.kind = Use::Kind::store, .typed = typed, .other = value});
}

void ObjectFlow::copy_memory(FlowNode to, FlowNode from, std::uint64_t size, bool typed) {
  memory_copies_.push_back({to, from, size, typed});
}

void ObjectFlow::add_array(FlowNode pointer, std::uint64_t size, std::uint64_t stride) {
  add_use(pointer,
          {.kind = Use::Kind::array, .amount = static_cast<std::int64_t>(size), .stride = stride});
}

void ObjectFlow::index(FlowNode pointer, std::uint64_t stride, bool downwards, bool free) {
  add_use(pointer, {.kind = Use::Kind::index,
                    .downwards = downwards,
                    .free = free,
                    .amount = static_cast<std::int64_t>(stride)});
}

void ObjectFlow::collapse(FlowNode pointer) { add_use(pointer, {.kind = Use::Kind::collapse}); }

std::uint32_t ObjectFlow::guard(FlowNode pointer, const llvm::Function &function) {
  return add_guard(pointer, element_at(object(function), 0));
}

std::uint32_t ObjectFlow::guard_outside(FlowNode pointer) {
  return add_guard(pointer, element_at(kAnything, 0));
}

std::uint32_t ObjectFlow::add_guard(FlowNode pointer, ElementId target) {
  guards_.push_back({.pointer = pointer, .function = target, .copies = {}});
  const auto number = static_cast<std::uint32_t>(guards_.size() - 1);
  guards_of_[root(pointer)].push_back(number);
  if (solving_) {
    const ElementSet &set = sets_[root(pointer)];
    guards_.back().open = opens(guards_.back(), set);
    if (is_hidden(pointer))
      hidden_guards_.push_back(number);
    if (!guards_.back().open && set.test(kAny))
      outside_guards_[elements_[target].first].push_back(number);
  }
  return number;
}

void ObjectFlow::open(Guard &guard) {
  guard.open = true;
  for (const auto &[from, to] : guard.copies)
    connect(from, to);
}

void ObjectFlow::copy_guarded(std::uint32_t guard, FlowNode from, FlowNode to) {
  guards_[guard].copies.emplace_back(from, to);
  if (solving_ && guards_[guard].open)
    connect(from, to);
}

// Nodes on a cycle of copies have one set; the others get the order that they are worked on in.
// Before the work begins and, since loads and stores make copies, in between.
void ObjectFlow::collapse_cycles() {
  const auto count = static_cast<FlowNode>(parent_.size());
  std::vector<std::uint32_t> index(count, 0);
  std::vector<std::uint32_t> low(count, 0);
  std::vector<bool> on_stack(count, false);
  std::vector<FlowNode> stack;
  std::vector<std::pair<FlowNode, std::size_t>> work;
  std::uint32_t next = 1;
  const auto open = [&](FlowNode node) {
    index[node] = low[node] = next++;
    stack.push_back(node);
    on_stack[node] = true;
    work.emplace_back(node, 0);
  };
  for (auto &successors : successors_) {
    for (FlowNode &to : successors)
      to = root(to);
    std::sort(successors.begin(), successors.end());
    successors.erase(std::unique(successors.begin(), successors.end()), successors.end());
  }
  const bool solving = !done_.empty();
  order_.assign(count, 0);
  std::uint32_t finished = 0;
  for (FlowNode start = 0; start < count; ++start) {
    if (index[start] != 0 || parent_[start] != start)
      continue;
    open(start);
    while (!work.empty()) {
      const FlowNode node = work.back().first;
      if (work.back().second < successors_[node].size()) {
        const FlowNode to = successors_[node][work.back().second++];
        if (index[to] == 0)
          open(to);
        else if (on_stack[to])
          low[node] = std::min(low[node], index[to]);
        continue;
      }
      work.pop_back();
      if (!work.empty())
        low[work.back().first] = std::min(low[work.back().first], low[node]);
      if (low[node] != index[node])
        continue;
      order_[node] = ++finished;
      const bool merges = stack.back() != node;
      FlowNode member = 0;
      do {
        member = stack.back();
        stack.pop_back();
        on_stack[member] = false;
        if (member != node) {
          parent_[member] = node;
          sets_[node].unite(sets_[member]);
          sets_[member].clear();
          if (takes_[node] != takes_[member])
            takes_[node] = Take::all;
          if (solving) { // what all of them handed on
            done_[node].intersect(done_[member]);
            done_[member].clear();
          }
          llvm::append_range(successors_[node], successors_[member]);
          successors_[member].clear();
        }
      } while (member != node);
      if (solving && merges && !queued_[node]) {
        queued_[node] = true;
        work_.push_back(node);
      }
    }
  }
  move_lists();
  if (solving)
    replace_elements();
}

// What hangs on a member hangs on its representative; what both do is done once.
void ObjectFlow::move_lists() {
  const auto move = [&](auto &lists) {
    auto old = std::move(lists);
    lists.clear();
    for (auto &[node, list] : old)
      llvm::append_range(lists[root(node)], list);
  };
  move(uses_);
  move(guards_of_);
  const auto key = [&](const Use &use) {
    return std::tuple(use.kind, use.downwards, use.typed, use.free, root(use.other), use.amount,
                      use.stride);
  };
  for (auto &[node, uses] : uses_) {
    if (uses.size() < 2)
      continue;
    std::stable_sort(uses.begin(), uses.end(),
                     [&](const Use &a, const Use &b) { return key(a) < key(b); });
    uses.erase(std::unique(uses.begin(), uses.end(),
                           [&](const Use &a, const Use &b) { return key(a) == key(b); }),
               uses.end());
  }
}

// Sets lose the elements that others stand for: those that have been folded since, and, where there
// is a pointer to whatever code outside the program knows, those of objects that it knows. What
// stands for them is handed on anew.
void ObjectFlow::replace_elements() {
  for (FlowNode node = 0; node < parent_.size(); ++node) {
    if (parent_[node] != node)
      continue;
    ElementSet &set = sets_[node];
    if (set.test(kAny) && set.intersects(outside_elements_)) {
      set = set.without(outside_elements_);
      done_[node] = done_[node].without(outside_elements_);
    }
    if (!set.intersects(stale_))
      continue;
    ElementSet standing;
    for (const ElementId id : set)
      if (stale_.test(id))
        standing.insert(element_at(elements_[id].first, elements_[id].second));
    set = set.without(stale_);
    done_[node] = done_[node].without(stale_);
    add(node, standing);
  }
  stale_.clear();
}

void ObjectFlow::add(FlowNode node, const ElementSet &elements) {
  node = root(node);
  const bool marked =
      takes_[node] == Take::only_marks ||
      (takes_[node] != Take::all &&
       (elements.test(kHidden) || elements.test(kHiddenNumber) || elements.test(kHiddenText)));
  ElementSet &set = sets_[node];
  bool changed = false;
  if (set.test(kAny)) {
    changed =
        set.unite((marked ? taken(takes_[node], elements) : elements).without(outside_elements_));
  } else {
    changed = set.unite(marked ? taken(takes_[node], elements) : elements);
    if (set.test(kAny))
      set = set.without(outside_elements_);
  }
  if (!changed || queued_[node])
    return;
  queued_[node] = true;
  work_.push_back(node);
}

void ObjectFlow::connect(FlowNode from, FlowNode to) {
  from = root(from);
  to = root(to);
  if (from == to || !edges_.insert((std::uint64_t{from} << 32U) | to).second)
    return;
  successors_[from].push_back(to);
  steps_ += 1 + sets_[from].count();
  add(to, sets_[from]);
}

void ObjectFlow::use(FlowNode node, const Use &use, const ElementSet &fresh) {
  if (use.kind == Use::Kind::shift || use.kind == Use::Kind::step) {
    shift(node, use, fresh);
    return;
  }
  if (use.kind == Use::Kind::hide) {
    if (!fresh.empty())
      add(use.other, sets_[root(kHiddenPointer)]);
    return;
  }
  for (const ElementId id : fresh) {
    ++steps_;
    const auto [object, raw] = elements_[id];
    if (object == kMarks) {
      if (use.kind == Use::Kind::load) {
        load_hidden();
        connect(kHiddenPointer, use.other);
      } else if (use.kind == Use::Kind::store) {
        store_hidden(use.other);
      }
      continue;
    }
    const auto amount = static_cast<std::uint64_t>(use.amount);
    Layout &layout = objects_[object].layout;
    const std::uint64_t offset = layout.fold(raw);
    switch (use.kind) {
    case Use::Kind::load:
      connect(content(object, offset), use.other);
      break;
    case Use::Kind::store:
      if (!objects_[object].constant) {
        const FlowNode at = content(object, offset);
        connect(use.other, at);
        if (!use.typed)
          untyped_.insert(at);
      }
      break;
    case Use::Kind::array:
      if (layout.add_array(offset, amount, use.stride) && is_place(object))
        refolded_.insert(object);
      break;
    case Use::Kind::index:
      if (indexes_ && is_place(object) && layout.index(offset, amount, use.downwards, use.free))
        refold(object);
      break;
    case Use::Kind::collapse:
      if (is_place(object) && layout.collapse())
        refold(object);
      break;
    case Use::Kind::shift:
    case Use::Kind::step:
    case Use::Kind::hide:
      break;
    }
  }
}

// Objects that code outside the program gets to know: what lies in them, it may put into any other.
void ObjectFlow::take_outside(const ElementSet &fresh) {
  for (const ElementId id : fresh) {
    const ObjectId object = elements_[id].first;
    if (id == kHidden) { // not a number's: code outside takes that for no pointer
      store_hidden(kOutside);
      load_hidden();
      connect(kEscaped, kOutside);
    }
    if (objects_[object].outside || object == kMarks)
      continue;
    objects_[object].outside = true;
    outside_objects_.push_back(object);
    for (const ElementId element : objects_[object].elements)
      outside_elements_.insert(element);
    if (outside_escapes_)
      escape(object);
    if (const auto waiting = outside_guards_.find(object); waiting != outside_guards_.end()) {
      for (const std::uint32_t number : waiting->second)
        if (!guards_[number].open)
          open(guards_[number]);
      outside_guards_.erase(waiting);
    }
    for (const Object::Filling &filling : objects_[object].fillings)
      connect(filling.node, kOutside);
    if (objects_[object].escaped && loads_hidden_)
      escape_contents(object);
    if (objects_[object].escaped && stores_hidden_)
      hide_contents(object);
    const auto contents = std::move(objects_[object].contents);
    objects_[object].contents.clear();
    for (const auto &[offset, node] : contents) {
      connect(node, kOutside);
      connect(kOutside, node);
    }
  }
  open_hidden();
}

void ObjectFlow::process(FlowNode node) {
  ElementSet fresh = sets_[node].without(done_[node]);
  if (node == root(kOutside) && !fresh.empty()) {
    take_outside(fresh);
    for (ElementSet *set : {&fresh, &sets_[node]})
      *set = set->without(outside_elements_);
  }
  if (fresh.empty())
    return;
  done_[node].unite(fresh);
  const std::uint64_t moved = fresh.count();
  for (std::size_t i = 0; i < successors_[node].size(); ++i) {
    steps_ += moved;
    add(successors_[node][i], fresh);
  }
  if (node == root(kEscaped))
    take_escaped(fresh);
  if (const auto uses = uses_.find(node); uses != uses_.end())
    for (const Use &one : uses->second)
      use(node, one, fresh);
  if (const auto guards = guards_of_.find(node); guards != guards_of_.end())
    for (const std::uint32_t number : guards->second) {
      Guard &guard = guards_[number];
      if (fresh.test(kHidden) || fresh.test(kHiddenNumber))
        hidden_guards_.push_back(number);
      if (guard.open)
        continue;
      if (opens(guard, sets_[node]))
        open(guard);
      else if (fresh.test(kAny))
        outside_guards_[elements_[guard.function].first].push_back(number);
    }
}

// Elements that fold to one are one.
std::vector<std::pair<ObjectId, std::uint64_t>>
ObjectFlow::folded(const ElementSet &elements) const {
  std::vector<std::pair<ObjectId, std::uint64_t>> found;
  for (const ElementId id : elements)
    found.push_back(element(id));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// To a fixed point; false where it takes too long. What hands on comes before what it hands to, so
// that a node hands on once what it gets from several others.
bool ObjectFlow::run(bool patient) {
  const std::uint64_t most = (patient ? kPatience : 1) *
                             std::min(kMostSteps, kStepsToStart + kStepsPerNode * parent_.size());
  do {
    collapse_cycles();
    std::uint64_t next_collapse = steps_ + kStepsPerOrder * parent_.size();
    std::priority_queue<std::pair<std::uint32_t, FlowNode>> queue;
    for (;;) {
      for (const FlowNode node : work_)
        queue.emplace(node < order_.size() ? order_[node] : 0, node);
      work_.clear();
      if (queue.empty())
        break;
      const FlowNode node = queue.top().second;
      queue.pop();
      queued_[node] = false;
      if (parent_[node] == node)
        process(node);
      if (steps_ > most)
        return false;
      if (steps_ > next_collapse) {
        for (; !queue.empty(); queue.pop())
          work_.push_back(queue.top().second);
        collapse_cycles();
        next_collapse = steps_ + kStepsPerOrder * parent_.size();
      }
    }
    again_ = false;
    process_copies();
    process_parts();
    if (work_.empty() && !again_ && !refolded_.empty())
      shift_again();
  } while (!work_.empty() || again_ || !refolded_.empty());
  return true;
}

void ObjectFlow::initialise(const llvm::Value &label, std::uint64_t offset, FlowNode value) {
  initial_.push_back({object(label), offset, value});
}

void ObjectFlow::unite(llvm::ArrayRef<const llvm::Value *> labels) {
  ObjectId first = united(object(*labels.front()));
  for (const llvm::Value *label : labels)
    first = std::min(first, united(object(*label)));
  for (const llvm::Value *label : labels)
    if (const ObjectId other = united(object(*label)); other != first)
      united_[other] = first;
  objects_[first].united = true;
}

ObjectId ObjectFlow::united(ObjectId object) const {
  for (auto known = united_.find(object); known != united_.end(); known = united_.find(object))
    object = known->second;
  return object;
}

// Before the work begins: each set has one element at most, which pointer_to() put there.
void ObjectFlow::apply_united() {
  if (united_.empty())
    return;
  for (auto &[label, object] : ids_)
    object = united(object);
  std::vector<ElementId> moved;
  for (ElementId id = 0, count = static_cast<ElementId>(elements_.size()); id < count; ++id) {
    const auto [object, offset] = elements_[id];
    moved.push_back(united(object) == object ? id : element_at(united(object), offset));
  }
  for (ElementSet &set : sets_)
    if (!set.empty()) {
      const ElementId only = moved[set.first()];
      set.clear();
      set.insert(only);
    }
  for (Guard &guard : guards_)
    guard.function = moved[guard.function];
  for (Initial &initial : initial_)
    initial.object = united(initial.object);
}

bool ObjectFlow::solve(bool patient) {
  apply_united();
  collapse_cycles();
  solving_ = true;
  done_.resize(parent_.size());
  queued_.assign(parent_.size(), false);
  for (FlowNode node = 0; node < parent_.size(); ++node)
    if (parent_[node] == node && !sets_[node].empty()) {
      queued_[node] = true;
      work_.push_back(node);
    }
  for (const Initial &initial : initial_)
    connect(initial.value, content(initial.object, initial.offset));
  // Unknown indices come last, when the arrays are known that they stay in.
  if (!run(patient))
    return false;
  indexes_ = true;
  for (const auto &[node, uses] : uses_)
    for (const Use &one : uses)
      if (one.kind == Use::Kind::index)
        use(root(node), one, ElementSet(sets_[root(node)]));
  return resume(patient);
}

bool ObjectFlow::resume(bool patient) {
  if (!run(patient))
    return false;
  mark_reached();
  return true;
}

std::vector<ObjectId> ObjectFlow::reachable(const ElementSet &elements) const {
  ElementSet seen;
  std::vector<ObjectId> found;
  const auto visit = [&](const ElementSet &set) {
    for (const ElementId id : set) {
      const ObjectId object = elements_[id].first;
      if (const ObjectId one = objects_[object].outside ? kAnything : object; seen.insert(one))
        found.push_back(one);
    }
  };
  visit(elements);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == kAnything)
      visit(sets_[root(kOutside)]);
    if (found[i] == kMarks)
      visit(sets_[root(kEscaped)]);
    for (const auto &[offset, node] : objects_[found[i]].contents)
      visit(sets_[root(node)]);
  }
  return found;
}

void ObjectFlow::mark_reached() {
  ElementSet shared = sets_[root(kOutside)];
  for (const FlowNode node : shared_)
    shared.unite(sets_[root(node)]);
  for (const ObjectId object : reachable(shared))
    reached_.insert(object);
  for (const ObjectId object : outside_objects_)
    reached_.insert(object);
}

} // namespace tandem
