#include "stack.h"

#include <stdio.h>

int main(void) {
  struct stack stack = {.lock = PTHREAD_MUTEX_INITIALIZER};
  int pushed = 0;
  while (stack_push(&stack, pushed) == 0)
    ++pushed;
  int value = 0;
  int sum = 0;
  while (stack_pop(&stack, &value) == 0)
    sum += value;
  printf("pushed %d sum %d\n", pushed, sum);
  return 0;
}
