// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files of the page, embedded by the build. Private to the page.
#pragma once

namespace tandem {

extern const char kPageTemplate[];   // page.html, with {{policy}} and the like to be filled in
extern const char kPageStyle[];      // page.css
extern const char kPageScript[];     // the scripts, one behind the other
extern const char kPageStyleHash[];  // "sha256-...", as a policy names them
extern const char kPageScriptHash[]; // the same

} // namespace tandem
