// A lock whose acquisition and release hang on one condition is converted only if what the condition
// reads does not change in between.
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_CONVERT=%S/Inputs/condition-kept.toml %tandem | %FileCheck %s
// RUN: %cc %s | not env TANDEM_ENFORCE=stm TANDEM_CONVERT=%S/Inputs/condition-changes.toml %tandem 2>&1 | %FileCheck %s --check-prefix=REFUSED
#include <pthread.h>
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t changed = PTHREAD_MUTEX_INITIALIZER;
static int many;
static int x;
// CHECK-LABEL: define {{.*}} @while_it_stays(
// CHECK-NOT: call {{.*}} @pthread_mutex_lock(ptr{{.*}} @kept)
static void while_it_stays(int threads) {
  if (threads > 1)
    pthread_mutex_lock(&kept);
  ++x;
  if (threads > 1)
    pthread_mutex_unlock(&kept);
}
static void lower(void) { many = 0; }
// REFUSED: condition-changes.c:[[#@LINE+7]]: while_it_changes may not release as often as it acquires: 'many', by which it is acquired and released, may change in between: lower may write it ({{.*}}:[[#@LINE+5]]); keep the lock, or say with {{.}}[balanced]] that this does not happen
static void while_it_changes(void) {
  if (many > 1)
    pthread_mutex_lock(&changed);
  ++x;
  lower();
  if (many > 1)
    pthread_mutex_unlock(&changed);
}
int main(int argc, char **argv) {
  (void)argv;
  many = argc;
  while_it_stays(argc);
  while_it_changes();
  return x;
}
