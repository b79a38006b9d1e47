// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables made of parts: what two protocols share is written once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace tandem::machine::flask {

template <class Row, class... More> constexpr auto rows(const Row &first, const More &...more) {
  return std::array<Row, 1 + sizeof...(More)>{first, more...};
}

template <class Row, std::size_t... Sizes>
constexpr auto join(const std::array<Row, Sizes> &...parts) {
  std::array<Row, (Sizes + ...)> all{};
  std::size_t used = 0;
  const auto append = [&](const auto &part) {
    std::copy(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(used));
    used += part.size();
  };
  (append(parts), ...);
  return all;
}

} // namespace tandem::machine::flask
