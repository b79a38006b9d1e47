// Functions of one name in two files: the file tells their sections apart.
// RUN: %cc %s > %t.one.ll
// RUN: mkdir -p %t.dir && cp %s %t.dir/other.c && %cc -DOTHER %t.dir/other.c > %t.two.ll
// RUN: %link %t.one.ll %t.two.ll | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
static int counter;
__attribute__((atomic)) static void tick(void) { ++counter; }
#ifdef OTHER
void other(void) { tick(); }
#else
void other(void);
int main(void) {
  tick();
  other();
  return 0;
}
#endif
// CHECK-DAG: "name": "other.c:tick"
// CHECK-DAG: "name": "names.c:tick"
