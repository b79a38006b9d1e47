// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of the built-in catalogues, embedded at build time.
#pragma once

namespace tandem {

extern const char kBuiltinCatalogue[]; // data/catalogue.toml
extern const char kPapersCatalogue[];  // data/catalogue-papers.toml

} // namespace tandem
