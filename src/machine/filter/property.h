// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the filters' property tests share: seeds that are printed and can be given, and random
// histories of insertions and erasures that keep to a filter's rules. Only tests include this.
#pragma once

#include "machine/filter/hash.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

namespace tandem::machine::filter::property {

// TANDEM_SEED alone if it is set, else a fixed few.
inline std::vector<std::uint64_t> seeds() {
  if (const char *given = std::getenv("TANDEM_SEED"))
    return {std::strtoull(given, nullptr, 0)};
  return {1, 2, 3, 0x5eed, 20261121};
}

inline std::string trace(std::uint64_t seed) {
  return "repeat with TANDEM_SEED=" + std::to_string(seed);
}

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(mix(seed + 0x9e3779b97f4a7c15U)) {}
  std::uint64_t operator()() { return mix(state_ += 0x9e3779b97f4a7c15U); }
  std::uint64_t below(std::uint64_t n) { return (*this)() % n; }

private:
  std::uint64_t state_;
};

// A set with random choice, in constant time.
class Members {
public:
  [[nodiscard]] bool contains(std::uint64_t key) const { return place_.contains(key); }
  [[nodiscard]] bool empty() const { return keys_.empty(); }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  [[nodiscard]] const std::vector<std::uint64_t> &keys() const { return keys_; }
  void insert(std::uint64_t key) {
    place_[key] = keys_.size();
    keys_.push_back(key);
  }
  std::uint64_t take(std::uint64_t random) {
    const std::size_t at = random % keys_.size();
    const std::uint64_t key = keys_[at];
    keys_[at] = keys_.back();
    place_[keys_[at]] = at;
    keys_.pop_back();
    place_.erase(key);
    return key;
  }

private:
  std::vector<std::uint64_t> keys_;
  std::unordered_map<std::uint64_t, std::size_t> place_;
};

// One random operation: towards `target` members, of keys below `universe`. Calls `inserted(key)`
// or `erased(key)` after the filter.
template <class Filter>
void step(Filter &filter, Members &members, Random &random, std::size_t target,
          std::uint64_t universe) {
  const bool grow = random.below(2 * target) >= members.size();
  if (grow || members.empty()) {
    const std::uint64_t key = random.below(universe);
    if (members.contains(key))
      return;
    filter.insert(key);
    members.insert(key);
  } else {
    filter.erase(members.take(random()));
  }
}

template <class Filter> bool has_all(const Filter &filter, const Members &members) {
  for (const std::uint64_t key : members.keys())
    if (!filter.may_contain(key))
      return false;
  return true;
}

template <class Filter> void erase_all(Filter &filter, Members &members, Random &random) {
  while (!members.empty())
    filter.erase(members.take(random()));
}

} // namespace tandem::machine::filter::property
