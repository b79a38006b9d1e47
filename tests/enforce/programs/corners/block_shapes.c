// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of C in odd places.
#include <stdlib.h>
#include <string.h>
#include <tandem/tandem.h>

struct big {
  long values[8];
  double last;
};
static struct big shared = {{1, 2, 3, 4, 5, 6, 7, 8}, 0.5};
static long counter;

static struct big by_value(struct big parameter) {
  tandem_atomic {
    struct big copy = shared;
    for (int i = 0; i < 8; ++i)
      copy.values[i] += parameter.values[i];
    shared = copy;
    parameter.last = copy.last;
    return copy;
  }
}

static int inside_an_expression(int n) {
  return __extension__({
    int result = 0;
    tandem_atomic { result = (int)counter + n; }
    result;
  });
}

static long loop_head(void) {
  long sum = 0;
  for (int i = 0; i < 4; ++i)
    if (i % 2)
      tandem_atomic { sum += i + counter; }
    else
      do
        tandem_atomic {
          if (++counter % 3)
            continue;
          break;
        }
      while (counter < 5);
  return sum;
}

static const char *strings(char *buffer) {
  char text[16] = "block";
  tandem_atomic {
    strcpy(buffer, text);
    memset(text, 'x', 5);
    if (counter >= 0)
      return buffer;
  }
  return text[0] == 'x' ? NULL : buffer;
}

int main(void) {
  struct big one = {{1, 1, 1, 1, 1, 1, 1, 1}, 9};
  const struct big sum = by_value(one);
  char buffer[16];
  if (sum.values[7] != 9 || sum.last != 0.5 || shared.values[0] != 2 || one.last != 9)
    return 1;
  if (inside_an_expression(5) != 5)
    return 2;
  if (loop_head() != 12 || counter != 5)
    return 3 + (int)counter;
  return strcmp(strings(buffer), "block") == 0 ? 0 : 4;
}
