// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where `tandem machine image` keeps what it builds.
#pragma once

#include <string>

namespace tandem::machine_cli {

// $XDG_CACHE_HOME/tandem/images, else ~/.cache/tandem/images.
std::string images_folder();

} // namespace tandem::machine_cli
