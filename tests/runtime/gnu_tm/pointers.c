/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Output through pointers in relaxed transactions: its results are those of the plain functions, so
 * it does not wait for the commit. */
#include "check.h"

#include <errno.h>
#include <string.h>

static ssize_t (*volatile write_by)(int, const void *, size_t) = write;
static int (*volatile puts_by)(const char *, FILE *) = fputs;
static size_t (*volatile fwrite_by)(const void *, size_t, size_t, FILE *) = fwrite;
static size_t (*volatile length_by)(const char *) = strlen;
static long changed;

int main(void) {
  have_a_second_thread();
  FILE *nowhere = fopen("/dev/full", "w");
  EXPECT(nowhere != NULL);
  setvbuf(nowhere, NULL, _IONBF, 0);
  ssize_t (*by)(int, const void *, size_t) = write_by;
  int (*text)(const char *, FILE *) = puts_by;
  size_t (*bytes)(const void *, size_t, size_t, FILE *) = fwrite_by;
  size_t (*length)(const char *) = length_by;
  for (int round = 0; round < 3; ++round) {
    ssize_t written = 0;
    int put = 0;
    size_t items = 9;
    size_t characters = 0;
    __transaction_relaxed {
      ++changed;
      characters = length("four");
      written = by(99, "x", 1);
      put = text("x", nowhere);
      items = bytes("x", 1, 1, nowhere);
    }
    EXPECT(characters == 4);
    EXPECT(written == -1);
    EXPECT(put == EOF);
    EXPECT(items == 0);
  }
  EXPECT(changed == 3);
  return 0;
}
