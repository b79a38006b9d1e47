// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %cxx -fsyntax-only -Xclang -verify %s
[[tandem::atomic]] int variable;                             // expected-error {{this is no function}}
int [[tandem::atomic]] type;                                 // expected-error {{'atomic' attribute cannot be applied to types}}
template <class T> __attribute__((atomic)) int variables = 0; // expected-error {{this is no function}}
namespace __attribute__((atomic)) room {}                    // expected-error {{this is no function}}
[[tandem::atomic]] consteval int constant() { return 1; }    // expected-error {{a consteval function never runs}}
void statement() {
  [[tandem::atomic]] while (false) {} // expected-error {{cannot be applied to a statement}}
}
