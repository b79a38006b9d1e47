// Accounts with a lock each, which lie in one array.
#include <pthread.h>
struct account {
  pthread_mutex_t lock;
  struct account *next;
  int balance;
};
static struct account accounts[9];
