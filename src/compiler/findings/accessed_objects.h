// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether two accesses touch one object, as the text of the program says or the analysis of
// pointers does.
#pragma once

#include "compiler/findings/access.h"
#include "compiler/findings/findings.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tandem {

class AccessedObjects {
public:
  explicit AccessedObjects(const AnalysisView &view) : view_(view) {}

  // Nothing if they touch none in common; true if the text says that they do, or if there is
  // nothing else that they could touch; false if only the analysis does. Of accesses that are
  // atomic or volatile, never true.
  std::optional<bool> overlap(const Access &one, const Access &other);
  // Whether the access is to a variable by its name.
  [[nodiscard]] bool names_variable(const Access &access) const {
    return variable_of(access) != nullptr;
  }
  // PointsToAnalysis::objects(), kept.
  const std::vector<ObjectRange> &of(const Access &access);

private:
  [[nodiscard]] const llvm::GlobalVariable *variable_of(const Access &access) const;
  bool is_known(const Access &access);

  const AnalysisView &view_;
  std::map<std::pair<const llvm::Value *, std::uint64_t>, std::vector<ObjectRange>> objects_;
};

} // namespace tandem
