// A function of the program that libc calls back is part of the section.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stdlib.h>
static int comparisons, values[8];
static int compare(const void *a, const void *b) {
  comparisons++;
  return *(const int *)a - *(const int *)b;
}
__attribute__((atomic)) void sort(void) { qsort(values, 8, sizeof *values, compare); }
__attribute__((atomic)) int get(void) { return comparisons; }
static void *run(void *unused) {
  (void)unused;
  sort();
  return (void *)(long)(get());
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
}
// CHECK: "name": "sort"
// CHECK: "writes": [
// CHECK: "comparisons"
// CHECK: "irrevocable": [
// CHECK: "name": "get"
// CHECK: "with": "sort"
