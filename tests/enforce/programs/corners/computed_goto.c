/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tables of labels lead into the function that they stand in, not into a clone of it. */
#include <pthread.h>
#include <stddef.h>
enum { kThreads = 3, kRounds = 20000, kSteps = 4 };
static long steps;
static __attribute__((noinline)) int interpret(const unsigned char *code) {
  static void *table[] = {&&step, &&halt};
  int taken = 0;
  goto *table[*code];
step:
  ++steps;
  ++taken;
  goto *table[*++code];
halt:
  return taken;
}
__attribute__((atomic)) int by_callee(const unsigned char *code) { return interpret(code); }
__attribute__((atomic)) int itself(const unsigned char *code) {
  static void *table[] = {&&step, &&halt};
  int taken = 0;
  goto *table[*code];
step:
  ++steps;
  ++taken;
  goto *table[*++code];
halt:
  return taken;
}
static void *work(void *argument) {
  const unsigned char code[kSteps + 1] = {0, 0, 0, 0, 1};
  (void)argument;
  for (int i = 0; i < kRounds; ++i)
    if (by_callee(code) != kSteps || itself(code) != kSteps)
      return &steps;
  return NULL;
}
int main(void) {
  pthread_t threads[kThreads];
  void *wrong = NULL;
  for (int i = 0; i < kThreads; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < kThreads; ++i) {
    void *result = NULL;
    pthread_join(threads[i], &result);
    if (result != NULL)
      wrong = result;
  }
  return wrong != NULL || steps != 2L * kThreads * kRounds * kSteps;
}
