/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The fast paths that the pass links into programs as bitcode (runtime.bc, from inline.c). Not
 * installed: programs never name these.
 */
#pragma once

#include <stdint.h>
#include <tandem/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sections that the calling thread is in. Defined by libtandem.so (algorithms/global_lock.cc). */
extern __thread uint32_t _TANDEM_global_lock_depth __attribute__((tls_model("initial-exec")));

/* As _TANDEM_global_lock_enter and _leave, with the nested case inline. */
void _TANDEM_inline_global_lock_enter(const struct tandem_section *section);
void _TANDEM_inline_global_lock_leave(const struct tandem_section *section);

#ifdef __cplusplus
}
#endif
