// A block in an argument that a macro uses twice: the same names twice, each in its own scope.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
#include <tandem/tandem.h>
#define TWICE(x)                                                                                   \
  do {                                                                                             \
    x                                                                                              \
  } while (0);                                                                                     \
  do {                                                                                             \
    x                                                                                              \
  } while (0)
long count, other;
int main(void) {
  TWICE(tandem_atomic {
    count++;
    other += count;
  });
  return 0;
}
// CHECK-COUNT-2: call i32 @_TANDEM_begin(
