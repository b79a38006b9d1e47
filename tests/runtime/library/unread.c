// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transactions that read nothing, and yet must not be passed over by who waits until nobody is in
// one: they look up clones while tables come and go, and hold a lock, or what they have registered
// an undo for, while another thread forks. As in gnu.c, the system's headers are not included.
#include <tandem/library.h>

#define SAFE __attribute__((transaction_safe))
#define PURE __attribute__((transaction_pure))
typedef struct {
  long words[8];
} Mutex;
typedef unsigned long Thread;
SAFE int pthread_mutex_lock(Mutex *);
SAFE int pthread_mutex_unlock(Mutex *);
int pthread_create(Thread *, void *, void *(*)(void *), void *);
int pthread_join(Thread, void **);
int fork(void);
int waitpid(int, int *, int);
void _exit(int) __attribute__((noreturn));
int usleep(unsigned);
int puts(const char *);
extern PURE void _ITM_addUserUndoAction(void (*)(void *), void *);
void _ITM_registerTMCloneTable(void *, unsigned long);
void _ITM_deregisterTMCloneTable(void *);

static int failed(const char *what) {
  puts(what);
  return 1;
}

enum { ROUNDS = 20000, CLONES = 1000 };
static struct {
  void *original, *clone;
} table[CLONES];
typedef void SAFE (*Call)(void);
SAFE __attribute__((noipa)) static void nothing(void) {}
static Call volatile call = nothing;
static volatile int stop;

static void *look_up(void *argument) {
  while (!stop) {
    Call by = call;
    __transaction_atomic { by(); }
  }
  return argument;
}

static void tables_come_and_go(void) {
  for (long i = 0; i < CLONES; ++i)
    table[i].original = table[i].clone = (void *)(4096 + i);
  Thread thread;
  pthread_create(&thread, 0, look_up, 0);
  for (int i = 0; i < ROUNDS; ++i) {
    _ITM_registerTMCloneTable(table, CLONES);
    _ITM_deregisterTMCloneTable(table);
  }
  stop = 1;
  pthread_join(thread, 0);
}

static Mutex mutex;
static volatile int held, forking;
static int finished; // without a write gcc has no transaction

PURE static void note(int now) { held = now; }
PURE static void let_others_fork(void) {
  while (!forking)
    usleep(100);
  usleep(20000);
}
static void release(void *argument) {
  (void)argument;
  held = 0;
}

static void *hold_a_lock(void *argument) {
  __transaction_atomic {
    pthread_mutex_lock(&mutex);
    note(1);
    let_others_fork();
    note(0);
    pthread_mutex_unlock(&mutex);
  }
  return argument;
}

static void *hold_with_an_undo(void *argument) {
  __transaction_atomic {
    note(1);
    _ITM_addUserUndoAction(release, 0);
    let_others_fork();
    note(0);
    finished = 1;
  }
  return argument;
}

// Whether the child of a fork finds the transaction ended.
static int fork_beside(void *(*hold)(void *)) {
  held = forking = 0;
  Thread thread;
  pthread_create(&thread, 0, hold, 0);
  while (!held)
    usleep(100);
  usleep(1000); // it has registered the undo by now
  forking = 1;
  int child = fork();
  if (child == 0)
    _exit(held); // the lock itself is given back behind the commit
  int status = -1;
  waitpid(child, &status, 0);
  pthread_join(thread, 0);
  return status == 0;
}

int main(void) {
  tables_come_and_go();
  if (!fork_beside(hold_a_lock))
    return failed("a child finds a transaction that holds a lock");
  if (!fork_beside(hold_with_an_undo))
    return failed("a child finds a transaction that has something to be undone");
  return 0;
}
