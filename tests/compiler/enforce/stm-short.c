// stm: a section that usually is a few accesses runs them in place, if the runtime allows it. What is rare and takes more
// is not in that code: where it is reached, what was stored is stored back and the section becomes a transaction.
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_REPORT=%t.json %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_SHORT_SECTIONS=0 %tandem | %FileCheck %s --check-prefix=OFF
#include <tandem/tandem.h>
struct account {
  long balance, moved;
  struct account *next;
} accounts[4];
int visits;
void audit(struct account *);
static void note(struct account *account) { account->moved++; }
// Both are in one place; a small function is part of it.
TANDEM_ATOMIC void move(struct account *from, long by) {
  from->balance -= by;
  note(from);
}
// The call is rare.
TANDEM_ATOMIC void count(struct account *account) {
  account->balance++;
  if (__builtin_expect(account->moved > 100, 0))
    audit(account);
}
// Where it leads is only known once it has begun.
TANDEM_ATOMIC void follow(struct account *account) {
  account->next->balance++;
  visits++;
}
// The caller's copy is what the transaction gets, too.
struct pair {
  long left, right;
};
TANDEM_ATOMIC void by_value(struct account *account, struct pair pair, long wide[3]) {
  (void)wide;
  pair.left += account->moved;
  account->balance += pair.left;
  if (__builtin_expect(account->moved > 100, 0))
    audit(account);
}
struct many {
  long words[5];
};
TANDEM_ATOMIC void in_memory(struct account *account, struct many many) {
  many.words[account->moved & 3] += 7;
  account->balance += many.words[2];
  if (__builtin_expect(account->moved > 100, 0))
    audit(account);
}
TANDEM_ATOMIC void variadic(struct account *account, ...) { account->balance++; visits++; }
// These are not short: a loop, a call that is not rare, only reads, a store that may have happened or not.
TANDEM_ATOMIC void sum(int n) {
  for (int i = 0; i < n; ++i)
    visits += i;
  accounts[0].balance++;
}
TANDEM_ATOMIC void call(struct account *account) {
  account->balance++;
  audit(account);
}
TANDEM_ATOMIC long get(struct account *account) { return account->balance + account->moved; }
TANDEM_ATOMIC void maybe(struct account *account, int n) {
  visits++;
  if (n > 3)
    account->balance++;
  if (__builtin_expect(account->moved > 100, 0))
    audit(account);
}
int main(int argc, char **argv) {
  (void)argv;
  move(accounts, argc);
  count(accounts);
  follow(accounts);
  in_memory(accounts, (struct many){{1, 2, 3, 4, 5}});
  by_value(accounts, (struct pair){1, 2}, 0);
  variadic(accounts, 1, 2);
  sum(argc);
  call(accounts);
  maybe(accounts, argc);
  return (int)get(accounts);
}
// CHECK-LABEL: define {{.*}}@move(
// CHECK: %places = alloca [2 x i64]
// CHECK: %time = call i64 @_TANDEM_short_begin(ptr null, ptr %places, i32 1)
// CHECK: %[[BEGUN:.*]] = icmp ne i64 %time, 0
// CHECK: br i1 %[[BEGUN]], label %[[SHORT:.*]], label %transaction
// CHECK: transaction:
// CHECK: call void @move.tandem.transaction(
// CHECK: [[SHORT]]:
// CHECK-NOT: call {{.*}}note
// CHECK: call void @_TANDEM_short_end(i64 %time)
// CHECK-NEXT: ret void
// CHECK-LABEL: define {{.*}}@count(
// CHECK: call i64 @_TANDEM_short_begin(ptr @count.tandem.skipped,
// CHECK: %before = load i64, ptr %[[BALANCE:.*]], align 8
// CHECK: store i64 %{{.*}}, ptr %[[BALANCE]]
// CHECK: store i64 %before, ptr %[[BALANCE]]
// CHECK-NOT: audit
// CHECK: call void @_TANDEM_short_undone(i64 %time, ptr @count.tandem.skipped)
// CHECK-NEXT: br label %transaction
// CHECK-LABEL: define {{.*}}@follow(
// CHECK: call i64 @_TANDEM_short_begin(ptr null, ptr null, i32 0)
// CHECK-LABEL: define {{.*}}@in_memory(
// CHECK: call i64 @_TANDEM_short_begin(
// CHECK: %before = load i64, ptr %[[WORD:.*]], align 8
// CHECK: store i64 %{{.*}}, ptr %[[WORD]]
// CHECK: store i64 %before, ptr %[[WORD]]
// CHECK: call void @_TANDEM_short_undone(
// CHECK-LABEL: define {{.*}}@variadic(
// CHECK-NOT: _TANDEM_short
// CHECK: call {{.*}}@_TANDEM_begin(
// CHECK-LABEL: define {{.*}}@sum(
// CHECK-NOT: _TANDEM_short
// CHECK: call {{.*}}@_TANDEM_begin(
// CHECK-LABEL: define {{.*}}@call(
// CHECK-NOT: _TANDEM_short
// CHECK: call {{.*}}@_TANDEM_begin(
// CHECK-LABEL: define {{.*}}@get(
// CHECK-NOT: _TANDEM_short
// CHECK: call {{.*}}@_TANDEM_begin(
// CHECK-LABEL: define {{.*}}@maybe(
// CHECK-NOT: _TANDEM_short
// CHECK: call {{.*}}@_TANDEM_begin(
// The transaction is as it would be without.
// CHECK-LABEL: define {{.*}}@move.tandem.transaction(
// CHECK: call {{.*}}@_TANDEM_begin(
// REPORT: "short_sections": 5
// OFF-NOT: _TANDEM_short
