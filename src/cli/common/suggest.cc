// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/suggest.h"

#include <algorithm>
#include <limits>

namespace tandem {

std::size_t edit_distance(std::string_view left, std::string_view right) {
  // Rows of the usual table: two back, one back, and the one being filled.
  std::vector<std::size_t> older;
  std::vector<std::size_t> old(right.size() + 1);
  for (std::size_t j = 0; j < old.size(); ++j)
    old[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::vector<std::size_t> row(right.size() + 1);
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = old[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({old[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
        row[j] = std::min(row[j], older[j - 2] + 1);
    }
    older = std::move(old);
    old = std::move(row);
  }
  return old.back();
}

std::string nearest(std::string_view name, const std::vector<std::string> &known) {
  std::string best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string &candidate : known) {
    const bool begins = !name.empty() && candidate.starts_with(name);
    const std::size_t distance = edit_distance(name, candidate);
    if ((begins || distance <= (name.size() + 2) / 3) && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

} // namespace tandem
