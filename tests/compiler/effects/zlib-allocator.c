// zlib calls back what a stream's fields name, an allocator that works on the program's pool.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stdlib.h>
struct z_stream_s { // as zlib.h has it
  const unsigned char *next_in;
  unsigned avail_in;
  unsigned long total_in;
  unsigned char *next_out;
  unsigned avail_out;
  unsigned long total_out;
  const char *msg;
  void *state;
  void *(*zalloc)(void *, unsigned, unsigned);
  void (*zfree)(void *, void *);
  void *opaque;
};
int inflate(struct z_stream_s *, int);
static struct z_stream_s stream;
static long pool;
static void *take(void *opaque, unsigned items, unsigned size) {
  *(long *)opaque += items;
  return malloc(items * size);
}
__attribute__((atomic)) void unpack(void) { inflate(&stream, 0); }
__attribute__((atomic)) long taken(void) { return pool; }
static void *run(void *unused) {
  (void)unused;
  unpack();
  return (void *)taken();
}
int main(void) {
  pthread_t threads[2];
  stream.zalloc = take;
  stream.opaque = &pool;
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
}
// CHECK: "name": "unpack"
// CHECK: "writes": [
// CHECK: "pool"
// CHECK: "name": "taken"
// CHECK: "with": "unpack"
