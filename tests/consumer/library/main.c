/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Uses an installed libtandem.so by hand, as any compiler's program may: two threads count under
 * the global lock. Prints the count.
 */
#include <tandem/abi.h>

#include <pthread.h>
#include <stdio.h>

enum { kRounds = 100000 };

static struct tandem_colour_table table = {.abi_version = TANDEM_ABI_VERSION,
                                           .size = sizeof table,
                                           .section_count = 1,
                                           .output = "consumer"};
static const struct tandem_section section = {.abi_version = TANDEM_ABI_VERSION,
                                              .size = sizeof section,
                                              .kind = TANDEM_KIND_BLOCK,
                                              .section_class = TANDEM_CLASS_PURE,
                                              .irrevocable_at = TANDEM_IRREVOCABLE_NEVER,
                                              .name = "count",
                                              .file = "main.c",
                                              .table = &table};
static long counter;

static void *count(void *unused) {
  for (int round = 0; round < kRounds; ++round) {
    _TANDEM_global_lock_enter(&section);
    ++counter;
    _TANDEM_global_lock_leave(&section);
  }
  return unused;
}

int main(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, count, NULL) != 0)
    return 1;
  count(NULL);
  pthread_join(other, NULL);
  printf("%ld\n", counter);
  return 0;
}
