// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks marked atomic (`tandem_atomic { … }`). include/tandem/tandem.h turns one into a local
// variable, its token, that a call of kBlockEnter initialises, and that a call of kBlockLeave takes
// at every exit; the linker may have given both names a suffix.
#pragma once

#include "compiler/sections/section.h"

namespace tandem {

inline constexpr const char *kBlockEnter = "_TANDEM_block_enter";
inline constexpr const char *kOptimisedBlockEnter = "_TANDEM_optimised_block_enter";
inline constexpr const char *kStrictBlockEnter = "_TANDEM_strict_block_enter";
inline constexpr const char *kOptimisedStrictBlockEnter = "_TANDEM_optimised_strict_block_enter";
// A transaction of gcc's syntax (include/tandem/gnu_tm.h).
inline constexpr const char *kGnuBlockEnter = "_TANDEM_gnu_block_enter";
inline constexpr const char *kOptimisedGnuBlockEnter = "_TANDEM_optimised_gnu_block_enter";
inline constexpr const char *kBlockLeave = "_TANDEM_block_leave";

// Whether the function is one of those above.
bool is_block_marker(const llvm::Function &function);

// The sections of all blocks, unnamed, without a place.
std::vector<Section> find_blocks(llvm::Module &module);

} // namespace tandem
