// A function that is declared to be balanced, since its text does not show that it releases the
// item's lock at its end. It does show that it tries that lock, and releases it in the loop, with the
// list's lock held only: no section begins or ends there. That another one would is a mistake.
// RUN: %cc %s | env TANDEM_CONVERT=%S/Inputs/always-inside.toml TANDEM_ENFORCE=global-lock \
// RUN:   %tandem | %FileCheck %s
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER, item_locks[4];
static int items[4], pulled, seen;

__attribute__((noinline)) static void *try(int item) {
  pthread_mutex_t *lock = &item_locks[item];
  return pthread_mutex_trylock(lock) == 0 ? lock : NULL;
}

static void pull(void) {
  int found = -1;
  void *held = NULL;
  pthread_mutex_lock(&list_lock);
  for (int item = 0; item < 4; ++item) {
    ++seen;
    if ((held = try(item)) == NULL)
      continue;
    if (items[item] == 0) {
      pthread_mutex_unlock((pthread_mutex_t *)held);
      continue;
    }
    found = item;
    break;
  }
  pthread_mutex_unlock(&list_lock);
  if (found > -1) {
    items[found] = 0;
    ++pulled;
    pthread_mutex_unlock((pthread_mutex_t *)held);
  }
}

static void *run(void *argument) {
  pull();
  return argument;
}
int main(void) {
  for (int item = 0; item < 4; ++item)
    pthread_mutex_init(&item_locks[item], NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  return pthread_join(thread, NULL);
}
// CHECK: call void @llvm.trap()
// REPORT-COUNT-1: "kind": "block"
// REPORT-NOT: "kind": "block"
