#include "sum.h"

int helped(int value) { return 2 * value; }
