// Who passes an object to what joins its thread if there is an object: where there is none, there is no thread. Another
// condition does not tell that.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long asked, quiet;
struct client {
  pthread_t thread;
  int begun;
};
static void *in_asked(void *unused) {
  pthread_mutex_lock(&m);
  ++asked;
  pthread_mutex_unlock(&m);
  return unused;
}
static void *in_quiet(void *unused) {
  pthread_mutex_lock(&m);
  ++quiet;
  pthread_mutex_unlock(&m);
  return unused;
}
static void start(struct client *client, void *(*run)(void *)) {
  pthread_create(&client->thread, 0, run, 0);
  client->begun = 1;
}
static void finish(struct client *client) {
  if (client->begun)
    pthread_join(client->thread, 0);
  client->begun = 0;
}
static void destroy(struct client *client) {
  if (!client)
    return;
  finish(client);
  free(client);
}
static void destroy_loudly(struct client *client, int loud) {
  if (loud)
    finish(client);
}
int main(int argc, char **argv) {
  struct client *one = calloc(1, sizeof *one);
  if (argc > 1)
    start(one, in_asked);
  destroy(one);
  ++asked;
  struct client *two = calloc(1, sizeof *two);
  start(two, in_quiet);
  destroy_loudly(two, argc > 2);
  ++quiet;
  return argv == 0;
}
// CHECK:53: 'quiet' is written here outside all sections, and written in section 'in_quiet_1'
// CHECK-NEXT:  21: written here in section 'in_quiet_1'
// CHECK-NEXT:1 findings
