// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/enforce.h"

namespace tandem {

void enforce(llvm::Module &module, const std::vector<Section> &sections, const Report &report,
             Enforcement mode, const Catalogue &catalogue) {
  CHECK(sections.size() == report.sections.size());
  switch (mode) {
  case Enforcement::none:
    return;
  case Enforcement::global_lock: {
    Descriptors descriptors(module, report);
    enforce_by_global_lock(sections, descriptors);
    return;
  }
  case Enforcement::stm:
    enforce_by_stm(module, sections, report, catalogue);
    return;
  case Enforcement::locks:
  case Enforcement::hybrid:
  case Enforcement::htm:
    break;
  }
  CHECK(false, "enforcement {} is not built", to_string(mode));
}

} // namespace tandem
