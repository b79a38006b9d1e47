#include "sum.h"

#include <math.h>

double sum_of_roots(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += sqrt(values[i]);
  return sum;
}
