// No phases where a section may meet one of another output, where the program asks the runtime for
// what only transactions do, or where a section may wait for another thread.
// RUN: %cc %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s --check-prefix=PHASES
// RUN: %cc -DUNKNOWN %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s
// RUN: %cc -DRETRY %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s
// RUN: %cc -DON_COMMIT %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s
// RUN: %cc -DCANCEL %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s
// RUN: printf 'version = 1\n[[group]]\neffect = "tm-safe"\nreplacement = "_ZGTt*"\n' > %t.toml
// RUN: printf 'exact = true\nwrites = [0]\nreads = [0]\n' >> %t.toml
// RUN: printf 'names = ["pthread_mutex_lock", "pthread_mutex_unlock"]\n' >> %t.toml
// RUN: %cc -DLOCK %s | env TANDEM_ENFORCE=hybrid TANDEM_CATALOGUE=%t.toml %tandem | %FileCheck %s
// RUN: %cc -DBY_NAME %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s
// RUN: %cc -DOUTPUT %s | env TANDEM_ENFORCE=hybrid TANDEM_CATALOGUE=deferred-output %tandem \
// RUN:   | %FileCheck %s
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>
#include <tandem/tandem.h>
#include <tandem/transaction.h>
static int counter, other;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void from_elsewhere(void);
static void tell(const void *argument) { (void)argument; }
TANDEM_ATOMIC static void tick(void) {
  ++counter;
  other += counter;
#if defined(RETRY)
  if (counter == 0)
    tandem_retry();
#elif defined(ON_COMMIT)
  tandem_on_commit((void (*)(void *))tell, NULL, 0);
#elif defined(CANCEL)
  if (counter == 0)
    tandem_cancel();
#elif defined(LOCK)
  pthread_mutex_lock(&mutex);
  ++other;
  pthread_mutex_unlock(&mutex);
#elif defined(OUTPUT)
  write(1, "tick\n", 5);
#endif
}
static void *run(void *argument) {
  tick();
  return argument;
}
int main(void) {
#if defined(UNKNOWN)
  from_elsewhere();
#endif
#if defined(BY_NAME)
  ((void (*)(void))dlsym(RTLD_DEFAULT, "from_elsewhere"))();
#endif
  tell(&mutex);
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  return pthread_join(thread, NULL);
}
// PHASES: call i32 @_TANDEM_inline_phase_enter_colours
// CHECK-NOT: call i32 @_TANDEM_inline_phase_enter_colours
// CHECK: call i32 @_TANDEM_begin(
// CHECK-NOT: call i32 @_TANDEM_inline_phase_enter_colours
