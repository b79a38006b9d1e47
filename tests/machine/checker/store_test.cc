// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The set of states and the steps between them, against the standard library's containers.
#include "machine/checker/store.h"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "machine/checker/reach.h"

namespace tandem::machine::checker {
namespace {

Store::Bytes bytes(const std::string &text) {
  return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

std::string random_text(std::mt19937 &random) {
  std::string text(random() % 40, ' ');
  for (char &c : text)
    c = static_cast<char>(random() % 3);
  return text;
}

TEST(Store, AgreesWithAMap) {
  std::mt19937 random(20261121);
  std::map<std::string, std::uint32_t> oracle;
  std::vector<std::pair<std::string, std::uint32_t>> inserted;
  Store store;
  for (int i = 0; i < 60000; ++i) {
    const std::string text = random_text(random);
    const auto parent = static_cast<std::uint32_t>(random());
    const auto [number, is_new] = store.insert(bytes(text), parent);
    const auto [entry, was_new] = oracle.emplace(text, static_cast<std::uint32_t>(oracle.size()));
    ASSERT_EQ(number, entry->second);
    ASSERT_EQ(is_new, was_new);
    if (is_new)
      inserted.emplace_back(text, parent);
  }
  ASSERT_EQ(store.size(), oracle.size());
  for (std::uint32_t i = 0; i < store.size(); ++i) {
    const Store::Bytes stored = store.at(i);
    ASSERT_EQ(std::string(stored.begin(), stored.end()), inserted[i].first);
    ASSERT_EQ(store.parent(i), inserted[i].second);
  }
}

// Random graphs: from where is a goal reachable, by the definition.
std::uint32_t slow_first_lost(const std::vector<std::vector<std::uint32_t>> &steps,
                              std::vector<bool> good) {
  for (bool any = true; any;) {
    any = false;
    for (std::size_t i = 0; i < steps.size(); ++i)
      for (const std::uint32_t to : steps[i])
        if (good[to] && !good[i])
          good[i] = any = true;
  }
  for (std::uint32_t i = 0; i < good.size(); ++i)
    if (!good[i])
      return i;
  return Reach::kAll;
}

TEST(Reach, AgreesWithTheDefinition) {
  std::mt19937 random(8);
  unsigned lost = 0;
  for (unsigned round = 0; round < 200; ++round) {
    const auto states = static_cast<std::uint32_t>(1 + random() % 1000);
    std::vector<std::vector<std::uint32_t>> steps(states);
    std::vector<bool> goals(states);
    Reach reach;
    for (std::uint32_t i = 0; i < states; ++i) {
      goals[i] = random() % 20 == 0;
      reach.state(goals[i]);
      for (std::uint32_t n = random() % 5 + (round % 2); n > 0; --n) {
        steps[i].push_back(static_cast<std::uint32_t>(random() % states));
        reach.step(steps[i].back());
      }
    }
    const std::uint32_t expected = slow_first_lost(steps, goals);
    ASSERT_EQ(reach.first_lost(), expected);
    lost += expected != Reach::kAll ? 1 : 0;
  }
  EXPECT_GT(lost, 0U);
  EXPECT_LT(lost, 200U);
}

} // namespace
} // namespace tandem::machine::checker
