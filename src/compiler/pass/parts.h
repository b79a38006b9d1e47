// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of a converted program, each of which changes its phase by itself (runtime/phases): what
// some sections do never has to exclude what sections of another part do.
#pragma once

#include "compiler/conflicts/conflicts.h"
#include "compiler/points_to/points_to.h"
#include "compiler/sections/section.h"

#include <cstdint>
#include <vector>

namespace tandem {

// The part of each section, from 0 on and fewer than TANDEM_PARTS. Two sections are in one part
// where they conflict, or where both may acquire locks of one entry of the conversion file
// (mark_converted_lock): so where the analysis missed a conflict, the lock by which the program
// excluded it is in one part all the same. The parts with the most sections are by themselves;
// where there are more than fit, the rest is one.
std::vector<std::uint32_t> parts_of(const std::vector<Section> &sections,
                                    const ConflictGraph &graph, const PointsToAnalysis &points_to);

} // namespace tandem
