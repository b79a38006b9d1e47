#include "header-function.h"
int shared;
void elsewhere(int n) { in_header(n); }
