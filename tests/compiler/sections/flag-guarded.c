// Where a local flag tells whether the lock is held, the region is followed as far as the flag's
// values are known, and called guarded by a flag; a flag that proves nothing lets it escape.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <pthread.h>
#include <stdbool.h>
static pthread_mutex_t mutex;
static int x;
static void remembered(bool needed) {
  bool locked = false;
  if (needed) {
    pthread_mutex_lock(&mutex);
    locked = true;
  }
  ++x;
  if (locked)
    pthread_mutex_unlock(&mutex);
}
// CHECK: section remembered_1 lock-region line [[#@LINE-7]]: mutex pthread-mutex mutex, 1 exits, flag-guarded
static void asked_twice(bool needed) {
  if (needed)
    pthread_mutex_lock(&mutex);
  ++x;
  if (needed)
    pthread_mutex_unlock(&mutex);
}
// CHECK: section asked_twice_1 lock-region line [[#@LINE-5]]: mutex pthread-mutex mutex, 1 exits, flag-guarded
static int through_error(int key) {
  int held = 0;
  if (key < 0)
    goto error;
  pthread_mutex_lock(&mutex);
  held = 1;
  {
    char buffer[8] = "";
    if (key > 7)
      goto error;
    buffer[key] = 1;
    x += buffer[0];
  }
  pthread_mutex_unlock(&mutex);
  return 0;
error:
  if (held)
    pthread_mutex_unlock(&mutex);
  return 1;
}
// CHECK: section through_error_1 lock-region line [[#@LINE-16]]: mutex pthread-mutex mutex, 2 exits, flag-guarded
static void wrong_way_round(bool needed) {
  if (needed)
    pthread_mutex_lock(&mutex);
  ++x;
  if (!needed)
    pthread_mutex_unlock(&mutex);
}
// CHECK: section wrong_way_round_1 lock-region line [[#@LINE-5]]: mutex pthread-mutex mutex, 1 exits, escapes
int main(int argc, char **argv) {
  (void)argv;
  remembered(argc > 1);
  asked_twice(argc > 2);
  wrong_way_round(argc > 3);
  return through_error(argc);
}
