#include "config.h"
#include "sum.h"

#include <stdio.h>

int main(void) {
  const double values[] = {1, 4, 9, 16};
#if defined(WORDS_BIGENDIAN) || defined(HAVE_NO_SUCH_FUNCTION) || defined(HAVE_NO_SUCH_HEADER_H)
  puts("configure was misled");
#endif
#ifdef HAVE_STRLEN
  printf("sum %.1f helped %d pointer %d\n", sum_of_roots(values, 4), helped(21), SIZEOF_VOID_P);
#endif
  return 0;
}
