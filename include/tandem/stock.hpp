/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Blocks and lambdas of C++ programs that another compiler than tandem-c++ compiles. Nothing is
 * known of what they access, so they run one at a time, beside no transaction, and beside no
 * section with memory that code outside of its program can reach (libtandem). Included by tandem.h
 * and tandem.hpp. C++17.
 */
#pragma once

#include <tandem/abi.h>

namespace tandem::stock {

// The process's colour.
inline constexpr tandem_colour colour{
    "*", TANDEM_COLOUR_IRREVOCABLE | TANDEM_COLOUR_PROCESS | TANDEM_COLOUR_SHARED, 0};
inline constexpr std::uint64_t colours = 1;
inline tandem_colour_table table{
    TANDEM_ABI_VERSION, sizeof(tandem_colour_table), 1, 1, 1, 0, "", &colour, nullptr};
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
                                                &colours,
                                                &colours,
                                                &table};

// In the section for as long as it lives.
class Block {
public:
  Block() { _TANDEM_process_enter(&section); }
  ~Block() { _TANDEM_process_leave(&section); }
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
};

} // namespace tandem::stock
