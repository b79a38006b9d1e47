/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A program and a plugin (argv[1]) whose sections share a colour of the process: transactions and
 * plain sections of both keep the two words of a pair equal, while the plugin comes and goes. */
#include "output.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 300, LOADS = 5 };

static uint64_t pair[2];
static atomic_int wrong;

static void *work(void *kind) {
  for (int i = 0; i < ROUNDS; ++i)
    if (kind == NULL) {
      run(&hybrid, pair);
    } else {
      _TANDEM_colours_enter(&exclusive);
      if (pair[0] != pair[1])
        ++wrong;
      ++pair[0];
      for (volatile int wait = 0; wait < 2000; ++wait) {
      }
      ++pair[1];
      _TANDEM_colours_leave(&exclusive);
    }
  return NULL;
}

int main(int count, char **words) {
  static uint64_t unshared[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    if (pthread_create(&threads[i], NULL, work, i == 0 ? NULL : &wrong) != 0)
      return 2;
  run(&pure, unshared);
  for (int load = 0; load < LOADS && count > 1; ++load) {
    void *plugin = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
    void (*step)(uint64_t *) = (void (*)(uint64_t *))dlsym(plugin, "plugin_step");
    for (int i = 0; i < ROUNDS; ++i)
      step(pair);
    dlclose(plugin);
  }
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  const uint64_t expected = 2 * ROUNDS + (count > 1 ? 2 * LOADS * ROUNDS : 0);
  if (wrong != 0 || pair[0] != expected || pair[1] != expected || unshared[0] != 1) {
    fprintf(stderr, "wrong %d, %lu %lu, expected %lu\n", wrong, (unsigned long)pair[0],
            (unsigned long)pair[1], (unsigned long)expected);
    return 1;
  }
  return 0;
}
