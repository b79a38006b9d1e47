/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The syntax of gcc's -fgnu-tm for tandem-cc and tandem-c++, which include this header in front of
 * every source where that option is given; not for programs to include. It includes nothing of the
 * C library, so that the program still decides what that declares. docs/gnu-tm.md is the guide. */
#pragma once
#pragma GCC system_header

#ifndef __TANDEM__
#error "tandem/gnu_tm.h: compile with tandem-cc -fgnu-tm"
#endif

#include "tandem.h"

/* An atomic transaction may throw, which cannot be undone; nothing else that cannot be. */
#if defined(__TANDEM_OPTIMISED__)
#define TANDEM_GNU_BLOCK_ENTER_ _TANDEM_optimised_gnu_block_enter
#else
#define TANDEM_GNU_BLOCK_ENTER_ _TANDEM_gnu_block_enter
#endif
TANDEM_MARKER_ char TANDEM_GNU_BLOCK_ENTER_(char *) __asm__(TANDEM_NAME_(TANDEM_GNU_BLOCK_ENTER_));
TANDEM_MARKER_ char TANDEM_GNU_BLOCK_ENTER_(char *block) {
  (void)block;
  return 0;
}

/* What the compiler's plugin puts in place of a keyword (src/compiler/attribute/gnu_tm.cc). */
#define TANDEM_GNU_ATOMIC_                                                                         \
  TANDEM_BLOCK_(TANDEM_GNU_BLOCK_ENTER_, TANDEM_JOIN_(tandem_block_, __COUNTER__))
#define TANDEM_GNU_RELAXED_ tandem_atomic
#define TANDEM_GNU_CANCEL_ _TANDEM_gnu_cancel()
#define TANDEM_GNU_CANCEL_OUTER_ _TANDEM_gnu_cancel_outer()

#ifdef __cplusplus

extern "C" {
[[noreturn]] void _TANDEM_gnu_cancel() __asm__("tandem_cancel");
[[noreturn]] void _TANDEM_gnu_cancel_outer() __asm__("tandem_cancel_all");
}

#define TANDEM_GNU_ATOMIC_EXPRESSION_(...) TANDEM_GNU_EXPRESSION_(TANDEM_GNU_ATOMIC_, __VA_ARGS__)
#define TANDEM_GNU_RELAXED_EXPRESSION_(...) TANDEM_GNU_EXPRESSION_(tandem_atomic, __VA_ARGS__)
#define TANDEM_GNU_EXPRESSION_(block, ...)                                                         \
  ([&]() {                                                                                         \
    block { return (__VA_ARGS__); }                                                                \
    __builtin_trap();                                                                              \
  }())

#define TANDEM_GNU_ATOMIC_NOEXCEPT_EXPRESSION_(condition, ...)                                     \
  TANDEM_GNU_NOEXCEPT_EXPRESSION_(TANDEM_GNU_ATOMIC_, condition, __VA_ARGS__)
#define TANDEM_GNU_RELAXED_NOEXCEPT_EXPRESSION_(condition, ...)                                    \
  TANDEM_GNU_NOEXCEPT_EXPRESSION_(tandem_atomic, condition, __VA_ARGS__)
#define TANDEM_GNU_NOEXCEPT_EXPRESSION_(block, condition, ...)                                     \
  ([&]() {                                                                                         \
    block TANDEM_GNU_NOEXCEPT_(condition) { return (__VA_ARGS__); }                                \
    __builtin_trap();                                                                              \
  }())

/* An exception that would leave the block ends the program. */
int _TANDEM_uncaught_exceptions() noexcept __asm__("_ZSt19uncaught_exceptionsv");
[[noreturn]] void _TANDEM_terminate() noexcept __asm__("_ZSt9terminatev");

struct _TANDEM_no_throw {
  __attribute__((transaction_pure)) explicit _TANDEM_no_throw(bool on_)
      : on(on_), before(on_ ? _TANDEM_uncaught_exceptions() : 0) {}
  _TANDEM_no_throw(const _TANDEM_no_throw &) = delete;
  _TANDEM_no_throw &operator=(const _TANDEM_no_throw &) = delete;
  __attribute__((transaction_pure)) ~_TANDEM_no_throw() {
    if (on && _TANDEM_uncaught_exceptions() > before)
      _TANDEM_terminate();
  }
  bool on;
  int before;
};
#define TANDEM_GNU_ATOMIC_NOEXCEPT_ TANDEM_GNU_ATOMIC_ TANDEM_GNU_NOEXCEPT_
#define TANDEM_GNU_RELAXED_NOEXCEPT_ tandem_atomic TANDEM_GNU_NOEXCEPT_
/* The condition, which may have commas of its own. */
#define TANDEM_GNU_NOEXCEPT_(...)                                                                  \
  if (_TANDEM_no_throw TANDEM_JOIN_(tandem_guard_, __COUNTER__)(__VA_ARGS__); false) {             \
  } else

#define __cpp_transactional_memory 201500L
/* Keywords of the C++ transactional memory specification, N4514, and of its successor, N4923. */
#define atomic _Pragma("tandem gnu_tm atomic")
#define atomic_cancel _Pragma("tandem gnu_tm atomic_cancel")
#define atomic_commit _Pragma("tandem gnu_tm atomic_commit")
#define atomic_noexcept _Pragma("tandem gnu_tm atomic_noexcept")
#define synchronized _Pragma("tandem gnu_tm synchronized")
#define transaction_safe _Pragma("tandem gnu_tm transaction_safe")
#define transaction_safe_dynamic _Pragma("tandem gnu_tm transaction_safe_dynamic")

#else

_Noreturn void _TANDEM_gnu_cancel(void) __asm__("tandem_cancel");
_Noreturn void _TANDEM_gnu_cancel_outer(void) __asm__("tandem_cancel_all");

#define TANDEM_GNU_ATOMIC_EXPRESSION_(...) TANDEM_GNU_EXPRESSION_(TANDEM_GNU_ATOMIC_, __VA_ARGS__)
#define TANDEM_GNU_RELAXED_EXPRESSION_(...) TANDEM_GNU_EXPRESSION_(tandem_atomic, __VA_ARGS__)
/* The value of an expression that has none counts as 0, of which nothing is made. */
#define TANDEM_GNU_VALUE_(nothing, ...)                                                            \
  __builtin_choose_expr(__builtin_types_compatible_p(__typeof__(__VA_ARGS__), void), (nothing),    \
                        (__VA_ARGS__))
#define TANDEM_GNU_EXPRESSION_(block, ...)                                                         \
  __extension__({                                                                                  \
    __typeof__((void)0, TANDEM_GNU_VALUE_(0, __VA_ARGS__)) tandem_value_;                          \
    block { tandem_value_ = TANDEM_GNU_VALUE_(((void)(__VA_ARGS__), 0), __VA_ARGS__); }            \
    __builtin_choose_expr(__builtin_types_compatible_p(__typeof__(__VA_ARGS__), void), (void)0,    \
                          tandem_value_);                                                          \
  })

#endif

#define __transaction_atomic _Pragma("tandem gnu_tm __transaction_atomic")
#define __transaction_relaxed _Pragma("tandem gnu_tm __transaction_relaxed")
#define __transaction_cancel _Pragma("tandem gnu_tm __transaction_cancel")
