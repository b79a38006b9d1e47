// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where this program's siblings are: the build tree and an installation have the same layout, and
// programs find each other relative to themselves.
#pragma once

#include <string>

namespace tandem {

// The folder above bin/ and libexec/: that of the running executable, with links resolved, one up.
std::string installation_prefix();

// PREFIX/bin and PREFIX/libexec.
std::string programs_folder();
std::string subcommands_folder();

} // namespace tandem
