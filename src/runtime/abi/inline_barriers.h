/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What inlined accesses need of libitm.so.1, and nothing else of a program names. Not installed. */
#pragma once

#include <cstdint>

extern "C" {

// The calling thread's Thread; not null in a transaction. The number is the version of what
// inline_barriers.cc asserts.
extern __thread void *_TANDEM_thread_4 __attribute__((tls_model("initial-exec")));

// abi/itm_barriers.cc.
void _TANDEM_add_4(std::uint32_t *address, std::uint32_t by);
void _TANDEM_add_8(std::uint64_t *address, std::uint64_t by);
void _ITM_LU1(const std::uint8_t *address);
void _ITM_LU2(const std::uint16_t *address);
void _ITM_LU4(const std::uint32_t *address);
void _ITM_LU8(const std::uint64_t *address);
}
