/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Library functions in transactions: transactional wrappers for functions of one's own, commutative
 * counters, marshalling. C11 and C++17; link with -ltandem_tm. docs/safe-library.md is the guide,
 * also to how gcc -fgnu-tm reaches the transactional versions of the C library's functions.
 */
#pragma once

#include <tandem/transaction.h>

/* Registers `wrapper`, a function of the same type, as what transactions run in place of
 * `function`: at file scope, once for each function. The wrapper reaches shared memory by
 * tandem_read_* and tandem_write_* (transaction.h), since compilers call it as it is; the plain
 * function stays as it is, with its assembly. Counts for calls through pointers. For direct calls
 * tandem-cc wants an entry in the catalogue, and gcc wants
 * __attribute__((transaction_wrap(function))) on the wrapper.
 *
 * The output gives the pair to _ITM_registerTMCloneTable when it is loaded. */
#ifdef __cplusplus
extern "C" {
#endif
struct tandem_wrapped {
  void (*plain)(void);
  void (*transactional)(void);
};
/* Of libitm's ABI. */
void _ITM_registerTMCloneTable(void *entries, size_t count);
void _ITM_deregisterTMCloneTable(void *entries);
#ifdef __cplusplus
}
#define TANDEM_WRAP_POINTER_(function) reinterpret_cast<void (*)()>(&function)
#else
#define TANDEM_WRAP_POINTER_(function) (void (*)(void)) & function
#endif
#define TANDEM_WRAP(function, wrapper)                                                             \
  static struct tandem_wrapped tandem_wrapped_of_##function = {TANDEM_WRAP_POINTER_(function),     \
                                                               TANDEM_WRAP_POINTER_(wrapper)};     \
  __attribute__((constructor, used)) static void tandem_add_wrapped_##function(void) {             \
    _ITM_registerTMCloneTable(&tandem_wrapped_of_##function, 1);                                   \
  }                                                                                                \
  __attribute__((destructor, used)) static void tandem_drop_wrapped_##function(void) {             \
    _ITM_deregisterTMCloneTable(&tandem_wrapped_of_##function);                                    \
  }                                                                                                \
  struct tandem_wrapped /* takes the semicolon */

#ifdef __cplusplus
extern "C" {
#endif

/* Adds to a counter whose value the transaction does not need: the addition is the last step of the
 * outermost commit, so transactions that count the same things do not conflict while they run.
 * Others see the counter change together with all else that the transaction did. A plain read of
 * the counter in the same transaction does not see what waits; tandem_counter_get does. Outside of
 * transactions the addition is a transaction of its own. Wraps around; subtract by adding the
 * negative. `counter` is aligned. */
TANDEM_PURE_ void tandem_counter_add_u32(uint32_t *counter, uint32_t by);
TANDEM_PURE_ void tandem_counter_add_u64(uint64_t *counter, uint64_t by);
TANDEM_PURE_ uint32_t tandem_counter_get_u32(const uint32_t *counter);
TANDEM_PURE_ uint64_t tandem_counter_get_u64(const uint64_t *counter);

/* Memory that a plain function reads (in), writes (out), or both, when tandem_marshal calls it. */
enum tandem_direction { TANDEM_IN = 1, TANDEM_OUT = 2, TANDEM_IN_OUT = 3 };
struct tandem_argument {
  void *memory; /* may be null where `bytes` is 0 */
  size_t bytes;
  int direction; /* tandem_direction */
};
#define TANDEM_MOST_ARGUMENTS 16

/* Calls a function that nobody has compiled as transactional code, in a transaction that stays
 * revocable: function(memory), where memory[i] is a private copy of arguments[i].memory, aligned as
 * malloc aligns. A TANDEM_OUT copy is zeros at first, and all of it is copied back, so the function
 * writes all of it (else TANDEM_IN_OUT); null stays null. The copies are gone when the call
 * returns. errno goes in and comes out as well. Outside of transactions, and in irrevocable ones,
 * the function gets the memory itself: nothing is copied or zeroed.
 *
 * The function touches no other memory that threads share, follows no pointer in its copies to
 * such memory, and does nothing that cannot be done several times or in vain. It returns: no
 * exception, no longjmp. It uses no transaction. What is written overlaps no other argument.
 *
 * Ends the process with one line: no function, more than TANDEM_MOST_ARGUMENTS arguments, an
 * unknown direction, bytes at null, more bytes than memory has. */
void tandem_marshal(void (*function)(void *const *memory), const struct tandem_argument *arguments,
                    size_t count);

#ifdef __cplusplus
}
#endif
