/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tandem for programs, in C and C++: marks what is atomic. tandem-cc and tandem-c++ decide how.
 * Transactions of a library, for any compiler, are in tandem/transaction.h.
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

/* TANDEM_ATOMIC_STRICT instead of TANDEM_ATOMIC: the section must also be revocable. Where it may
 * reach anything that cannot be undone (input and output, system calls, locks, functions that no
 * catalogue describes), directly or through calls, the program does not link, and the linker names
 * the calls that lead there. */
#if defined(TANDEM_SEQUENTIAL)
#define TANDEM_ATOMIC_STRICT
#elif defined(__TANDEM__)
#define TANDEM_ATOMIC_STRICT __attribute__((atomic_strict))
#else
#define TANDEM_ATOMIC_STRICT                                                                       \
  _Pragma("GCC error \"TANDEM_ATOMIC_STRICT: use tandem-cc, or -DTANDEM_SEQUENTIAL\"")
#endif

/* tandem_atomic before a compound statement: the block is an atomic section.
 *
 *     tandem_atomic {
 *       account->balance -= amount;
 *     }
 *
 * break, continue, goto, return and exceptions leave it as they leave a plain block; its effects up
 * to there hold. goto and case cannot enter it. longjmp must not cross its border.
 *
 * C++17 and later with any compiler: without tandem-c++, link with -ltandem (each
 * block then runs serially, stock.hpp). C with tandem-cc only: no macro of plain C keeps a break in
 * the block from ending a loop of the macro's own. With -DTANDEM_SEQUENTIAL it is nothing.
 *
 * tandem_atomic_strict is the same, and demands what TANDEM_ATOMIC_STRICT does. */
#define TANDEM_JOIN_EXPANDED_(a, b) a##b
#define TANDEM_JOIN_(a, b) TANDEM_JOIN_EXPANDED_(a, b)

#if defined(TANDEM_SEQUENTIAL)
#define tandem_atomic
#define tandem_atomic_strict
#elif defined(__cplusplus) && __cplusplus < 201703L && !defined(__TANDEM__)
#define tandem_atomic _Pragma("GCC error \"tandem_atomic: needs C++17\"")
#define tandem_atomic_strict _Pragma("GCC error \"tandem_atomic_strict: needs C++17\"")
#elif defined(__TANDEM__)

#if defined(__TANDEM_OPTIMISED__)
#define TANDEM_BLOCK_ENTER_ _TANDEM_optimised_block_enter
#define TANDEM_STRICT_BLOCK_ENTER_ _TANDEM_optimised_strict_block_enter
#else
#define TANDEM_BLOCK_ENTER_ _TANDEM_block_enter
#define TANDEM_STRICT_BLOCK_ENTER_ _TANDEM_strict_block_enter
#endif
#define TANDEM_NAME_EXPANDED_(name) #name
#define TANDEM_NAME_(name) TANDEM_NAME_EXPANDED_(name)

/* The compiler knows a block by its calls of these. They do nothing: what makes the block atomic is
 * put in their place at the link. */
#define TANDEM_MARKER_ __attribute__((noinline, optnone, nothrow, unused)) static
TANDEM_MARKER_ char TANDEM_BLOCK_ENTER_(char *) __asm__(TANDEM_NAME_(TANDEM_BLOCK_ENTER_));
TANDEM_MARKER_ char
TANDEM_STRICT_BLOCK_ENTER_(char *) __asm__(TANDEM_NAME_(TANDEM_STRICT_BLOCK_ENTER_));
TANDEM_MARKER_ void _TANDEM_block_leave(char *) __asm__("_TANDEM_block_leave");
TANDEM_MARKER_ char TANDEM_BLOCK_ENTER_(char *block) {
  (void)block;
  return 0;
}
TANDEM_MARKER_ char TANDEM_STRICT_BLOCK_ENTER_(char *block) {
  (void)block;
  return 0;
}
TANDEM_MARKER_ void _TANDEM_block_leave(char *block) { (void)block; }

#define TANDEM_BLOCK_TOKEN_(enter, token)                                                          \
  char token __attribute__((cleanup(_TANDEM_block_leave))) = enter(&token)
/* The label keeps clang from dropping the way past the block, on which a cancelled one goes on. */
#ifdef __cplusplus
#define TANDEM_BLOCK_(enter, token)                                                                \
  _Pragma("clang diagnostic push") _Pragma(                                                        \
      "clang diagnostic ignored \"-Wc++17-extensions\"") if (TANDEM_BLOCK_TOKEN_(enter, token);    \
                                                             false) {                              \
    _Pragma("clang diagnostic pop") __label__ token;                                               \
  token:                                                                                           \
    __attribute__((unused));                                                                       \
  }                                                                                                \
  else
#else
/* Not what it seems: tandem-cc makes it `{ token; if (0) …; else block }`, which C has no prefix
 * for. */
#define TANDEM_BLOCK_(enter, token)                                                                \
  if (0 && __extension__({                                                                         \
        TANDEM_BLOCK_TOKEN_(enter, token);                                                         \
        0;                                                                                         \
      })) {                                                                                        \
    __label__ token;                                                                               \
  token:                                                                                           \
    __attribute__((unused));                                                                       \
  } else
#endif
#define tandem_atomic TANDEM_BLOCK_(TANDEM_BLOCK_ENTER_, TANDEM_JOIN_(tandem_block_, __COUNTER__))
#define tandem_atomic_strict                                                                       \
  TANDEM_BLOCK_(TANDEM_STRICT_BLOCK_ENTER_, TANDEM_JOIN_(tandem_block_, __COUNTER__))

#elif defined(__cplusplus)
#include <tandem/stock.hpp>
#define tandem_atomic                                                                              \
  if (::tandem::stock::Block TANDEM_JOIN_(tandem_block_, __COUNTER__); false) {                    \
  } else
#define tandem_atomic_strict tandem_atomic
#else
#define tandem_atomic_strict                                                                       \
  _Pragma("GCC error \"tandem_atomic_strict: use tandem-cc, or -DTANDEM_SEQUENTIAL\"")
#define tandem_atomic                                                                              \
  _Pragma("GCC error \"tandem_atomic: compile with tandem-cc, or with -DTANDEM_SEQUENTIAL\"")
#endif
