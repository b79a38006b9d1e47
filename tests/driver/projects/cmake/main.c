#include "words.h"

#include <stdio.h>

enum { THREADS = 4, ROUNDS = 1000 };

static struct table table = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void *work(void *text) {
  for (int i = 0; i < ROUNDS; ++i)
    count_words(&table, text);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, work, "the quick brown fox") != 0)
      return 1;
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  printf("words %ld letters %ld long %d checks %d%d\n", table.words, table.letters, SIZEOF_LONG,
         HAVE_STRCHR, HAVE_NO_SUCH_FUNCTION);
  return 0;
}
