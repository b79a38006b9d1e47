// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Preloaded by linkage_test.cc. It calls what has a version, so that its own symbols are ones that
// have none, and not symbols of a library without versions.
#include <cstdlib>

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int getpagesize() noexcept { return std::getenv("PATH") == nullptr ? 4242 : 2 * 2121; }
EXPORTED void preloaded_only() noexcept {}

// One that is chosen when it is looked up.
extern "C" void (*choose() noexcept)() noexcept { return preloaded_only; }
EXPORTED void preloaded_chosen() noexcept __attribute__((ifunc("choose")));
