/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The running example of the LockSTM paper (its Figure 2): six atomic functions over three arrays,
 * one of which talks to the user. The analysis must find exactly the colours of its Figure 3 and
 * the classes of its Figure 5. The paper leaves out the threads that call the functions; here two
 * of them do. */
#include <pthread.h>
#include <stdio.h>

enum { kElements = 100, kRounds = 1000 };

int x[kElements];
int y[kElements];
int z[kElements];

__attribute__((atomic)) void PromptForX(int i) {
  printf("%d", x[i]);
  scanf("%d", x + i);
}

__attribute__((atomic)) void SwapXY(int i, int j) {
  int was = x[i];
  x[i] = y[j];
  y[j] = was;
}

__attribute__((atomic)) void SetY(int i, int value) { y[i] = value; }

__attribute__((atomic)) int GetY(int i) { return y[i]; }

__attribute__((atomic)) void SetZ(int i, int value) { z[i] = value; }

__attribute__((atomic)) int GetZ(int i) { return z[i]; }

static void *work(void *argument) {
  int offset = *(const int *)argument;
  for (int round = 0; round < kRounds; ++round) {
    int i = (round + offset) % kElements;
    SetY(i, GetZ(i));
    SetZ(i, GetY(i) + 1);
    SwapXY(i, (i + 1) % kElements);
  }
  PromptForX(offset);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  int offsets[2] = {0, kElements / 2};
  for (int i = 0; i < 2; ++i)
    if (pthread_create(&threads[i], NULL, work, &offsets[i]) != 0)
      return 1;
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  return 0;
}
