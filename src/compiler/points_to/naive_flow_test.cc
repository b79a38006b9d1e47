// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flow of objects against one that knows no tricks: sets of pairs, every constraint again and
// again until nothing changes, no mark for what code outside the program knows.
#include "compiler/points_to/flow.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tandem {
namespace {

using namespace llvm;

using Place = std::pair<const Value *, std::int64_t>; // null and 0: code outside; 1: hidden
using Places = std::set<Place>;
const Place kElsewhere{nullptr, 0};
const Place kHiddenPlace{nullptr, 1};

struct Constraint {
  enum class Kind { copy, load, store, shift, hide, copy_memory, call } kind;
  std::size_t a; // a node, as b and c are
  std::size_t b;
  std::size_t c = 0;
  const Function *function = nullptr; // that a call through a enters, which copies b to c
};

constexpr std::int64_t kWord = 8;
constexpr std::int64_t kCopied = 16;
constexpr std::int64_t kFarEnough = 48; // for places of an object that nothing tells apart

// Hidden pointers, code outside the program: one or the other. Where both know an object, how much
// is known of it depends on which came first.
class NaiveFlow {
public:
  explicit NaiveFlow(std::size_t nodes) : sets(nodes) {}

  std::vector<Places> sets; // node 0: what code outside the program may hold; 1: what has escaped
  std::vector<Constraint> constraints;
  std::set<const Value *> outside;
  std::set<const Value *> escaped;
  std::set<std::size_t> open; // calls, by number of constraint

  void solve() {
    sets[0].insert(kElsewhere);
    do {
      changed_ = false;
      for (std::size_t i = 0; i < constraints.size(); ++i)
        apply(i);
      take_outside();
      take_escaped();
    } while (changed_);
  }

private:
  using Filling = std::pair<std::int64_t, std::int64_t>; // of what code outside may hold

  void add(Places &to, const Places &from) {
    const std::size_t before = to.size();
    to.insert(from.begin(), from.end());
    changed_ |= to.size() != before;
  }
  template <class Set, class Element> void insert(Set &set, const Element &element) {
    changed_ |= set.insert(element).second;
  }
  [[nodiscard]] bool is_outside(const Place &place) const {
    return place == kElsewhere || outside.contains(place.first);
  }
  void load(const Place &from, Places &to) {
    if (is_outside(from)) {
      add(to, Places(sets[0]));
    } else if (from == kHiddenPlace) {
      insert(uses_, std::string("load"));
      insert(to, kHiddenPlace);
    } else {
      insert(places_, from);
      add(to, Places(contents_[from]));
      for (const auto &[begin, end] : fillings_[from.first])
        if (begin < from.second + kWord && from.second < end)
          add(to, Places(sets[0]));
      if (uses_.contains("store") && escaped.contains(from.first))
        insert(to, kHiddenPlace);
    }
  }
  void store(const Place &to, const Places &value) {
    if (is_outside(to)) {
      add(sets[0], Places(value));
    } else if (to == kHiddenPlace) {
      insert(uses_, std::string("store"));
      add(sets[1], Places(value));
    } else {
      insert(places_, to);
      add(contents_[to], Places(value));
    }
  }
  void copy_memory(const Place &to, const Place &from) {
    if (is_outside(from)) {
      if (!is_outside(to))
        insert(fillings_[to.first], Filling{to.second, to.second + kCopied});
      return;
    }
    for (const auto &[begin, end] : std::set<Filling>(fillings_[from.first]))
      if (from.second < end && begin < from.second + kCopied && !is_outside(to))
        insert(fillings_[to.first], Filling{to.second, to.second + kCopied});
    for (const Place &place : std::set<Place>(places_))
      if (place.first == from.first && place.second >= from.second &&
          place.second - from.second < kCopied) {
        Places held;
        const bool changed = changed_;
        load(place, held);
        changed_ = changed; // of `held` nobody else knows
        store({to.first, to.second + place.second - from.second}, held);
      }
  }
  void apply(std::size_t number) {
    const Constraint &one = constraints[number];
    using Kind = Constraint::Kind;
    const Places a = sets[one.a];
    switch (one.kind) {
    case Kind::copy:
      add(sets[one.b], a);
      break;
    case Kind::load:
      for (const Place &from : a)
        load(from, sets[one.b]);
      break;
    case Kind::store:
      for (const Place &to : a)
        store(to, sets[one.b]);
      break;
    case Kind::shift:
      for (Place place : a) {
        if (place.first != nullptr && place.second < kFarEnough)
          place.second += kWord;
        insert(sets[one.b], place);
      }
      break;
    case Kind::hide:
      add(sets[1], a);
      if (!a.empty())
        insert(sets[one.b], kHiddenPlace);
      break;
    case Kind::copy_memory:
      for (const Place &from : Places(sets[one.b]))
        for (const Place &to : a)
          copy_memory(to, from);
      break;
    case Kind::call:
      if (!a.contains({one.function, 0}) &&
          !(a.contains(kHiddenPlace) && escaped.contains(one.function)))
        break;
      insert(open, number);
      add(sets[one.c], Places(sets[one.b]));
      break;
    }
  }
  // What lies in an object.
  void leave_to(const Value *object, Places &to) {
    for (const auto &[place, content] : contents_)
      if (place.first == object)
        add(to, Places(content));
  }
  void take_outside() {
    for (const Place &place : Places(sets[0]))
      if (place != kElsewhere)
        insert(outside, place.first);
    for (const Value *object : outside)
      leave_to(object, sets[0]);
  }
  void take_escaped() {
    for (const Place &place : Places(sets[1]))
      if (place != kHiddenPlace)
        insert(escaped, place.first);
    if (uses_.contains("load"))
      for (const Value *object : escaped) {
        leave_to(object, sets[1]);
        if (uses_.contains("store") &&
            std::any_of(places_.begin(), places_.end(),
                        [&](const Place &place) { return place.first == object; }))
          insert(sets[1], kHiddenPlace);
      }
  }

  std::map<Place, Places> contents_;
  std::set<Place> places_; // that are loaded or stored to
  std::map<const Value *, std::set<Filling>> fillings_;
  std::set<std::string> uses_; // of hidden pointers
  bool changed_ = false;
};

class FlowAgainstNaive : public testing::Test {
protected:
  static constexpr std::size_t kObjects = 8;
  static constexpr std::size_t kFunctions = 4;
  static constexpr std::size_t kNodes = 36;

  FlowAgainstNaive() {
    auto *type = ArrayType::get(Type::getInt64Ty(context_), 4);
    for (std::size_t i = 0; i < kObjects; ++i)
      labels_.push_back(new GlobalVariable(module_, type, false, GlobalValue::InternalLinkage,
                                           ConstantAggregateZero::get(type)));
    for (std::size_t i = 0; i < kFunctions; ++i) {
      auto *function = Function::Create(FunctionType::get(Type::getVoidTy(context_), false),
                                        GlobalValue::InternalLinkage, "", module_);
      labels_.push_back(function);
      functions_.push_back(function);
    }
  }

  // Constraints by chance, said to both.
  void constrain(ObjectFlow &flow, NaiveFlow &naive, std::vector<FlowNode> &nodes, unsigned seed) {
    std::mt19937 random(seed);
    nodes = {flow.outside(), flow.escaped()};
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      nodes.push_back(flow.pointer_to(*labels_[i]));
      naive.sets[nodes.size() - 1] = {{labels_[i], 0}};
    }
    while (nodes.size() < naive.sets.size())
      nodes.push_back(flow.add_node());
    const bool hides = seed % 3 == 1;
    const bool copies_memory = seed % 3 == 2;
    const auto some = [&] { return 2 + random() % (nodes.size() - 2); };
    for (unsigned i = 0; i < 60; ++i) {
      Constraint one{Constraint::Kind::copy, some(), some(), some()};
      using Kind = Constraint::Kind;
      switch (random() % 16) {
      case 0:
      case 1:
      case 2:
      case 3:
        flow.copy(nodes[one.a], nodes[one.b]);
        break;
      case 4:
      case 5:
      case 6:
        one.kind = Kind::load;
        flow.load(nodes[one.a], nodes[one.b]);
        break;
      case 7:
      case 8:
        one.kind = Kind::store;
        flow.store(nodes[one.a], nodes[one.b]);
        break;
      case 9:
      case 10:
        one.kind = Kind::shift;
        one.b = nodes.size() - 1 - random() % 3; // of which nothing is computed in a circle, mostly
        flow.shift(nodes[one.a], kWord, nodes[one.b]);
        break;
      case 11:
        one.kind = hides ? Kind::hide : Kind::copy;
        if (hides)
          flow.hide(nodes[one.a], nodes[one.b]);
        else
          flow.copy(nodes[one.a], nodes[one.b]);
        break;
      case 12:
        one.kind = copies_memory ? Kind::copy_memory : Kind::load;
        if (copies_memory)
          flow.copy_memory(nodes[one.a], nodes[one.b], kCopied);
        else
          flow.load(nodes[one.a], nodes[one.b]);
        break;
      case 13:
      case 14:
        one.kind = Kind::call;
        one.function = functions_[random() % functions_.size()];
        guards_[i] = flow.guard(nodes[one.a], *one.function);
        flow.copy_guarded(guards_[i], nodes[one.b], nodes[one.c]);
        break;
      default: // code outside the program gets to know something, or hands it in
        if (!hides)
          (random() % 2 == 0 ? one.a : one.b) = 0;
        flow.copy(nodes[one.a], nodes[one.b]);
      }
      naive.constraints.push_back(one);
    }
  }

  // What both have in one form: places of objects that code outside knows are not told apart, and
  // who may have any of these has all.
  static Places told(const Places &places, const std::set<const Value *> &outside) {
    Places found;
    for (const Place &place : places)
      found.insert(outside.contains(place.first) ? Place{place.first, 0} : place);
    if (places.contains(kElsewhere))
      for (const Value *object : outside)
        found.insert({object, 0});
    return found;
  }
  static Places places(const ObjectFlow &flow, FlowNode node) {
    Places found;
    for (const ElementId id : flow.elements(node)) {
      const auto [object, offset] = flow.element(id);
      found.insert(ObjectFlow::stands_for_escaped(object)
                       ? kHiddenPlace
                       : Place{flow.label(object), static_cast<std::int64_t>(offset)});
    }
    return found;
  }

  LLVMContext context_;
  Module module_{"test", context_};
  std::vector<const Value *> labels_;
  std::vector<const Function *> functions_;
  std::map<std::size_t, std::uint32_t> guards_;
};

TEST_F(FlowAgainstNaive, KnowsTheSame) {
  std::size_t compared = 0;
  std::size_t known_outside = 0;
  std::size_t hidden = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ObjectFlow flow;
    NaiveFlow naive(kNodes);
    std::vector<FlowNode> nodes;
    guards_.clear();
    constrain(flow, naive, nodes, seed);
    ASSERT_TRUE(flow.solve(false));
    // A pointer that walks makes an array from where it is noticed on.
    if (std::any_of(labels_.begin(), labels_.end(), [&](const Value *label) {
          return !flow.layout(*flow.find(label)).folds().empty();
        }))
      continue;
    naive.solve();
    // Nor does a function have places: what is no pointer to its begin calls it or does not.
    if (std::any_of(naive.sets.begin(), naive.sets.end(), [&](const Places &places) {
          return std::any_of(places.begin(), places.end(), [](const Place &place) {
            return place.second != 0 && isa_and_nonnull<Function>(place.first);
          });
        }))
      continue;
    ++compared;
    for (const Value *label : labels_) {
      const ObjectId object = *flow.find(label);
      EXPECT_EQ(flow.is_outside(object), naive.outside.contains(label));
      EXPECT_EQ(flow.has_escaped(object), naive.escaped.contains(label));
      known_outside += naive.outside.contains(label) ? 1 : 0;
      hidden += naive.escaped.contains(label) ? 1 : 0;
    }
    for (std::size_t i = 2; i < nodes.size(); ++i)
      EXPECT_EQ(told(places(flow, nodes[i]), naive.outside), told(naive.sets[i], naive.outside))
          << "node " << i;
    for (const auto &[number, guard] : guards_)
      EXPECT_EQ(flow.is_open(guard), naive.open.contains(number)) << "call " << number;
    if (HasFailure())
      break;
  }
  EXPECT_GT(compared, 200U);
  EXPECT_GT(known_outside, compared / 2);
  EXPECT_GT(hidden, compared / 4);
}

} // namespace
} // namespace tandem
