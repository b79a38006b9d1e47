// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waiting for conditions with converted locks (waits.h). Compiled to bitcode, linked into converted
// programs behind the instrumentation, as held.c.
//
// Signals are numbered. A section in which a wait may begin takes the latest number as its ticket,
// before it reads anything; whoever is to sleep, in no section any more, does so only if nobody has
// signalled the condition since then. So the sleeper needs no part in the commit of its section:
//
//     section   enter; ticket := signals; ... the condition does not hold ...; leave
//     sleeper   sleepers + 1; lock; latest > ticket? not asleep; enqueue; unlock; sleep
//     signaller what it changes is in memory; number := signals + 1; latest := number;
//               sleepers = 0? done; lock; dequeue, wake; unlock
//
// A signal with a number above the ticket finds the sleeper, or the sleeper finds the number: each
// side stores first (`latest`, `sleepers`; both by locked instructions) and then loads what the
// other one stores. A number not above the ticket was taken before the section read anything, so
// the section has read what the signaller changed.
//
// Conditions share `latest`, `sleepers` and a lock by their address, and nobody is woken for
// another condition: to share costs returns that POSIX calls spurious, and no wake-up is lost. The
// condition's own memory is not touched by a signal, nor by a sleeper once its section has ended:
// who has seen the reason may have freed it.
//
// The locks are innermost: nothing is waited for under one but a system call that wakes.

#define _DEFAULT_SOURCE // syscall()

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// How a wait's clock is told (waits.cc): the library's number of it, or one of these.
enum { kNoDeadline = -1, kConditionsClock = -2 };

// Bits of pthread_cond_t's __wrefs: pthread_condattr_setpshared, pthread_condattr_setclock.
enum { kShared = 1, kMonotonic = 2 };

struct sleeper {
  struct sleeper *next;
  const void *condition;
  unsigned awake; // what it sleeps on
};

enum { kBucketBits = 6 };

static struct bucket {
  _Alignas(64) uint64_t latest; // number of the latest signal
  unsigned sleepers;            // those in the list, and those about to be
  unsigned lock;                // 0: free, 1: held, 2: held, and somebody may sleep on it
  struct sleeper *first;
  struct sleeper **end; // null: &first
} buckets[1 << kBucketBits];

static _Alignas(64) uint64_t signals;

static _Thread_local uint64_t ticket;

// Acquire: what the signaller with that number wrote; partner: the addition in number_of().
void _TANDEM_held_ticket(void) { ticket = __atomic_load_n(&signals, __ATOMIC_ACQUIRE); }

// In the section, where it waits: what runs at its end may take tickets of its own.
uint64_t _TANDEM_held_taken(void) { return ticket; }

static struct bucket *bucket_of(const void *condition) {
  const uint64_t mixed = ((uintptr_t)condition >> 3) * UINT64_C(0x9e3779b97f4a7c15);
  return &buckets[mixed >> (64 - kBucketBits)];
}

static long futex(unsigned *word, int operation, unsigned value, const struct timespec *until) {
  return syscall(SYS_futex, word, operation, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void lock_bucket(struct bucket *bucket) {
  unsigned seen = 0;
  if (__atomic_compare_exchange_n(&bucket->lock, &seen, 1, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_RELAXED))
    return;
  while (__atomic_exchange_n(&bucket->lock, 2, __ATOMIC_ACQUIRE) != 0)
    futex(&bucket->lock, FUTEX_WAIT_PRIVATE, 2, NULL);
}

static void unlock_bucket(struct bucket *bucket) {
  if (__atomic_exchange_n(&bucket->lock, 0, __ATOMIC_RELEASE) == 2)
    futex(&bucket->lock, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static void enqueue(struct bucket *bucket, struct sleeper *sleeper) {
  if (bucket->first == NULL)
    bucket->end = &bucket->first;
  sleeper->next = NULL;
  *bucket->end = sleeper;
  bucket->end = &sleeper->next;
}

// Takes `*at`, a pointer in the list, out of it.
static void take_out(struct bucket *bucket, struct sleeper **at) {
  if (bucket->end == &(*at)->next)
    bucket->end = at;
  *at = (*at)->next;
  __atomic_sub_fetch(&bucket->sleepers, 1, __ATOMIC_RELAXED);
}

// A child has one thread, which does not sleep. Nobody else may have a bucket's lock.
static void forget_sleepers(void) { memset(buckets, 0, sizeof buckets); }

// pthread_atfork() is in a part of libc that only programs that call it are linked with.
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *);

static void prepare_for_children(void) {
  static bool prepared;
  if (__atomic_load_n(&prepared, __ATOMIC_ACQUIRE))
    return;
  __register_atfork(NULL, NULL, forget_sleepers, NULL); // two threads may both do it
  __atomic_store_n(&prepared, true, __ATOMIC_RELEASE);
}

static void refuse_shared(void) {
  static const char message[] = "tandem: a thread waits with a converted lock for a condition that "
                                "several processes share; keep the lock\n";
  (void)!write(STDERR_FILENO, message, sizeof message - 1);
  abort();
}

// Until `until` by `clock` (kNoDeadline: without end). False: it has passed, and nobody has woken
// the sleeper.
static bool sleep_until(struct bucket *bucket, struct sleeper *sleeper, int clock,
                        const struct timespec *until) {
  const bool limited = clock != kNoDeadline;
  const int operation =
      FUTEX_WAIT_BITSET_PRIVATE | (clock == CLOCK_REALTIME && limited ? FUTEX_CLOCK_REALTIME : 0);
  bool passed = limited && until->tv_sec < 0; // which a futex refuses
  // Acquire: what the signaller wrote; partner: the store in wake().
  while (!passed && __atomic_load_n(&sleeper->awake, __ATOMIC_ACQUIRE) == 0)
    passed =
        futex(&sleeper->awake, operation, 0, limited ? until : NULL) != 0 && errno == ETIMEDOUT;
  if (!passed)
    return true;
  lock_bucket(bucket);
  const bool woken = __atomic_load_n(&sleeper->awake, __ATOMIC_RELAXED) != 0;
  if (!woken) {
    struct sleeper **at = &bucket->first;
    while (*at != sleeper)
      at = &(*at)->next;
    take_out(bucket, at);
  }
  unlock_bucket(bucket);
  return woken;
}

static bool has_passed(int clock, const struct timespec *until) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec > until->tv_sec ||
         (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

// In the section, where it waits: from its end on the condition may be gone.
unsigned _TANDEM_held_attributes(const void *condition) {
  return ((const pthread_cond_t *)condition)->__data.__wrefs & (kShared | kMonotonic);
}

int _TANDEM_held_sleep(const void *condition, uint64_t taken, unsigned attributes, int clock,
                       int64_t seconds, int64_t nanoseconds) {
  if ((attributes & kShared) != 0)
    refuse_shared();
  if (clock == kConditionsClock)
    clock = (attributes & kMonotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  const struct timespec until = {.tv_sec = seconds, .tv_nsec = nanoseconds};
  const int kept_errno = errno;
  prepare_for_children();
  struct bucket *bucket = bucket_of(condition);
  struct sleeper self = {.next = NULL, .condition = condition, .awake = 0};
  int result = 0;
  // seq_cst: before the load of `latest`; partner: wake(), which stores that first.
  __atomic_add_fetch(&bucket->sleepers, 1, __ATOMIC_SEQ_CST);
  lock_bucket(bucket);
  if (__atomic_load_n(&bucket->latest, __ATOMIC_SEQ_CST) > taken) {
    __atomic_sub_fetch(&bucket->sleepers, 1, __ATOMIC_RELAXED);
    unlock_bucket(bucket);
    if (clock != kNoDeadline && has_passed(clock, &until))
      result = ETIMEDOUT;
  } else {
    enqueue(bucket, &self);
    unlock_bucket(bucket);
    if (!sleep_until(bucket, &self, clock, &until))
      result = ETIMEDOUT;
  }
  errno = kept_errno;
  return result;
}

// Numbers a signal. Result: whether somebody may sleep.
static bool number(struct bucket *bucket) {
  // Release: what was written before the signal; partner: _TANDEM_held_ticket().
  const uint64_t mine = __atomic_add_fetch(&signals, 1, __ATOMIC_SEQ_CST);
  uint64_t latest = __atomic_load_n(&bucket->latest, __ATOMIC_RELAXED);
  while (latest < mine && !__atomic_compare_exchange_n(&bucket->latest, &latest, mine, false,
                                                       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  return __atomic_load_n(&bucket->sleepers, __ATOMIC_SEQ_CST) != 0;
}

static void wake(const void *condition, bool all) {
  struct bucket *bucket = bucket_of(condition);
  if (!number(bucket))
    return;
  const int kept_errno = errno;
  lock_bucket(bucket);
  for (struct sleeper **at = &bucket->first; *at != NULL;) {
    struct sleeper *sleeper = *at;
    if (sleeper->condition != condition) {
      at = &sleeper->next;
      continue;
    }
    take_out(bucket, at);
    // The sleeper may return from here on: the wake-up may find other memory there, and do nothing,
    // or wake somebody who looks again, as users of futexes do.
    __atomic_store_n(&sleeper->awake, 1, __ATOMIC_RELEASE);
    futex(&sleeper->awake, FUTEX_WAKE_PRIVATE, 1, NULL);
    if (!all)
      break;
  }
  unlock_bucket(bucket);
  errno = kept_errno;
}

static void wake_one(void *condition) { wake(condition, false); }
static void wake_all(void *condition) { wake(condition, true); }

// Of the runtime, where the program has transactions; include/tandem/abi.h.
extern uint32_t _ITM_inTransaction(void) __attribute__((weak));
extern void _ITM_addUserCommitAction(void (*)(void *), uint64_t, void *) __attribute__((weak));

// A signal in a transaction is given when that has committed: before, what it tells is not there.
static void put_off(void (*work)(void *), const void *condition) {
  if (_ITM_inTransaction != NULL && _ITM_inTransaction() != 0)
    _ITM_addUserCommitAction(work, 1, (void *)condition);
  else
    work((void *)condition);
}

void _TANDEM_held_signal(const void *condition) { put_off(wake_one, condition); }
void _TANDEM_held_broadcast(const void *condition) { put_off(wake_all, condition); }
