// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many command-line words each option of clang 19 takes, so that the driver never mistakes an
// option's value for an input file or for an option. clang_options_test.cc compares the table with
// the one that clang itself was built from.
#pragma once

#include <cstddef>
#include <string_view>

namespace tandem {

// How many of the words after `word` belong to it: 0 for "-c", "-Ifoo" and "main.c", 1 for "-I" and
// "-Xlinker", more for a few of Apple's options.
std::size_t words_taken(std::string_view word);

} // namespace tandem
