// What a function of the program allocates is new for each of its calls: what is written before anybody can know it is
// no finding, and two objects of one type are two. Not of a function that may return what others have.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct table {
  struct table *next;
  long type, used, shown, seen;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table *tables, *ours, *theirs, *kept;
static long total;
static void *try_allocate(size_t size) {
  void *memory = malloc(size);
  if (memory == NULL)
    return NULL;
  return memory;
}
static void *allocate(size_t size) {
  void *memory = try_allocate(size);
  if (memory == NULL)
    abort();
  return memset(memory, 0, size);
}
static struct table *again(void) {
  if (kept == NULL)
    kept = malloc(sizeof *kept); // CHECK: {{^}}[[#@LINE]]: 'kept' is written here outside all sections
  return kept;
}
static void begin(struct table *table, long type) { table->type = type; }
static void begin_again(struct table *table) {
  table->used = 0; // CHECK: {{^}}[[#@LINE]]: 'kept->used' is written here outside all sections
}
static long has_next(const struct table *table) { return table->next != NULL; } // one node for both
static void *work(void *unused) {
  struct table *mine = allocate(sizeof *mine);
  begin(mine, 3);
  struct table *old = again();
  begin_again(old);
  pthread_mutex_lock(&lock);
  mine->next = tables;
  tables = mine;
  for (struct table *table = tables; table != NULL; table = table->next)
    ++table->type;
  ++kept->used;
  ++ours->shown;
  ++ours->seen;
  total += has_next(ours) + has_next(theirs);
  pthread_mutex_unlock(&lock);
  return unused;
}
int main(void) {
  pthread_t first, second;
  ours = calloc(1, sizeof *ours);
  theirs = calloc(1, sizeof *theirs);
  pthread_create(&first, 0, work, 0);
  pthread_create(&second, 0, work, 0);
  ++theirs->shown;
  ++ours->seen; // CHECK: {{^}}[[#@LINE]]: 'ours->seen' is written here outside all sections
  pthread_join(first, 0);
  pthread_join(second, 0);
  return (int)total;
}
// CHECK: {{^}}3 findings
