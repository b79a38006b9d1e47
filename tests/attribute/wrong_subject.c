// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %cc -fsyntax-only -Xclang -verify %s
__attribute__((atomic)) int variable; // expected-error {{'atomic' marks functions that run as one atomic section; this is no function}}
struct __attribute__((atomic)) type { // expected-error {{this is no function}}
  int field __attribute__((atomic));  // expected-error {{this is no function}}
};
typedef void type_name(void) __attribute__((atomic));       // expected-error {{this is no function}}
void (*pointer)(void) __attribute__((atomic));              // expected-error {{this is no function}}
void parameter(int p __attribute__((atomic)));              // expected-error {{this is no function}}
__attribute__((atomic(1))) void argument(void);             // expected-error {{'atomic' attribute takes no arguments}}
void statement(void) { __attribute__((atomic)) { } }        // expected-error {{'atomic' attribute cannot be applied to a statement}}
int __attribute__((atomic)) main(void) { return 0; }        // expected-error {{'main' would be one section for as long as the program runs}}
