// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls `count` of each library that it is given, the n-th one n times, three times over, and
// closes it before it opens the next, which the kernel then maps to the same place. Prints how many
// places there were.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv) {
  uintptr_t places[64];
  int known = 0;
  for (int round = 0; round < 3; ++round)
    for (int n = 1; n < argc; ++n) {
      void *library = dlopen(argv[n], RTLD_NOW | RTLD_LOCAL);
      if (!library)
        return fprintf(stderr, "%s\n", dlerror()), 1;
      union {
        void *object;
        void (*call)(void);
        uintptr_t place;
      } count = {dlsym(library, "count")};
      for (int i = 0; i < n; ++i)
        count.call();
      int at = 0;
      while (at < known && places[at] != count.place)
        ++at;
      if (at == known && known < 64)
        places[known++] = count.place;
      dlclose(library);
    }
  printf("%d\n", known);
  return 0;
}
