#pragma once
double sum_of_roots(const double *values, int count);
int helped(int value);
