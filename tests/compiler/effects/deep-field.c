// A field is found through any number of steps.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
static struct { struct { struct { struct { struct { struct { int v[2]; } f; } e; } d; } c; } b; } s[2];
__attribute__((atomic)) void set(int i) { s[i].b.c.d.e.f.v[i] = 1; }
int main(int argc, char **argv) {
  set(argc - 1);
  return s[0].b.c.d.e.f.v[0];
}
// CHECK: "writes": [
// CHECK-NEXT: "s[].b.c.d.e.f.v[]"
