/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * asan WHERE: reads an array's end outside (`outside`) or inside (`inside`) of a region under a
 * lock, or nothing of the kind (`not`). For a conversion of the lock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

int main(int count, char **words) {
  const size_t room = (size_t)count + 6;
  volatile int *numbers = calloc(room, sizeof *numbers);
  const char *where = count > 1 ? words[1] : "not";
  if (!numbers)
    return 3;
  pthread_mutex_lock(&lock);
  sum += numbers[strcmp(where, "inside") ? 0 : room];
  pthread_mutex_unlock(&lock);
  printf("%d\n", sum + numbers[strcmp(where, "outside") ? 0 : room]);
  free((void *)numbers);
  return 0;
}
