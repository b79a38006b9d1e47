// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of a program share that different compilers have compiled.
#pragma once

extern long total;
extern long halves[2]; // always alike

// By a plain compiler: each adds one `count` times, in blocks or lambdas.
void add_plainly(int count);
