// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic blocks in a transformation: their markers, and blocks as functions.
#pragma once

#include "base/result.h"
#include "compiler/enforce/cancels.h"
#include "compiler/sections/section.h"

#include <vector>

namespace tandem {

// Outlines every block among `sections`, inner ones first; `function` of each is the new function
// then. Error: as outline_block() and open_way_past().
Status outline_blocks(std::vector<Section> &sections, const Cancels &cancels);

// Removes all markers of blocks from the module. Result: whether there were any.
bool remove_block_markers(llvm::Module &module);

} // namespace tandem
