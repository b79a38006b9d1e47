/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory that only a segment register reaches has no barrier; the section still compiles and runs.
 */
#include <stddef.h>
static int calls;
__attribute__((atomic)) int read_or_zero(int __seg_gs *where) {
  ++calls;
  return where != NULL ? *where : 0;
}
int main(void) { return read_or_zero(NULL) != 0 || calls != 1; }
