// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: %cc -fsyntax-only -Xclang -verify %s
__attribute__((atomic_strict)) int variable;          // expected-error {{'atomic_strict' marks functions that run as one atomic section; this is no function}}
__attribute__((atomic_strict(1))) void argument(void); // expected-error {{'atomic_strict' attribute takes no arguments}}
int __attribute__((atomic_strict)) main(void) { return 0; } // expected-error {{'main' would be one section for as long as the program runs}}
