// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

struct table {
  unsigned long counter;
};
typedef void (*add_function)(struct table *);

extern unsigned long exported; // the host's
void library_add(struct table *table);
