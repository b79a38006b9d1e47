// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/library/locks.h"

#include "runtime/actions/actions.h"
#include "runtime/algorithms/norec.h"
#include "runtime/fatal.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/library/access.h"
#include "runtime/library/hooks.h"
#include "runtime/transaction/guarded_by.h"
#include "runtime/transaction/hardware.h"
#include "runtime/transaction/transaction.h"

#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

namespace tandem::library {

namespace {

// A kind of locking, as the type-erased functions that actions are made of.
struct Kind {
  int (*attempt)(void *);
  int (*acquire)(void *);
  int (*unlock)(void *);
  Work release; // unlock, as an action
  bool exclusive;
};

int attempt_mutex(void *lock) noexcept {
  return pthread_mutex_trylock(static_cast<pthread_mutex_t *>(lock));
}
int acquire_mutex(void *lock) noexcept {
  return pthread_mutex_lock(static_cast<pthread_mutex_t *>(lock));
}
int unlock_mutex(void *lock) noexcept {
  return pthread_mutex_unlock(static_cast<pthread_mutex_t *>(lock));
}
int attempt_spin(void *lock) noexcept {
  return pthread_spin_trylock(static_cast<pthread_spinlock_t *>(lock));
}
int acquire_spin(void *lock) noexcept {
  return pthread_spin_lock(static_cast<pthread_spinlock_t *>(lock));
}
int unlock_spin(void *lock) noexcept {
  return pthread_spin_unlock(static_cast<pthread_spinlock_t *>(lock));
}
int attempt_read(void *lock) noexcept {
  return pthread_rwlock_tryrdlock(static_cast<pthread_rwlock_t *>(lock));
}
int acquire_read(void *lock) noexcept {
  return pthread_rwlock_rdlock(static_cast<pthread_rwlock_t *>(lock));
}
int attempt_write(void *lock) noexcept {
  return pthread_rwlock_trywrlock(static_cast<pthread_rwlock_t *>(lock));
}
int acquire_write(void *lock) noexcept {
  return pthread_rwlock_wrlock(static_cast<pthread_rwlock_t *>(lock));
}
int unlock_rw(void *lock) noexcept {
  return pthread_rwlock_unlock(static_cast<pthread_rwlock_t *>(lock));
}

template <int Unlock(void *) noexcept> void release(void *lock) noexcept { Unlock(lock); }

constexpr Kind kMutex = {attempt_mutex, acquire_mutex, unlock_mutex, release<unlock_mutex>, true};
constexpr Kind kSpin = {attempt_spin, acquire_spin, unlock_spin, release<unlock_spin>, true};
constexpr Kind kRead = {attempt_read, acquire_read, unlock_rw, release<unlock_rw>, false};
constexpr Kind kWrite = {attempt_write, acquire_write, unlock_rw, release<unlock_rw>, true};

// Actions besides release: on abort, about a lock that the transaction took; at commit, one that it
// unlocked and took again; nothing.
template <const Kind &K> void give_back(void *lock) noexcept { K.unlock(lock); }
template <const Kind &K> void take_again(void *lock) noexcept { K.acquire(lock); }
void nothing(void *) noexcept {}

// Returns when the lock has been free for a moment.
template <const Kind &K> void wait_for(void *lock) noexcept {
  if (K.acquire(lock) == 0)
    K.unlock(lock);
}

// What the transaction still holds but the program has unlocked.
enum class Pending : std::uint8_t { no, kept, unsuitable };

// Takes back the unlocking of a lock that is locked again. unsuitable: the transaction holds it in
// another way, or does not know how.
template <const Kind &K> Pending keep(Thread &thread, void *lock) noexcept {
  UserAction *release = nullptr;
  bool suitable = K.release != kWrite.release; // mutexes and spinlocks have one way
  for (UserAction &action : thread.user_actions) {
    if (action.argument != lock)
      continue;
    if (action.function == K.release)
      release = &action;
    else if (action.function == take_again<K>)
      release = nullptr;
    else if (action.function == give_back<kWrite> ||
             (!K.exclusive && action.function == give_back<K>))
      suitable = true;
  }
  if (release == nullptr)
    return Pending::no;
  if (!suitable)
    return Pending::unsuitable;
  if (thread.checkpoints.empty())
    release->function = nothing;
  else // a nested transaction may be cancelled, and the unlocking come back
    actions::add(thread, UserAction{take_again<K>, lock, true});
  return Pending::kept;
}

// An irrevocable transaction waits for a lock. Whether the holder waits for the transaction: it
// sleeps on the word of serial.h. `holder`: its thread number, where the kind of lock knows it.
bool holder_waits_for_us(int holder) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", holder);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  char text[256] = {};
  const ssize_t bytes = ::read(file, text, sizeof text - 1);
  close(file);
  long number = -1;
  unsigned long address = 0;
  return bytes > 0 && std::sscanf(text, "%ld %lx", &number, &address) == 2 && number == SYS_futex &&
         address == reinterpret_cast<std::uintptr_t>(&serial::word.value);
}

constexpr int kRoundsBeforeLooking = 200; // of a millisecond

// `holder`: where the kind of lock says who holds it; else null.
int acquire_irrevocably(const Kind &kind, void *lock, const int *holder) noexcept {
  for (int round = 1;; ++round) {
    const int status = kind.attempt(lock);
    if (status != EBUSY)
      return status;
    const int by = holder == nullptr ? 0 : __atomic_load_n(holder, __ATOMIC_RELAXED);
    if (by == gettid())
      return kind.acquire(lock); // its own second one: what the plain function says, or does
    if (by != 0 && round % kRoundsBeforeLooking == 0 && holder_waits_for_us(by))
      fatal("deadlock: an irrevocable transaction waits for the lock at %p, whose holder, thread "
            "%d, waits to begin a transaction; take the lock before the section, or keep the "
            "section revocable",
            lock, by);
    const timespec pause = {.tv_sec = 0, .tv_nsec = round < 10 ? 50'000 : 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

void note_use() noexcept {
  if (!must_give_way.load(std::memory_order_relaxed))
    must_give_way.store(true, std::memory_order_relaxed);
}

// One attempt of a revocable transaction.
template <const Kind &K> int attempt(Thread &thread, void *lock) noexcept {
  const int status = K.attempt(lock);
  if (status == 0 || status == EOWNERDEAD)
    actions::add(thread, UserAction{give_back<K>, lock, false});
  return status;
}

template <const Kind &K> int lock_here(void *lock, const int *holder) noexcept {
  Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0)
    return K.acquire(lock);
  note_use();
  guarded_by::join(*thread);
  norec::join(*thread); // who is serial, or forks, waits for who holds a lock
  if (thread->mode == Mode::direct)
    return acquire_irrevocably(K, lock, holder);
  if (thread->mode == Mode::hardware) { // elided: whoever takes it from now on undoes this one
    const int status = K.attempt(lock);
    if (status == EBUSY)
      transaction::leave_hardware(*thread);
    return status;
  }
  switch (keep<K>(*thread, lock)) {
  case Pending::kept:
    return 0;
  case Pending::unsuitable: // unlocks it
    transaction::become_irrevocable(*thread, profile::SerialCause::irrevocable_call);
    return acquire_irrevocably(K, lock, holder);
  case Pending::no:
    break;
  }
  const int status = attempt<K>(*thread, lock);
  if (status != EBUSY)
    return status;
  if (holder != nullptr && __atomic_load_n(holder, __ATOMIC_RELAXED) == gettid())
    return K.acquire(lock); // its own second one
  transaction::restart_after(*thread, wait_for<K>, lock);
}

template <const Kind &K> int try_here(void *lock) noexcept {
  Thread *thread = writer();
  if (thread == nullptr)
    return K.attempt(lock);
  note_use();
  guarded_by::join(*thread);
  norec::join(*thread); // who is serial, or forks, waits for who holds a lock
  switch (keep<K>(*thread, lock)) {
  case Pending::kept:
    return 0;
  case Pending::unsuitable:
    transaction::become_irrevocable(*thread, profile::SerialCause::irrevocable_call);
    return K.attempt(lock);
  case Pending::no:
    break;
  }
  return attempt<K>(*thread, lock);
}

template <const Kind &K> int unlock_here(void *lock) noexcept {
  Thread *thread = writer();
  if (thread == nullptr)
    return K.unlock(lock);
  actions::add(*thread, UserAction{K.release, lock, true});
  return 0;
}

const int *holder_of(const pthread_mutex_t *lock) noexcept { return &lock->__data.__owner; }
const int *holder_of(const pthread_rwlock_t *lock) noexcept { return &lock->__data.__cur_writer; }

void *erased(pthread_spinlock_t *lock) noexcept { return const_cast<int *>(lock); }

// C11's mutexes are pthread's.
int as_thrd(int status) noexcept {
  return status == 0 ? thrd_success : status == EBUSY ? thrd_busy : thrd_error;
}

} // namespace

bool is_release(Work work) noexcept {
  return work == kMutex.release || work == kSpin.release || work == kWrite.release;
}

} // namespace tandem::library

using namespace tandem::library;

TANDEM_WRAPPER int _ZGTt18pthread_mutex_lock(pthread_mutex_t *lock) {
  return lock_here<kMutex>(lock, holder_of(lock));
}
TANDEM_WRAPPER int _ZGTt21pthread_mutex_trylock(pthread_mutex_t *lock) {
  return try_here<kMutex>(lock);
}
TANDEM_WRAPPER int _ZGTt20pthread_mutex_unlock(pthread_mutex_t *lock) {
  return unlock_here<kMutex>(lock);
}
TANDEM_WRAPPER int _ZGTt17pthread_spin_lock(pthread_spinlock_t *lock) {
  return lock_here<kSpin>(erased(lock), nullptr);
}
TANDEM_WRAPPER int _ZGTt20pthread_spin_trylock(pthread_spinlock_t *lock) {
  return try_here<kSpin>(erased(lock));
}
TANDEM_WRAPPER int _ZGTt19pthread_spin_unlock(pthread_spinlock_t *lock) {
  return unlock_here<kSpin>(erased(lock));
}
TANDEM_WRAPPER int _ZGTt21pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  return lock_here<kRead>(lock, holder_of(lock));
}
TANDEM_WRAPPER int _ZGTt24pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
  return try_here<kRead>(lock);
}
TANDEM_WRAPPER int _ZGTt21pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  return lock_here<kWrite>(lock, holder_of(lock));
}
TANDEM_WRAPPER int _ZGTt24pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
  return try_here<kWrite>(lock);
}
TANDEM_WRAPPER int _ZGTt21pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  return unlock_here<kWrite>(lock);
}
TANDEM_WRAPPER int _ZGTt8mtx_lock(mtx_t *lock) {
  auto *mutex = reinterpret_cast<pthread_mutex_t *>(lock);
  return as_thrd(lock_here<kMutex>(mutex, holder_of(mutex)));
}
TANDEM_WRAPPER int _ZGTt11mtx_trylock(mtx_t *lock) { return as_thrd(try_here<kMutex>(lock)); }
TANDEM_WRAPPER int _ZGTt10mtx_unlock(mtx_t *lock) { return as_thrd(unlock_here<kMutex>(lock)); }
