// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a section gives to an action that waits for its commit is as the section has written it.
#include <pthread.h>
#include <stdio.h>
#include <tandem/transaction.h>

static long shared[2], seen, local_seen;

static void tell(void *given) { seen = *(long *)given; }
static void tell_local(void *given) { local_seen = *(long *)given; }

__attribute__((atomic)) static void change(void) {
  shared[0] = 7;
  shared[1] += 1;
  long local = shared[1] + 4;
  tandem_on_commit(tell, &shared[0], sizeof shared[0]);
  tandem_on_commit(tell_local, &local, sizeof local);
  shared[0] = 8;
}

static void *live(void *argument) { return argument; }

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, live, NULL);
  change();
  pthread_join(thread, NULL);
  printf("%ld %ld %ld\n", seen, local_seen, shared[0]);
  return 0;
}
