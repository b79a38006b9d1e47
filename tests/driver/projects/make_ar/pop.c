#include "stack.h"

int stack_pop(struct stack *stack, int *value) {
  int result = -1;
  pthread_mutex_lock(&stack->lock);
  if (stack->top > 0) {
    *value = stack->values[--stack->top];
    result = 0;
  }
  pthread_mutex_unlock(&stack->lock);
  return result;
}
