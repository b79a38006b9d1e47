// Machine code in the link keeps phases away only where it may lead to transactions: by the
// runtime, by a function that is found by name, or by one of which nothing is known.
// RUN: printf 'version = 1\n[functions]\npure = ["helper"]\n' > %t.toml
// RUN: %cc %s > %t.ll
// RUN: %object -DNATIVE %s -o %t.o
// RUN: env TANDEM_LINK_INPUTS=%t.o TANDEM_ENFORCE=hybrid TANDEM_CATALOGUE=%t.toml %tandem %t.ll \
// RUN:   | %FileCheck %s --check-prefix=PHASES
// RUN: %object -DNATIVE -DCALLS=malloc %s -o %t.o
// RUN: env TANDEM_LINK_INPUTS=%t.o TANDEM_ENFORCE=hybrid TANDEM_CATALOGUE=%t.toml %tandem %t.ll \
// RUN:   | %FileCheck %s --check-prefix=PHASES
// RUN: %object -DNATIVE -DCALLS=run %s -o %t.o
// RUN: env TANDEM_LINK_INPUTS=%t.o TANDEM_ENFORCE=hybrid TANDEM_CATALOGUE=%t.toml %tandem %t.ll \
// RUN:   | %FileCheck %s --check-prefix=PHASES
// RUN: %object -DNATIVE -DCALLS=from_elsewhere %s -o %t.o
// RUN: env TANDEM_LINK_INPUTS=%t.o TANDEM_ENFORCE=hybrid TANDEM_CATALOGUE=%t.toml %tandem %t.ll \
// RUN:   | %FileCheck %s
// RUN: %object -DNATIVE -DCALLS=_ITM_commitTransaction %s -o %t.o
// RUN: env TANDEM_LINK_INPUTS=%t.o TANDEM_ENFORCE=hybrid TANDEM_CATALOGUE=%t.toml %tandem %t.ll \
// RUN:   | %FileCheck %s
// RUN: %object -DNATIVE -DCALLS=dlsym %s -o %t.o
// RUN: env TANDEM_LINK_INPUTS=%t.o TANDEM_ENFORCE=hybrid TANDEM_CATALOGUE=%t.toml %tandem %t.ll \
// RUN:   | %FileCheck %s
// What one machine-code file uses and another one defines is no such use, if that one is linked in any
// case: which members of an archive are is not known.
// RUN: %object -DNATIVE -DCALLS=from_elsewhere %s -o %t.o
// RUN: %object -DELSEWHERE %s -o %t.elsewhere.o && rm -f %t.a
// RUN: %archive rcs %t.a %t.elsewhere.o
// RUN: bash -c 'TANDEM_LINK_INPUTS=$(printf "%t.o\n%t.elsewhere.o") TANDEM_ENFORCE=hybrid \
// RUN:   TANDEM_CATALOGUE=%t.toml %tandem %t.ll' | %FileCheck %s --check-prefix=PHASES
// RUN: bash -c 'TANDEM_LINK_INPUTS=$(printf "%t.o\n%t.a") TANDEM_ENFORCE=hybrid \
// RUN:   TANDEM_CATALOGUE=%t.toml %tandem %t.ll' | %FileCheck %s
// Nor is it known what a linker script or a response file of the linker names.
// RUN: echo 'INPUT(hidden.o)' > %t.script
// RUN: env TANDEM_LINK_INPUTS=%t.script TANDEM_ENFORCE=hybrid TANDEM_CATALOGUE=%t.toml %tandem %t.ll \
// RUN:   | %FileCheck %s
// RUN: env 'TANDEM_LINK_INPUTS=?@rest' TANDEM_ENFORCE=hybrid TANDEM_CATALOGUE=%t.toml %tandem %t.ll \
// RUN:   | %FileCheck %s
int helper(int value);
#if defined(ELSEWHERE)
void from_elsewhere(void) {}
#elif defined(NATIVE)
#if defined(CALLS)
void CALLS(void);
#endif
int helper(int value) {
#if defined(CALLS)
  CALLS();
#endif
  return value + 1;
}
#else
#include <pthread.h>
#include <tandem/tandem.h>
static int counter, other;
TANDEM_ATOMIC static void tick(void) {
  counter = helper(counter);
  other += counter;
}
void *run(void *argument) {
  tick();
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  run(0);
  return pthread_join(thread, 0);
}
#endif
// PHASES: call i32 @_TANDEM_inline_phase_enter_colours
// CHECK-NOT: call i32 @_TANDEM_inline_phase_enter_colours
// CHECK: call i32 @_TANDEM_begin(
// CHECK-NOT: call i32 @_TANDEM_inline_phase_enter_colours
