// Alternatives within one condition are questions of the chain too.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json volatile-reread | %FileCheck %s --match-full-lines --strict-whitespace
struct state { long name; volatile int phase; };
int act(struct state *state) {
  if (state->phase == 1 ||
      state->phase == 2)
    return 10;
  return 0;
}
int main(int argc, char **argv) {
  static struct state state;
  state.phase = argc;
  return act(&state);
}
// CHECK:[[#@LINE-10]]: volatile 'state->phase' is read 2 times in one if chain: each read may see another value; read it once into a variable
// CHECK-NEXT:  [[#@LINE-10]]: read again here
// CHECK-NEXT:1 findings
