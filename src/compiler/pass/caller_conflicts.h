// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conflicts, where callers are told apart: in a program in which small functions exist once for
// each place that calls them (compiler/points_to/specialise.h). A section of such a function is
// several there, and each has the effects that it has for one caller. Two sections conflict where
// any two of what they have become do.
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/sections/section.h"

#include "llvm/IR/Module.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tandem {

class CallerConflicts {
public:
  // `sections`: of `module`. Holds memory for the second program until it returns.
  CallerConflicts(const llvm::Module &module, const Catalogue &catalogue,
                  const std::vector<Section> &sections);

  // Whether sections `a` and `b`, by number, may conflict; always where the program is too large
  // for callers to be told apart.
  [[nodiscard]] bool may_conflict(std::size_t a, std::size_t b) const {
    return !edges_ || edges_->contains(std::minmax(a, b));
  }

  // Whether callers are told apart.
  [[nodiscard]] bool known() const { return edges_.has_value(); }

private:
  std::optional<std::set<std::pair<std::size_t, std::size_t>>> edges_;
};

} // namespace tandem
