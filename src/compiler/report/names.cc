// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/report.h"

namespace tandem {

std::string_view to_string(SectionKind kind) {
  switch (kind) {
  case SectionKind::function:
    return "function";
  case SectionKind::block:
    return "block";
  case SectionKind::lambda:
    return "lambda";
  case SectionKind::lock_region:
    return "lock-region";
  }
  CHECK(false, "section kind {}", static_cast<int>(kind));
}

std::string_view to_string(SectionClass klass) {
  switch (klass) {
  case SectionClass::non_revocable:
    return "non-revocable";
  case SectionClass::hybrid:
    return "hybrid";
  case SectionClass::pure:
    return "pure";
  }
  CHECK(false, "section class {}", static_cast<int>(klass));
}

std::string_view to_string(IrrevocableAt at) {
  switch (at) {
  case IrrevocableAt::never:
    return "never";
  case IrrevocableAt::begin:
    return "begin";
  case IrrevocableAt::reach:
    return "reach";
  }
  CHECK(false, "irrevocable at {}", static_cast<int>(at));
}

std::string_view to_string(LockMode mode) {
  switch (mode) {
  case LockMode::exclusive:
    return "exclusive";
  case LockMode::shared:
    return "shared";
  }
  CHECK(false, "lock mode {}", static_cast<int>(mode));
}

std::string_view to_string(RegionShape shape) {
  switch (shape) {
  case RegionShape::same_function:
    return "same-function";
  case RegionShape::escapes:
    return "escapes";
  case RegionShape::not_nested:
    return "not-nested";
  case RegionShape::flag_guarded:
    return "flag-guarded";
  }
  CHECK(false, "region shape {}", static_cast<int>(shape));
}

std::string_view to_string(AnalysisLimit limit) {
  switch (limit) {
  case AnalysisLimit::inclusion:
    return "inclusion";
  case AnalysisLimit::contexts:
    return "contexts";
  case AnalysisLimit::callers:
    return "callers";
  }
  CHECK(false, "analysis limit {}", static_cast<int>(limit));
}

std::string_view explain(AnalysisLimit limit) {
  switch (limit) {
  case AnalysisLimit::inclusion:
    return "the program is too large for points-to by inclusion: objects that one pointer leads to "
           "are not told apart, so sections may be said to conflict that do not";
  case AnalysisLimit::contexts:
    return "the program is too large for all calling contexts: the functions nearest to main share "
           "theirs, so sections may be said to conflict that do not";
  case AnalysisLimit::callers:
    return "the program is too large to analyse small functions once for each caller, so sections "
           "may be said to conflict that do not";
  }
  CHECK(false, "analysis limit {}", static_cast<int>(limit));
}

} // namespace tandem
