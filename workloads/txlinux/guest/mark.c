// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells the simulated machine where what is measured begins and ends: mark begin, mark end.
#include "tandem/machine.h"

#include <string.h>

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "begin") == 0)
    TANDEM_MACHINE_BEGIN(0);
  else if (argc == 2 && strcmp(argv[1], "end") == 0)
    TANDEM_MACHINE_END(0);
  else
    return 2;
  return 0;
}
