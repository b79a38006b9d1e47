// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names by which users choose policies and backoffs. Lists for messages are in the same order.
#pragma once

#include "contention/backoff.h"
#include "contention/policy.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace tandem::contention {

inline constexpr std::array<std::pair<std::string_view, Policy>, 8> kPolicyNames = {{
    {"polite", Policy::polite},
    {"karma", Policy::karma},
    {"eruption", Policy::eruption},
    {"kindergarten", Policy::kindergarten},
    {"timestamp", Policy::timestamp},
    {"polka", Policy::polka},
    {"size-matters", Policy::size_matters},
    {"stall", Policy::stall},
}};

inline constexpr std::array<std::pair<std::string_view, Backoff>, 5> kBackoffNames = {{
    {"none", Backoff::none},
    {"linear", Backoff::linear},
    {"exponential", Backoff::exponential},
    {"random", Backoff::random},
    {"square", Backoff::square},
}};

// The value of that name in one of the tables above; nothing if there is none.
template <class Table>
constexpr auto named(const Table &table, std::string_view name)
    -> std::optional<typename Table::value_type::second_type> {
  for (const auto &[key, value] : table)
    if (key == name)
      return value;
  return std::nullopt;
}

} // namespace tandem::contention
