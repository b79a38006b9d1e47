// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects that count as one, against the same constraints with every object for itself; and what
// makes sets and nodes fewer without that anything is lost.
#include "compiler/points_to/flow.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

namespace tandem {
namespace {

using namespace llvm;

class FlowOfUnited : public testing::Test {
protected:
  const GlobalVariable &object() {
    auto *type = ArrayType::get(Type::getInt64Ty(context_), 4);
    return *new GlobalVariable(module_, type, false, GlobalValue::InternalLinkage,
                               ConstantAggregateZero::get(type));
  }

  LLVMContext context_;
  Module module_{"test", context_};
};

using Places = std::set<std::pair<ObjectId, std::uint64_t>>;

Places places(const ObjectFlow &flow, FlowNode node) {
  Places found;
  for (const ElementId id : flow.elements(node))
    found.insert(flow.element(id));
  return found;
}

TEST_F(FlowOfUnited, WhatIsStoredInOneIsFoundInTheOther) {
  const GlobalVariable &a = object();
  const GlobalVariable &b = object();
  const GlobalVariable &apart = object();
  const GlobalVariable &value = object();
  ObjectFlow flow;
  const auto load_from = [&](const GlobalVariable &from) {
    const FlowNode result = flow.add_node();
    flow.load(flow.pointer_to(from), result);
    return result;
  };
  flow.store(flow.pointer_to(a), flow.pointer_to(value));
  const FlowNode of_b = load_from(b);
  const FlowNode of_apart = load_from(apart);
  flow.unite({&b, &a});
  ASSERT_TRUE(flow.solve(false));
  EXPECT_EQ(places(flow, of_b), (Places{{*flow.find(&value), 0}}));
  EXPECT_TRUE(places(flow, of_apart).empty());
  EXPECT_EQ(*flow.find(&a), *flow.find(&b));
  EXPECT_EQ(flow.label(*flow.find(&a)), &a); // the first
  EXPECT_TRUE(flow.is_united(*flow.find(&a)));
  EXPECT_FALSE(flow.is_united(*flow.find(&apart)));
}

// Techniques that make sets and nodes fewer, by what can be seen of them.
class FlowThatIsSmall : public FlowOfUnited {};

TEST_F(FlowThatIsSmall, HasOneElementForAllThatCodeOutsideKnows) {
  ObjectFlow flow;
  std::vector<const GlobalVariable *> known;
  for (unsigned i = 0; i < 100; ++i) {
    known.push_back(&object());
    flow.copy(flow.pointer_to(*known.back()), flow.outside());
  }
  const GlobalVariable &own = object();
  const FlowNode given = flow.add_node();
  flow.copy(flow.outside(), given);
  flow.copy(flow.pointer_to(own), given);
  flow.copy(flow.pointer_to(*known[3]), given);
  const FlowNode one = flow.add_node();
  flow.copy(flow.pointer_to(*known[3]), one);
  ASSERT_TRUE(flow.solve(false));
  EXPECT_EQ(flow.elements(given).count(), 2U);
  EXPECT_TRUE(places(flow, given).contains({*flow.find(&own), 0}));
  EXPECT_EQ(places(flow, one), (Places{{*flow.find(known[3]), 0}}));
  EXPECT_TRUE(flow.is_outside(*flow.find(known[99])));
  EXPECT_FALSE(flow.is_outside(*flow.find(&own)));
  EXPECT_EQ(flow.reachable(flow.elements(given)), (std::vector<ObjectId>{0, *flow.find(&own)}));
}

TEST_F(FlowThatIsSmall, CallsWhatCodeOutsideHandsBack) {
  auto *type = FunctionType::get(Type::getVoidTy(context_), false);
  const Function &given = *Function::Create(type, GlobalValue::InternalLinkage, "", module_);
  const Function &kept = *Function::Create(type, GlobalValue::InternalLinkage, "", module_);
  const GlobalVariable &value = object();
  for (const bool late : {false, true}) {
    ObjectFlow flow;
    const FlowNode pointer = flow.add_node();
    const FlowNode result = flow.add_node();
    const FlowNode apart = flow.add_node();
    flow.copy(flow.outside(), pointer);
    const std::uint32_t of_given = flow.guard(pointer, given);
    const std::uint32_t of_kept = flow.guard(pointer, kept);
    flow.copy_guarded(of_given, flow.pointer_to(value), result);
    flow.copy_guarded(of_kept, flow.pointer_to(value), apart);
    if (late)
      ASSERT_TRUE(flow.solve(false));
    flow.copy(flow.pointer_to(given), flow.outside());
    ASSERT_TRUE(late ? flow.resume(false) : flow.solve(false));
    EXPECT_TRUE(flow.is_open(of_given));
    EXPECT_FALSE(flow.is_open(of_kept));
    EXPECT_EQ(places(flow, result), (Places{{*flow.find(&value), 0}}));
    EXPECT_TRUE(places(flow, apart).empty());
  }
}

TEST_F(FlowThatIsSmall, HasOneElementForAllThatIsFolded) {
  ObjectFlow flow;
  const GlobalVariable &folded = object();
  const FlowNode all = flow.add_node();
  const FlowNode begin = flow.pointer_to(folded);
  for (unsigned i = 0; i < 20; ++i) {
    const FlowNode place = flow.add_node();
    flow.shift(begin, 8 * i, place);
    flow.copy(place, all);
  }
  const FlowNode late = flow.add_node(); // is known to lead there once all else is
  const GlobalVariable &memory = object();
  flow.store(flow.pointer_to(memory), begin);
  flow.load(flow.pointer_to(memory), late);
  flow.collapse(late);
  ASSERT_TRUE(flow.solve(false));
  EXPECT_EQ(flow.elements(all).count(), 1U);
  EXPECT_EQ(places(flow, all), (Places{{*flow.find(&folded), 0}}));
}

// Constraints by chance, said to two flows alike.
class Both {
public:
  Both(const std::vector<const GlobalVariable *> &objects, unsigned seed) : random_(seed) {
    for (const GlobalVariable *object : objects)
      for (ObjectFlow *flow : {&plain, &united})
        nodes_of(*flow).push_back(flow->pointer_to(*object));
    for (unsigned i = 0; i < 40; ++i)
      for (ObjectFlow *flow : {&plain, &united})
        nodes_of(*flow).push_back(flow->add_node());
    for (unsigned i = 0; i < 80; ++i)
      constrain();
  }

  ObjectFlow plain;
  ObjectFlow united;
  std::vector<FlowNode> plain_nodes;
  std::vector<FlowNode> united_nodes;

private:
  std::vector<FlowNode> &nodes_of(const ObjectFlow &flow) {
    return &flow == &plain ? plain_nodes : united_nodes;
  }
  void constrain() {
    const auto some = [&] { return random_() % plain_nodes.size(); };
    const std::size_t a = some();
    const std::size_t b = some();
    const unsigned kind = random_() % 12;
    for (ObjectFlow *flow : {&plain, &united}) {
      const FlowNode from = nodes_of(*flow)[a];
      const FlowNode to = nodes_of(*flow)[b];
      if (kind < 4)
        flow->copy(from, to);
      else if (kind < 7)
        flow->load(from, to);
      else if (kind < 9)
        flow->store(from, to);
      else if (kind == 9)
        flow->shift(from, 8, to);
      else
        flow->copy_memory(from, to, 16);
    }
  }

  std::mt19937 random_;
};

TEST_F(FlowOfUnited, KnowsWhateverThePlainOneKnows) {
  std::vector<const GlobalVariable *> objects;
  for (unsigned i = 0; i < 12; ++i)
    objects.push_back(&object());
  std::size_t compared = 0;
  std::size_t told_apart = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Both both(objects, seed);
    both.united.unite({objects[0], objects[1], objects[2], objects[3]});
    both.united.unite({objects[5], objects[6]});
    both.united.unite({objects[4], objects[5]}); // so that all three are one
    ASSERT_TRUE(both.plain.solve(false));
    ASSERT_TRUE(both.united.solve(false));
    // A pointer that walks makes an array from where it is noticed on, which differs.
    if (any_of(objects, [&](const GlobalVariable *object) {
          return any_of(std::array{&both.plain, &both.united}, [&](const ObjectFlow *flow) {
            return !flow->layout(*flow->find(object)).folds().empty();
          });
        }))
      continue;
    compared += both.plain_nodes.size();
    for (std::size_t i = 0; i < both.plain_nodes.size(); ++i) {
      const Places known = places(both.united, both.united_nodes[i]);
      Places wanted;
      for (const auto &[object, offset] : places(both.plain, both.plain_nodes[i]))
        wanted.emplace(*both.united.find(both.plain.label(object)), offset);
      for (const auto &place : wanted)
        EXPECT_TRUE(known.contains(place)) << "seed " << seed << ", node " << i;
      told_apart += known == wanted;
    }
  }
  EXPECT_GT(compared, 1000u);
  EXPECT_GT(told_apart, compared / 2); // mostly nothing is lost
}

} // namespace
} // namespace tandem
