#pragma once
#include <pthread.h>

struct table {
  pthread_mutex_t lock;
  long words;
  long letters;
};

void table_add(struct table *table, long letters);
void count_words(struct table *table, const char *text);
