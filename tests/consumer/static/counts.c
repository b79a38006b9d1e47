/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
static long counter;

__attribute__((atomic)) long add_to_counter(long n) { return counter += n; }
