#include "plugin.h"

#include <pthread.h>

plugin_function plugin_add;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

int plugin_add(int value) {
  pthread_mutex_lock(&lock);
  sum += value;
  const int result = sum;
  pthread_mutex_unlock(&lock);
  return result;
}
