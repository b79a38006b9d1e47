// A call through an alias, as constructors make, is a call of the function.
// RUN: %cxx -mconstructor-aliases %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
struct Counted {
  int value;
  Counted(int v);
};
static int made;
Counted::Counted(int v) : value(v) { ++made; }
__attribute__((atomic)) int make() { return Counted(3).value; }
int main() { return make(); }
// CHECK: "irrevocable_at": "never"
// CHECK: "writes": [
// CHECK: "made"
