/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What inlined accesses need of libitm.so.1, and nothing else of a program names. Not installed. */
#pragma once

#include <cstdint>

extern "C" {

// The calling thread's Thread; not null in a transaction. The number is the version of what
// inline_barriers.cc asserts.
extern __thread void *_TANDEM_thread_1 __attribute__((tls_model("initial-exec")));

// libitm's accesses (abi/itm_barriers.cc).
#define TANDEM_WIDTH(NAME, TYPE)                                                                   \
  TYPE _ITM_R##NAME(const TYPE *address);                                                          \
  TYPE _ITM_RfW##NAME(const TYPE *address);                                                        \
  void _ITM_W##NAME(TYPE *address, TYPE value)
TANDEM_WIDTH(U1, std::uint8_t);
TANDEM_WIDTH(U2, std::uint16_t);
TANDEM_WIDTH(U4, std::uint32_t);
TANDEM_WIDTH(U8, std::uint64_t);
#undef TANDEM_WIDTH
void _TANDEM_add_4(std::uint32_t *address, std::uint32_t by);
void _TANDEM_add_8(std::uint64_t *address, std::uint64_t by);
}
