// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// host PLUGIN THREADS ROUNDS: a program whose data sections of its own, of a library that it is
// linked with, and of a plugin that it loads change. Status 0: no change was lost.
#include "interleave.h"
#include "outputs.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct table *table;
unsigned long exported;
static add_function plugin_add, plugin_tell;
static int rounds;

__attribute__((atomic)) static void host_add(void) {
  const unsigned long old = table->counter;
  interleave();
  table->counter = old + 1;
}

__attribute__((atomic)) static void host_tell(void) {
  const unsigned long old = exported;
  interleave();
  fputs("", stderr);
  exported = old + 1;
}

static void *worker(void *argument) {
  for (int i = 0; i < rounds; ++i) {
    host_add();
    library_add(table);
    plugin_add(table);
    host_tell();
    plugin_tell(table);
  }
  return argument;
}

int main(int argc, char **argv) {
  void *plugin = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (plugin == NULL) {
    fprintf(stderr, "host: %s\n", argc == 4 ? dlerror() : "PLUGIN THREADS ROUNDS");
    return 2;
  }
  plugin_add = (add_function)dlsym(plugin, "plugin_add");
  plugin_tell = (add_function)dlsym(plugin, "plugin_tell");
  const int threads = atoi(argv[2]);
  rounds = atoi(argv[3]);
  table = calloc(1, sizeof *table);
  pthread_t handles[16];
  for (int i = 0; i < threads; ++i)
    pthread_create(&handles[i], NULL, worker, NULL);
  for (int i = 0; i < threads; ++i)
    pthread_join(handles[i], NULL);
  const unsigned long each = (unsigned long)threads * (unsigned long)rounds;
  printf("counter %lu of %lu, exported %lu of %lu\n", table->counter, 3 * each, exported, 2 * each);
  return table->counter != 3 * each || exported != 2 * each;
}
