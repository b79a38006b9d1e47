// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/checker/reach.h"

#include <array>

namespace tandem::machine::checker {

// A state is its steps, each as 1 + zigzag(to - from) in 7-bit groups, low first, the high bit of
// all but the last set; then a zero byte.
namespace {

constexpr std::uint8_t kMore = 0x80;

std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

} // namespace

void Reach::state(bool goal) {
  if (!goals_.empty())
    steps_.push_back(0);
  if (goals_.size() % kGroup == 0)
    places_.push_back(steps_.size());
  goals_.push_back(goal);
}

void Reach::step(std::uint32_t to) {
  const auto from = static_cast<std::int64_t>(goals_.size()) - 1;
  std::uint64_t value = 1 + zigzag(static_cast<std::int64_t>(to) - from);
  for (; value >= kMore; value >>= 7)
    steps_.push_back(static_cast<std::uint8_t>(value | kMore));
  steps_.push_back(static_cast<std::uint8_t>(value));
}

bool Reach::sweep(std::uint32_t group, std::vector<bool> &marked) const {
  const std::uint32_t begin = group * kGroup;
  const auto states = static_cast<std::uint32_t>(goals_.size());
  const std::uint32_t end = begin + kGroup < states ? begin + kGroup : states;
  std::array<std::uint64_t, kGroup> starts{};
  std::uint64_t at = places_[group];
  for (std::uint32_t i = begin; i < end; ++i) {
    starts[i - begin] = at;
    while (at < steps_.size() && steps_[at] != 0)
      while ((steps_[at++] & kMore) != 0) {
      }
    ++at;
  }
  bool any = false;
  for (std::uint32_t i = end; i-- > begin;) {
    if (marked[i])
      continue;
    for (at = starts[i - begin]; at < steps_.size() && steps_[at] != 0;) {
      std::uint64_t value = 0;
      unsigned shift = 0;
      do {
        value |= static_cast<std::uint64_t>(steps_[at] & (kMore - 1)) << shift;
        shift += 7;
      } while ((steps_[at++] & kMore) != 0);
      if (marked[static_cast<std::size_t>(i + unzigzag(value - 1))]) {
        marked[i] = any = true;
        break;
      }
    }
  }
  return any;
}

std::uint32_t Reach::first_lost() const {
  std::vector<bool> marked = goals_;
  for (bool any = true; any;) {
    any = false;
    for (auto group = static_cast<std::uint32_t>(places_.size()); group-- > 0;)
      any |= sweep(group, marked);
  }
  for (std::uint32_t i = 0; i < marked.size(); ++i)
    if (!marked[i])
      return i;
  return kAll;
}

} // namespace tandem::machine::checker
