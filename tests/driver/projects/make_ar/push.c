#include "stack.h"

int stack_push(struct stack *stack, int value) {
  pthread_mutex_lock(&stack->lock);
  if (stack->top == 8) {
    pthread_mutex_unlock(&stack->lock);
    return -1;
  }
  stack->values[stack->top++] = value;
  pthread_mutex_unlock(&stack->lock);
  return 0;
}
