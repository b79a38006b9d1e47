// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
long counted;
void count(void) {
  __transaction_atomic { counted++; }
}
