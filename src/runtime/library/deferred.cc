// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/library/deferred.h"

#include "runtime/actions/actions.h"
#include "runtime/fatal.h"
#include "runtime/library/access.h"
#include "runtime/library/hooks.h"
#include "runtime/library/locks.h"
#include "runtime/library/output.h"
#include "runtime/library/tokens.h"
#include "runtime/transaction/transaction.h"

#include <cstdlib>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

namespace tandem::library {
namespace {

void nothing(void *) noexcept {}
void post(void *semaphore) noexcept { sem_post(static_cast<sem_t *>(semaphore)); }
void signal(void *condition) noexcept {
  pthread_cond_signal(static_cast<pthread_cond_t *>(condition));
}
void broadcast(void *condition) noexcept {
  pthread_cond_broadcast(static_cast<pthread_cond_t *>(condition));
}

} // namespace

bool is_put_off(Work work) noexcept {
  return work == post || work == signal || work == broadcast || is_output(work) || is_release(work);
}

void *put_off_memory(Thread &thread, std::size_t bytes) noexcept {
  const KeptErrno kept;
  void *memory = std::malloc(bytes);
  if (memory == nullptr)
    transaction::run_without_logs(); // which put nothing off
  if (memory == nullptr)
    fatal("no memory for %zu bytes that wait for the commit of a transaction", bytes);
  actions::add(thread, AllocationAction{memory, std::free, bytes, true});
  actions::add(thread, AllocationAction{memory, std::free, 0, false});
  return memory;
}

void put_off(Thread &thread, Work work, void *argument) noexcept {
  if (thread.mode == Mode::direct)
    work(argument);
  else
    actions::add(thread, UserAction{work, argument, true});
}

void became_irrevocable(Thread &thread) noexcept {
  hand_rest_over(thread);
  // The work may grow the log, so positions and not pointers.
  for (std::size_t i = 0; i < thread.user_actions.size(); ++i) {
    const UserAction action = thread.user_actions[i];
    if (!action.on_commit || !is_put_off(action.function))
      continue;
    thread.user_actions[i].function = nothing;
    action.function(action.argument);
  }
}

} // namespace tandem::library

using namespace tandem;
using namespace tandem::library;

namespace {

// Success is what these functions report of every valid object; thrd_success is 0 too. Outside of
// transactions, and where nothing can be undone, `plain` says how it went.
template <class Object> int notify(int plain(Object *), Work work, Object *object) noexcept {
  Thread *thread = writer();
  if (thread == nullptr)
    return plain(object);
  put_off(*thread, work, object);
  return 0;
}

} // namespace

TANDEM_WRAPPER int _ZGTt8sem_post(sem_t *semaphore) { return notify(sem_post, post, semaphore); }
TANDEM_WRAPPER int _ZGTt19pthread_cond_signal(pthread_cond_t *condition) {
  return notify(pthread_cond_signal, signal, condition);
}
TANDEM_WRAPPER int _ZGTt22pthread_cond_broadcast(pthread_cond_t *condition) {
  return notify(pthread_cond_broadcast, broadcast, condition);
}
TANDEM_WRAPPER int _ZGTt10cnd_signal(cnd_t *condition) {
  return notify(cnd_signal, signal, condition);
}
TANDEM_WRAPPER int _ZGTt13cnd_broadcast(cnd_t *condition) {
  return notify(cnd_broadcast, broadcast, condition);
}
