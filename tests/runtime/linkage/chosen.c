/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A library that chooses one of its functions when it is looked up, by what its constructor has
 * found out, and one by what the compiler's library knows of the processor.
 */
static int one(void) { return 1; }
static int two(void) { return 2; }
static int (**choice)(void);
static int (*chosen)(void) = one;

__attribute__((constructor)) static void prepare(void) { choice = &chosen; }

static void *choose_first(void) { return *choice; }
static void *choose_second(void) {
  return __builtin_cpu_supports("sse2") ? (void *)two : (void *)one;
}
int first(void) __attribute__((ifunc("choose_first")));
int second(void) __attribute__((ifunc("choose_second")));
