// A pointer may reach a variable whose address the program stored, and no other.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
static int seen, unseen;
static int *where = &seen;
__attribute__((atomic)) void through(void) { *where = 1; }
__attribute__((atomic)) int get_seen(void) { return seen; }
__attribute__((atomic)) int get_unseen(void) { return unseen; }
int main(void) {
  through();
  unseen = 1;
  return get_seen() + get_unseen();
}
// CHECK: "name": "get_seen"
// CHECK: "conflicts": [
// CHECK-NEXT: {
// CHECK-NEXT: "with": "through"
// CHECK-NEXT: "on": [
// CHECK-NEXT: "seen"
// CHECK-NEXT: ]
// CHECK: "name": "get_unseen"
// CHECK: "conflicts": []
