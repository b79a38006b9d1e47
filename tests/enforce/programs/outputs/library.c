// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "outputs.h"

#include "interleave.h"

__attribute__((atomic)) void library_add(struct table *table) {
  const unsigned long old = table->counter;
  interleave();
  table->counter = old + 1;
}
