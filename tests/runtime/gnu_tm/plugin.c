/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Loaded by process.c. */
__attribute__((transaction_safe)) long plugin_bump(long *where) { return ++*where; }

static long own;

long plugin_transaction(void) {
  long result;
  __transaction_atomic { result = ++own; }
  return result;
}
