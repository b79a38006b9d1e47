#pragma once
#include <pthread.h>

struct stack {
  pthread_mutex_t lock;
  int top;
  int values[8];
};

int stack_push(struct stack *stack, int value);
int stack_pop(struct stack *stack, int *value);
