// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "Did you mean": the known name nearest to one that was mistyped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// Insertions, deletions, replacements of a byte and swaps of neighbours that turn one into the
// other (optimal string alignment).
std::size_t edit_distance(std::string_view left, std::string_view right);

// The name of `known` nearest to `name`, the first of equals; empty where none is near: at most a
// third of the name's length, rounded up, is wrong, or `name` begins it.
std::string nearest(std::string_view name, const std::vector<std::string> &known);

} // namespace tandem
