// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// load LIBRARY: loads it, and calls its main.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
  void *library = dlopen(count == 2 ? arguments[1] : "", RTLD_LAZY);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  return ((int (*)(void))dlsym(library, "main"))();
}
