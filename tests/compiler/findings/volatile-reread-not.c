// One read, reads with work between them, and reads around a loop are no chain.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json volatile-reread | %FileCheck %s --match-full-lines --strict-whitespace
static volatile int signalled;
static int work;
int once(void) {
  const int seen = signalled;
  if (seen == 1)
    return 10;
  else if (seen == 2)
    return 20;
  return 0;
}
int one_after_the_other(void) {
  if (signalled == 1)
    work += 10;
  if (signalled == 2)
    work += 20;
  return work;
}
int work_between(void) {
  if (signalled != 1) {
    work += 10;
    if (signalled == 2)
      return 20;
  }
  return 0;
}
int wait_then_ask(void) {
  while (signalled == 0)
    ;
  if (signalled == 2)
    return 20;
  return 0;
}
int my_own(int n) {
  volatile int mine = n;
  if (mine == 1)
    return 10;
  else if (mine == 2)
    return 20;
  return 0;
}
int main(int argc, char **argv) {
  signalled = argc;
  return once() + one_after_the_other() + work_between() + wait_then_ask() + my_own(argc);
}
// CHECK:0 findings
