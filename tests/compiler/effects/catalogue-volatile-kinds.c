// Every kind of volatile access is one: of fields, of structures as a whole, atomic ones, also where atomic operations can be undone.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo '[functions]' >> %t.toml
// RUN: echo 'irrevocable = ["(volatile access)"]' >> %t.toml
// RUN: echo 'pure = ["(atomic operation)"]' >> %t.toml
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_ENFORCE=stm TANDEM_CATALOGUE=%t.toml %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// RUN: %FileCheck %s --input-file=%t.ll --check-prefix=CODE
struct record {
  long parts[9];
};
volatile struct record shared;
struct record plain;
volatile int word;
int calm;
#define SECTION __attribute__((atomic))
SECTION void a_field(void) { shared.parts[2] = 1; }
SECTION void b_copy_from(void) {
  if (plain.parts[0])
    plain = shared;
}
SECTION void c_copy_to(void) { shared = plain; }
SECTION void d_update(void) { __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST); }
SECTION void e_exchange(int from) { __atomic_compare_exchange_n(&word, &from, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); }
SECTION int f_atomic_load(void) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }
SECTION void g_atomic_store(void) { __atomic_store_n(&word, 1, __ATOMIC_RELEASE); }
SECTION void h_fill(void) { shared = (struct record){{0}}; }
SECTION long own(long n) {
  volatile struct record local = {{n, 1, 2}};
  volatile struct record copy = local;
  copy.parts[n & 7] = plain.parts[0];
  return copy.parts[1];
}
SECTION void atomic(void) { __atomic_fetch_add(&calm, 1, __ATOMIC_SEQ_CST); }
int main(int count, char **names) {
  (void)names;
  a_field(), b_copy_from(), c_copy_to(), d_update(), e_exchange(count), f_atomic_load(), g_atomic_store(), h_fill();
  atomic();
  return (int)own(count);
}
// CHECK-COUNT-8: "callee": "(volatile access)"
// CHECK-NOT: "callee"
// CODE-LABEL: define internal {{.*}} @b_copy_from.tandem.tm(
// CODE: call void @_ITM_changeTransactionMode(i32 0)
// CODE-NEXT: call void @llvm.memcpy{{.*}} @plain, {{.*}} @shared, i64 72, i1 true)
// CODE-LABEL: define internal {{.*}} @d_update.tandem.tm(
// CODE: call void @_ITM_changeTransactionMode(i32 0)
// CODE-NEXT: atomicrmw volatile
