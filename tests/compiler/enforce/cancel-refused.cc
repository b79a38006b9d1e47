// What cannot be cancelled is an error with place, calls and a way out: under locks, after what is never undone, and
// where there is no zero to return. tandem_cancel in an inner section is not the outer one's affair; tandem_cancel_all is.
// RUN: %cxx %s > %t.ll
// RUN: not env TANDEM_ENFORCE=locks %tandem < %t.ll 2>&1 | %FileCheck %s --check-prefix=LOCKS
// RUN: not env TANDEM_ENFORCE=global-lock %tandem < %t.ll 2>&1 | %FileCheck %s --check-prefix=LOCKS
// RUN: env TANDEM_ENFORCE=stm %tandem < %t.ll > %t.stm.ll
// RUN: env TANDEM_ENFORCE=none %tandem < %t.ll > %t.none.ll
// RUN: %cxx -DALL %s > %t.all.ll
// RUN: not env TANDEM_ENFORCE=hybrid %tandem < %t.all.ll 2>&1 | %FileCheck %s --check-prefix=ALWAYS
// RUN: %cxx -DOBJECT %s > %t.object.ll
// RUN: not env TANDEM_ENFORCE=stm %tandem < %t.object.ll 2>&1 | %FileCheck %s --check-prefix=RESULT
// RUN: %cxx -DREFERENCE %s > %t.reference.ll
// RUN: not env TANDEM_ENFORCE=stm %tandem < %t.reference.ll 2>&1 | %FileCheck %s --check-prefix=RESULT
#include <cstdio>
#include <tandem/tandem.hpp>
#include <tandem/transaction.h>
struct Wide {
  long values[4];
};
long value;
Wide wide;
static void give_up() {
#ifdef ALL
  tandem_cancel_all();
#else
  tandem_cancel();
#endif
}
#if defined(OBJECT)
TANDEM_ATOMIC static Wide inner() {
  if (value == 0)
    give_up();
  return wide;
}
#elif defined(REFERENCE)
TANDEM_ATOMIC static Wide &inner() {
  if (value == 0)
    give_up();
  return wide;
}
#else
TANDEM_ATOMIC static int inner() {
  if (value == 0)
    give_up();
  return 1;
}
#endif
TANDEM_ATOMIC static void outer() {
  inner();
  std::puts("never undone");
}
int main() { outer(); }
// LOCKS: tandem-cc: {{.*}}cancel-refused.cc:[[#]]: atomic section 'inner()' may be cancelled (inner() ({{.*}}.cc:[[#]]) → give_up() ({{.*}}.cc:[[#]]) → tandem_cancel), and locks undo nothing; use -ftandem-enforce=hybrid, stm or htm
// ALWAYS: atomic section 'outer()' may be cancelled (outer() ({{.*}}) → inner() ({{.*}}) → give_up() ({{.*}}) → tandem_cancel_all), and always does what cannot be undone (outer() ({{.*}}) → puts); put that off by tandem_on_commit
// RESULT: atomic section 'inner()' may be cancelled ({{.*}}), and returns an object or a reference, of which there is no zero; return a number, a pointer or nothing
