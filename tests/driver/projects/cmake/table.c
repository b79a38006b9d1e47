#include "words.h"

void table_add(struct table *table, long letters) {
  pthread_mutex_lock(&table->lock);
  table->words++;
  table->letters += letters;
  pthread_mutex_unlock(&table->lock);
}
