// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A script for HTML pages that are tables: a filter of their rows, light or dark, keys. It stands
// at the end of the body, behind the page's h1, and makes what it needs.
#pragma once

namespace tandem {

extern const char kPageFilterScript[];
extern const char kPageFilterHash[]; // "sha256-...", as a content security policy names the script

} // namespace tandem
