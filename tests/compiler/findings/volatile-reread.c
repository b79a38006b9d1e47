// A volatile variable that an if chain reads for each of its arms.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json volatile-reread | %FileCheck %s --match-full-lines --strict-whitespace
static volatile int signalled;
int act(void) {
  if (signalled == 1)
    return 10;
  else if (signalled == 2)
    return 20;
  else if (signalled == 3)
    return 30;
  return 0;
}
int main(int argc, char **argv) {
  signalled = argc;
  return act();
}
// CHECK:[[#@LINE-12]]: volatile 'signalled' is read 3 times in one if chain: each read may see another value; read it once into a variable
// CHECK-NEXT:  [[#@LINE-11]]: read again here
// CHECK-NEXT:  [[#@LINE-10]]: read again here
// CHECK-NEXT:1 findings
