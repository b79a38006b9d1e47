// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TANDEM_HARTS_COMPILE_H
#define TANDEM_HARTS_COMPILE_H

#include <stdint.h>

// Compiles a text of C; a number of the code and data that it became, 0: it has errors. Threads may
// compile side by side.
uint64_t compile_text(const char *text);

#endif
