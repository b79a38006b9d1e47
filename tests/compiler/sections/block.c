// Blocks are sections of the function they are in, by name and place; one may lie in another.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <tandem/tandem.h>
static int x, y;
int main(int argc, char **argv) {
  (void)argv;
  tandem_atomic {
    ++x;
    if (argc > 3)
      return 1;
  }
  // CHECK: section main_1 block line [[#@LINE-5]]{{$}}
  for (int i = 0; i < argc; ++i)
    tandem_atomic {
      if (i == 2)
        break;
      tandem_atomic { ++y; }
    }
  // CHECK-NEXT: section main_2 block line [[#@LINE-5]]{{$}}
  // CHECK-NEXT: section main_3 block line [[#@LINE-3]]{{$}}
  return 0;
}
