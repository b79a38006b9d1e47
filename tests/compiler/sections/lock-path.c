// Locks inside structures are named as the source reaches them.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
struct stats { long hits; pthread_mutex_t mutex; };
struct worker { int id; struct stats stats; };
struct connection { int fd; struct worker *thread; };
void hit(struct connection *c) {
  pthread_mutex_lock(&c->thread->stats.mutex);
  c->thread->stats.hits++;
  pthread_mutex_unlock(&c->thread->stats.mutex);
}
int main(void) {
  struct worker worker = {0};
  struct connection connection = {0, &worker};
  hit(&connection);
  return 0;
}
// CHECK: "c->thread->stats.mutex"
// CHECK: "shape": "same-function"
