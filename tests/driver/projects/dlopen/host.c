#include "plugin.h"

#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  void *library = dlopen("./plugin.so", RTLD_NOW);
  if (library == NULL) {
    puts(dlerror());
    return 1;
  }
  plugin_function *add = (plugin_function *)dlsym(library, "plugin_add");
  if (add == NULL)
    return 1;
  add(40);
  printf("plugin %d\n", add(2));
  return dlclose(library);
}
