// Work in between, a loop, another element of an array, and ways that a flag excludes are no rapid relocking.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json rapid-relock | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stripes[8];
static int counter;
void calls(void) {
  pthread_mutex_lock(&lock);
  ++counter;
  pthread_mutex_unlock(&lock);
  usleep(1);
  pthread_mutex_lock(&lock);
  ++counter;
  pthread_mutex_unlock(&lock);
}
void loops(int n) {
  for (int i = 0; i < n; ++i) {
    pthread_mutex_lock(&lock);
    ++counter;
    pthread_mutex_unlock(&lock);
  }
}
void skips_loop(int *values, int n) {
  pthread_mutex_lock(&lock);
  ++counter;
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < n; ++i)
    values[i] *= 3;
  pthread_mutex_lock(&lock);
  ++counter;
  pthread_mutex_unlock(&lock);
}
void elements(unsigned a, unsigned b) {
  pthread_mutex_lock(&stripes[a]);
  ++counter;
  pthread_mutex_unlock(&stripes[a]);
  pthread_mutex_lock(&stripes[b]);
  ++counter;
  pthread_mutex_unlock(&stripes[b]);
}
void next_element(unsigned a) {
  pthread_mutex_lock(&stripes[a]);
  ++counter;
  pthread_mutex_unlock(&stripes[a]);
  ++a;
  pthread_mutex_lock(&stripes[a]);
  ++counter;
  pthread_mutex_unlock(&stripes[a]);
}
void flag(int n) {
  int failed = 0;
  if (n > 3) {
    pthread_mutex_lock(&lock);
    ++counter;
    pthread_mutex_unlock(&lock);
    failed = 1;
  }
  if (!failed) {
    pthread_mutex_lock(&lock);
    ++counter;
    pthread_mutex_unlock(&lock);
  }
}
int main(int argc, char **argv) {
  calls();
  loops(argc);
  skips_loop(&counter, 1);
  elements(argc, argc + 1);
  next_element(argc);
  flag(argc);
  return 0;
}
// CHECK:0 findings
