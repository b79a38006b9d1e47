/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tandem for programs, in C and C++: marks what is atomic. tandem-cc and tandem-c++ decide how.
 */
#pragma once

/* TANDEM_ATOMIC before a function's declaration: each call of it is an atomic section.
 *
 *     TANDEM_ATOMIC void deposit(struct account *account, long amount);
 *
 * The mark belongs on the first declaration; later ones and the definition inherit it. With
 * -DTANDEM_SEQUENTIAL it is nothing, for programs that run one thread only. Any other compiler
 * would drop the mark silently, so there using it is an error. */
#if defined(TANDEM_SEQUENTIAL)
#define TANDEM_ATOMIC
#elif defined(__TANDEM__)
#define TANDEM_ATOMIC __attribute__((atomic))
#else
#define TANDEM_ATOMIC                                                                              \
  _Pragma("GCC error \"TANDEM_ATOMIC: compile with tandem-cc, or with -DTANDEM_SEQUENTIAL\"")
#endif
