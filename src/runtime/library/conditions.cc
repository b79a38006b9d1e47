// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waiting for a condition variable in a transaction: for programs where the mutex that belongs to
// it has become a section, so nobody holds it. A wait gives up the section in its middle. Where the
// transaction has only read, to give it up and to undo it are the same: it is undone, sleeps until
// something that it has read changes, and runs again from its begin, which looks at the condition
// as the loop around the wait would. Where it has done more, or the wait has an end, which the
// section may compute anew each time it runs, it becomes irrevocable, which makes that permanent,
// lets others run while it sleeps, and goes on.
//
// No wake-up is lost: who changes what the condition depends on is a transaction, and those wake
// the sleeper when they commit, whether they signal or not. A signal that goes with no such change
// is found out by looking again after kLongestSleep. All these returns are what POSIX calls
// spurious, which every caller must expect.
//
// A mutex that the calling thread does hold is given up as the plain function does it.
#include "runtime/abi/itm.h"
#include "runtime/library/access.h"
#include "runtime/transaction/hardware.h"
#include "runtime/transaction/transaction.h"

#include <algorithm>
#include <ctime>
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

namespace tandem::library {
namespace {

constexpr std::int64_t kLongestSleep = 50'000'000; // nanoseconds
constexpr long kSecond = 1'000'000'000;

// From now, at most kLongestSleep; not above 0: that has passed.
std::int64_t left(clockid_t clock, const timespec &until) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  const std::int64_t seconds = until.tv_sec - now.tv_sec;
  if (seconds > 1)
    return kLongestSleep;
  if (seconds < -1)
    return 0;
  return std::min<std::int64_t>(seconds * kSecond + (until.tv_nsec - now.tv_nsec), kLongestSleep);
}

// Bit of pthread_cond_t's __wrefs: pthread_condattr_setclock has chosen CLOCK_MONOTONIC.
constexpr unsigned kMonotonic = 2;

clockid_t clock_of(const pthread_cond_t *condition) noexcept {
  return (condition->__data.__wrefs & kMonotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

// `plain`: the plain function. `until`: null without an end; of the program's memory.
template <class Plain>
int wait(const pthread_mutex_t *mutex, clockid_t clock, const timespec *until,
         Plain plain) noexcept {
  Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0)
    return plain();
  transaction::leave_hardware(*thread);
  std::int64_t longest = kLongestSleep;
  if (until != nullptr) {
    timespec end{};
    read(&end, until, sizeof end, thread);
    if (end.tv_nsec < 0 || end.tv_nsec >= kSecond)
      return EINVAL;
    longest = left(clock, end);
    if (longest <= 0)
      return ETIMEDOUT;
  }
  const bool held = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == gettid();
  if (!held && until == nullptr && transaction::has_only_read(*thread))
    transaction::retry(*thread, 0, longest);
  // If it has to begin again for that, not with plain code, which would wait and let nobody run.
  thread->properties &= ~itm::kUninstrumentedCode;
  transaction::become_irrevocable(*thread, profile::SerialCause::irrevocable_call);
  if (!held) {
    transaction::give_way(*thread, longest, nullptr, nullptr);
    return 0;
  }
  struct Call {
    Plain plain;
    int result;
  } call{plain, 0};
  transaction::give_way(
      *thread, 0,
      [](void *given) {
        auto &made = *static_cast<Call *>(given);
        made.result = made.plain();
      },
      &call);
  return call.result;
}

pthread_mutex_t *of(mtx_t *mutex) noexcept { return reinterpret_cast<pthread_mutex_t *>(mutex); }

} // namespace
} // namespace tandem::library

using namespace tandem::library;

TANDEM_WRAPPER int _ZGTt17pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  return wait(mutex, 0, nullptr, [=] { return pthread_cond_wait(condition, mutex); });
}
TANDEM_WRAPPER int _ZGTt22pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                                 const timespec *until) {
  return wait(mutex, clock_of(condition), until,
              [=] { return pthread_cond_timedwait(condition, mutex, until); });
}
TANDEM_WRAPPER int _ZGTt22pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                                 clockid_t clock, const timespec *until) {
  return wait(mutex, clock, until,
              [=] { return pthread_cond_clockwait(condition, mutex, clock, until); });
}
TANDEM_WRAPPER int _ZGTt8cnd_wait(cnd_t *condition, mtx_t *mutex) {
  return wait(of(mutex), 0, nullptr, [=] { return cnd_wait(condition, mutex); }) == 0 ? thrd_success
                                                                                      : thrd_error;
}
TANDEM_WRAPPER int _ZGTt13cnd_timedwait(cnd_t *condition, mtx_t *mutex, const timespec *until) {
  const int status = wait(of(mutex), CLOCK_REALTIME, until, [=] {
    const int result = cnd_timedwait(condition, mutex, until);
    return result == thrd_timedout ? ETIMEDOUT : result == thrd_success ? 0 : EINVAL;
  });
  return status == 0 ? thrd_success : status == ETIMEDOUT ? thrd_timedout : thrd_error;
}
