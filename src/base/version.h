// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was built. The source of the answers is made with each build (cmake/Version.cmake).
#pragma once

#include <string_view>

namespace tandem {

// Of the project: "0.1.0".
std::string_view version();

// For people, as every --version prints it: "0.1.0 (commit 0123456789ab, LLVM 19.1.7)". "modified"
// behind the commit: files of git's were changed. No commit where the sources were no checkout.
std::string_view version_text();

} // namespace tandem
