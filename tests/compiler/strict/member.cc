// C++: member functions, and what an exception or a stream does.
// RUN: %cxx %s > %t.before.ll
// RUN: not %tandem < %t.before.ll > %t.ll 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err
#include <cstdio>
#include <tandem/tandem.h>
struct Account {
  long balance = 0;
  [[tandem::atomic_strict]] void deposit(long amount);
  TANDEM_ATOMIC_STRICT void withdraw(long amount) { balance -= amount; }
};
void Account::deposit(long amount) {
  balance += amount;
  std::printf("%ld\n", balance);
}
int main() {
  Account account;
  account.deposit(5);
  account.withdraw(3);
  return 0;
}
// CHECK: member.cc:12: error: strict atomic section '{{.*}}deposit{{.*}}' reaches 'printf'
// CHECK-NOT: error:
