// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of the built-in catalogues, embedded at build time.
#pragma once

namespace tandem {

extern const char kBuiltinCatalogue[];        // data/catalogue.toml
extern const char kPapersCatalogue[];         // data/catalogue-papers.toml
extern const char kDeferredOutputCatalogue[]; // data/catalogue-deferred-output.toml

} // namespace tandem
