/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Blocks and lambdas of C++ programs that another compiler than tandem-c++ compiles: all run under
 * the process's one global lock (libtandem). Included by tandem.h and tandem.hpp. C++17.
 */
#pragma once

#include <tandem/abi.h>

namespace tandem::stock {

inline tandem_colour_table table{
    TANDEM_ABI_VERSION, sizeof(tandem_colour_table), 0, 0, 1, 0, "", nullptr, nullptr};
inline constexpr std::uint64_t kNoColours = 0;
alignas(64) inline const tandem_section section{TANDEM_ABI_VERSION,
                                                sizeof(tandem_section),
                                                TANDEM_KIND_BLOCK,
                                                TANDEM_CLASS_NON_REVOCABLE,
                                                TANDEM_IRREVOCABLE_BEGIN,
                                                0,
                                                0,
                                                0,
                                                0,
                                                "tandem_atomic",
                                                "",
                                                &kNoColours,
                                                &kNoColours,
                                                &table};

// Holds the global lock for as long as it lives.
class Block {
public:
  Block() { _TANDEM_global_lock_enter(&section); }
  ~Block() { _TANDEM_global_lock_leave(&section); }
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
};

} // namespace tandem::stock
