#include "words.h"

void count_words(struct table *table, const char *text) {
  long letters = 0;
  for (;; ++text) {
    if (*text != ' ' && *text != '\0') {
      ++letters;
      continue;
    }
    if (letters > 0)
      table_add(table, letters);
    letters = 0;
    if (*text == '\0')
      return;
  }
}
