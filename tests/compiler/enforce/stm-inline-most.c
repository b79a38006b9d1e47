// stm: an output has at most 640 inlined accesses; others are calls.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem > %t.ll
// RUN: grep -c "call .*@_TANDEM_inline_" %t.ll | %FileCheck %s --check-prefix=INLINED
// RUN: grep -c "call .*@_ITM_[RW]U8" %t.ll | %FileCheck %s --check-prefix=CALLED
#include <tandem/tandem.h>
long to, from;
#define SECTION(n)                                                                                 \
  TANDEM_ATOMIC static void section_##n(void) { to = from * (1##n - from); }
#define EIGHT(n)                                                                                   \
  SECTION(n##0) SECTION(n##1) SECTION(n##2) SECTION(n##3) SECTION(n##4) SECTION(n##5)              \
  SECTION(n##6) SECTION(n##7)
#define MANY(n)                                                                                    \
  EIGHT(n##0) EIGHT(n##1) EIGHT(n##2) EIGHT(n##3) EIGHT(n##4) EIGHT(n##5) EIGHT(n##6)
#define MOST(n) MANY(n##0) MANY(n##1) MANY(n##2) MANY(n##3) MANY(n##4) MANY(n##5)
MOST(0)
#undef SECTION
#define SECTION(n) section_##n();
int main(void) {
  MOST(0)
  return 0;
}
// INLINED: {{^}}640{{$}}
// CALLED: {{^}}32{{$}}
