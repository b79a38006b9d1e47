// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What waits for the commit, real locks, counters, the end of the process, and wrappers while
// others write.
#include "runtime/library/differential.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <string>
#include <sys/socket.h>
#include <tandem/library.h>
#include <tandem/transaction.h>
#include <threads.h>
#include <unistd.h>
#include <vector>

#define BOTH(RETURNS, LENGTH, NAME, ...) RETURNS _ZGTt##LENGTH##NAME(__VA_ARGS__);
extern "C" {
BOTH(int, 8, sem_post, sem_t *)
BOTH(int, 19, pthread_cond_signal, pthread_cond_t *)
BOTH(int, 22, pthread_cond_broadcast, pthread_cond_t *)
BOTH(int, 10, cnd_signal, cnd_t *)
BOTH(int, 13, cnd_broadcast, cnd_t *)
BOTH(int, 17, pthread_cond_wait, pthread_cond_t *, pthread_mutex_t *)
BOTH(int, 22, pthread_cond_timedwait, pthread_cond_t *, pthread_mutex_t *, const timespec *)
BOTH(int, 22, pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t,
     const timespec *)
BOTH(int, 8, cnd_wait, cnd_t *, mtx_t *)
BOTH(int, 13, cnd_timedwait, cnd_t *, mtx_t *, const timespec *)
BOTH(int, 18, pthread_mutex_lock, pthread_mutex_t *)
BOTH(int, 21, pthread_mutex_trylock, pthread_mutex_t *)
BOTH(int, 20, pthread_mutex_unlock, pthread_mutex_t *)
BOTH(int, 17, pthread_spin_lock, pthread_spinlock_t *)
BOTH(int, 20, pthread_spin_trylock, pthread_spinlock_t *)
BOTH(int, 19, pthread_spin_unlock, pthread_spinlock_t *)
BOTH(int, 21, pthread_rwlock_rdlock, pthread_rwlock_t *)
BOTH(int, 24, pthread_rwlock_tryrdlock, pthread_rwlock_t *)
BOTH(int, 21, pthread_rwlock_wrlock, pthread_rwlock_t *)
BOTH(int, 24, pthread_rwlock_trywrlock, pthread_rwlock_t *)
BOTH(int, 21, pthread_rwlock_unlock, pthread_rwlock_t *)
BOTH(int, 8, mtx_lock, mtx_t *)
BOTH(int, 11, mtx_trylock, mtx_t *)
BOTH(int, 10, mtx_unlock, mtx_t *)
BOTH(int, 6, printf, const char *, ...)
BOTH(int, 12, __printf_chk, int, const char *, ...)
BOTH(int, 7, fprintf, FILE *, const char *, ...)
BOTH(int, 13, __fprintf_chk, FILE *, int, const char *, ...)
BOTH(int, 7, vprintf, const char *, va_list)
BOTH(int, 13, __vprintf_chk, int, const char *, va_list)
BOTH(int, 8, vfprintf, FILE *, const char *, va_list)
BOTH(int, 14, __vfprintf_chk, FILE *, int, const char *, va_list)
BOTH(int, 7, dprintf, int, const char *, ...)
BOTH(int, 13, __dprintf_chk, int, int, const char *, ...)
BOTH(int, 8, vdprintf, int, const char *, va_list)
BOTH(int, 14, __vdprintf_chk, int, int, const char *, va_list)
BOTH(void, 6, syslog, int, const char *, ...)
BOTH(void, 12, __syslog_chk, int, int, const char *, ...)
BOTH(void, 7, vsyslog, int, const char *, va_list)
BOTH(void, 13, __vsyslog_chk, int, int, const char *, va_list)
BOTH(int, 5, fputs, const char *, FILE *)
BOTH(int, 14, fputs_unlocked, const char *, FILE *)
BOTH(int, 4, puts, const char *)
BOTH(int, 5, fputc, int, FILE *)
BOTH(int, 14, fputc_unlocked, int, FILE *)
BOTH(int, 4, putc, int, FILE *)
BOTH(int, 13, putc_unlocked, int, FILE *)
BOTH(int, 7, putchar, int)
BOTH(int, 16, putchar_unlocked, int)
BOTH(std::size_t, 6, fwrite, const void *, std::size_t, std::size_t, FILE *)
BOTH(std::size_t, 15, fwrite_unlocked, const void *, std::size_t, std::size_t, FILE *)
BOTH(int, 6, fflush, FILE *)
BOTH(int, 15, fflush_unlocked, FILE *)
BOTH(void, 6, perror, const char *)
BOTH(ssize_t, 5, write, int, const void *, std::size_t)
BOTH(ssize_t, 4, send, int, const void *, std::size_t, int)
BOTH(void, 5, abort)
BOTH(void, 13, __assert_fail, const char *, const char *, unsigned, const char *)
BOTH(void, 20, __assert_perror_fail, int, const char *, unsigned, const char *)
BOTH(int, 6, strcmp, const char *, const char *)
BOTH(std::size_t, 6, strlen, const char *)
BOTH(char *, 6, strchr, const char *, int)
BOTH(int, 6, memcmp, const void *, const void *, std::size_t)
BOTH(int, 8, snprintf, char *, std::size_t, const char *, ...)
BOTH(char *, 6, strcpy, char *, const char *)
void *_ITM_getTMCloneOrIrrevocable(void *);
std::uint32_t _ITM_inTransaction();
}

namespace tandem::library {
namespace {

std::uint64_t get(const std::uint64_t &from) { return _ITM_RU8(&from); }
void put(std::uint64_t &to, std::uint64_t value) { _ITM_WU8(&to, value); }

void in_threads(int count, const auto &body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(body, i);
  for (std::thread &thread : threads)
    thread.join();
}

bool held(pthread_mutex_t &lock) {
  int status = 0;
  std::thread([&] {
    status = pthread_mutex_trylock(&lock);
    if (status == 0)
      pthread_mutex_unlock(&lock);
  }).join();
  return status == EBUSY;
}

// ---- wake-ups

TEST(wake_ups, wait_for_the_commit) {
  const SecondThread second;
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  const auto value = [] {
    int now = 0;
    sem_getvalue(&semaphore, &now);
    return now;
  };
  atomically([&] {
    EXPECT_EQ(_ZGTt8sem_post(&semaphore), 0);
    EXPECT_EQ(_ZGTt8sem_post(&semaphore), 0);
    if (_ITM_inTransaction() == itm::kRetryable) {
      EXPECT_EQ(value(), 0);
    }
  });
  EXPECT_EQ(value(), 2);
  EXPECT_FALSE(atomically(
      [&] {
        _ZGTt8sem_post(&semaphore);
        undo();
      },
      true));
  EXPECT_EQ(value(), 2);
  EXPECT_EQ(_ZGTt8sem_post(&semaphore), 0);
  EXPECT_EQ(value(), 3);
}

// A waiter for `ready`, woken by whichever call.
void wakes(int call(void *), void *condition, const auto &wait, const auto &unlock) {
  static std::uint64_t ready;
  ready = 0;
  std::thread waiter([&] {
    while (!wait([] { return __atomic_load_n(&ready, __ATOMIC_ACQUIRE) != 0; }))
      ;
    unlock();
  });
  for (int i = 0; i < 3; ++i)
    atomically([&] {
      put(ready, 1);
      EXPECT_EQ(call(condition), 0);
    });
  waiter.join();
}

TEST(wake_ups, wake) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  // The waiter may begin to wait after the last signal: it looks again after a while.
  const auto wait = [](const auto &done) {
    pthread_mutex_lock(&mutex);
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (!done())
      pthread_cond_timedwait(&condition, &mutex, &until);
    const bool finished = done();
    if (!finished)
      pthread_mutex_unlock(&mutex);
    return finished;
  };
  const auto unlock = [] { pthread_mutex_unlock(&mutex); };
  wakes([](void *c) { return _ZGTt19pthread_cond_signal(static_cast<pthread_cond_t *>(c)); },
        &condition, wait, unlock);
  wakes([](void *c) { return _ZGTt22pthread_cond_broadcast(static_cast<pthread_cond_t *>(c)); },
        &condition, wait, unlock);
  wakes([](void *c) { return _ZGTt10cnd_signal(static_cast<cnd_t *>(c)); }, &condition, wait,
        unlock);
  wakes([](void *c) { return _ZGTt13cnd_broadcast(static_cast<cnd_t *>(c)); }, &condition, wait,
        unlock);
}

// ---- waits

struct Condition {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // it became a section: nobody holds it
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  int wait() { return _ZGTt17pthread_cond_wait(&condition, &mutex); }
  int wait_until(const timespec &end) {
    return _ZGTt22pthread_cond_timedwait(&condition, &mutex, &end);
  }
};

timespec from_now(clockid_t clock, long nanoseconds) {
  timespec end{};
  clock_gettime(clock, &end);
  end.tv_nsec += nanoseconds;
  if (end.tv_nsec >= 1'000'000'000) {
    end.tv_nsec -= 1'000'000'000;
    ++end.tv_sec;
  }
  return end;
}

// A place that holds one number; 0: none. Two producers, two consumers, two conditions.
TEST(waits, pass_numbers_on) {
  static std::uint64_t place;
  static Condition full;
  static Condition empty;
  static std::atomic<std::uint64_t> sum;
  place = 0;
  sum = 0;
  constexpr std::uint64_t kNumbers = 300;
  std::vector<std::thread> threads;
  for (int side = 0; side < 2; ++side) {
    threads.emplace_back([] {
      for (std::uint64_t i = 1; i <= kNumbers; ++i)
        atomically([i] {
          while (get(place) != 0)
            EXPECT_EQ(empty.wait(), 0);
          put(place, i);
          _ZGTt19pthread_cond_signal(&full.condition);
        });
    });
    threads.emplace_back([] {
      for (std::uint64_t i = 1; i <= kNumbers; ++i) {
        std::uint64_t got = 0;
        atomically([&] {
          while (get(place) == 0)
            EXPECT_EQ(full.wait(), 0);
          got = get(place);
          put(place, 0);
          _ZGTt19pthread_cond_signal(&empty.condition);
        });
        sum += got;
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(sum, kNumbers * (kNumbers + 1));
}

// The other one answers what was written before the wait; each changes both twice.
TEST(waits, make_permanent_what_was_done) {
  static std::uint64_t question;
  static std::uint64_t answer;
  static Condition answered;
  question = answer = 0;
  const SecondThread second;
  std::thread asking([] {
    atomically([] {
      for (std::uint64_t round = 1; round <= 2; ++round) {
        put(question, round);
        while (get(answer) != round)
          EXPECT_EQ(answered.wait(), 0);
      }
    });
  });
  for (std::uint64_t round = 1; round <= 2; ++round)
    for (bool done = false; !done;) {
      atomically([&] {
        done = get(question) == round;
        if (done)
          put(answer, round);
      });
      std::this_thread::yield();
    }
  asking.join();
  EXPECT_EQ(question, 2U);
}

// A signal after a change that is no transaction's.
TEST(waits, look_again_after_a_while) {
  static std::atomic<bool> ready;
  static Condition condition;
  ready = false;
  std::thread waiter([] {
    atomically([] {
      while (!ready)
        condition.wait();
    });
  });
  ready = true;
  pthread_cond_signal(&condition.condition);
  waiter.join();
}

TEST(waits, end_at_their_time) {
  const SecondThread second;
  static Condition condition;
  static mtx_t mutex;
  static cnd_t c11;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&c11);
  static pthread_cond_t monotonic;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&monotonic, &attributes);
  for (const long later : {-1'000'000L, 0L, 1'000'000L, 60'000'000L}) {
    const timespec real = from_now(CLOCK_REALTIME, later < 0 ? 0 : later);
    const timespec steady = from_now(CLOCK_MONOTONIC, later < 0 ? 0 : later);
    static std::uint64_t written;
    for (const bool after_a_write : {false, true})
      atomically([&] {
        if (after_a_write)
          put(written, 1);
        int status = 0;
        while ((status = condition.wait_until(real)) == 0)
          ;
        EXPECT_EQ(status, ETIMEDOUT);
        while ((status = _ZGTt22pthread_cond_timedwait(&monotonic, &condition.mutex, &steady)) == 0)
          ;
        EXPECT_EQ(status, ETIMEDOUT);
        while ((status = _ZGTt22pthread_cond_clockwait(&condition.condition, &condition.mutex,
                                                       CLOCK_MONOTONIC, &steady)) == 0)
          ;
        EXPECT_EQ(status, ETIMEDOUT);
        while ((status = _ZGTt13cnd_timedwait(&c11, &mutex, &real)) == thrd_success)
          ;
        EXPECT_EQ(status, thrd_timedout);
        const timespec now = from_now(CLOCK_MONOTONIC, 0);
        EXPECT_GE(now.tv_sec * 1'000'000'000 + now.tv_nsec,
                  steady.tv_sec * 1'000'000'000 + steady.tv_nsec);
      });
  }
  atomically([] {
    timespec wrong{0, -1};
    EXPECT_EQ(condition.wait_until(wrong), EINVAL);
    wrong.tv_nsec = 1'000'000'000;
    EXPECT_EQ(condition.wait_until(wrong), EINVAL);
  });
  pthread_mutex_lock(&condition.mutex);
  EXPECT_EQ(condition.wait_until({1, 0}), ETIMEDOUT) << "outside of transactions";
  pthread_mutex_unlock(&condition.mutex);
  pthread_cond_destroy(&monotonic);
}

// A mutex that is held for real is given up while the section waits, and held again afterwards.
TEST(waits, give_up_a_mutex_that_is_held) {
  static Condition condition;
  static std::uint64_t ready;
  ready = 0;
  std::atomic<bool> locked{false};
  std::thread waiter([&] {
    pthread_mutex_lock(&condition.mutex);
    locked = true;
    atomically([] {
      while (get(ready) == 0)
        EXPECT_EQ(condition.wait(), 0);
      EXPECT_EQ(condition.mutex.__data.__owner, gettid());
    });
    pthread_mutex_unlock(&condition.mutex);
  });
  while (!locked)
    std::this_thread::yield();
  pthread_mutex_lock(&condition.mutex);
  atomically([] { put(ready, 1); });
  pthread_cond_signal(&condition.condition);
  pthread_mutex_unlock(&condition.mutex);
  waiter.join();
}

TEST(waits, of_c11_too) {
  static mtx_t mutex;
  static cnd_t condition;
  static std::uint64_t ready;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&condition);
  ready = 0;
  std::thread waiter([] {
    atomically([] {
      while (get(ready) == 0)
        EXPECT_EQ(_ZGTt8cnd_wait(&condition, &mutex), thrd_success);
    });
  });
  atomically([] {
    put(ready, 1);
    EXPECT_EQ(_ZGTt10cnd_signal(&condition), thrd_success);
  });
  waiter.join();
}

// ---- locks

TEST(locks, are_kept_to_the_end) {
  const SecondThread second;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  // Not under a mode that cannot be undone: that one unlocks at once.
  EXPECT_FALSE(atomically(
      [] {
        EXPECT_EQ(_ZGTt18pthread_mutex_lock(&lock), 0);
        EXPECT_TRUE(held(lock));
        EXPECT_EQ(_ZGTt20pthread_mutex_unlock(&lock), 0);
        EXPECT_TRUE(held(lock));
        EXPECT_EQ(_ZGTt21pthread_mutex_trylock(&lock), 0) << "again";
        undo();
      },
      true));
  EXPECT_FALSE(held(lock));
  EXPECT_TRUE(atomically(
      [] {
        _ZGTt18pthread_mutex_lock(&lock);
        _ZGTt20pthread_mutex_unlock(&lock);
        _ZGTt18pthread_mutex_lock(&lock);
      },
      true));
  EXPECT_TRUE(held(lock)) << "locked at the end";
  EXPECT_FALSE(atomically(
      [] {
        _ZGTt20pthread_mutex_unlock(&lock);
        undo();
      },
      true));
  EXPECT_TRUE(held(lock)) << "the unlock was undone";
  EXPECT_TRUE(atomically([] { _ZGTt20pthread_mutex_unlock(&lock); }, true));
  EXPECT_FALSE(held(lock));
}

// Transactions and plain code count under the same lock; the plain code also runs transactions
// while it holds it, which is what deadlocks a transaction that waits.
template <class Take, class Give, class PlainTake, class PlainGive>
void counts(const Take &take, const Give &give, const PlainTake &plain_take,
            const PlainGive &plain_give) {
  static std::uint64_t guarded;
  static std::uint64_t free;
  guarded = free = 0;
  constexpr int kRounds = 150;
  // The first use of a lock tells the runtime; see must_give_way.
  atomically([&] {
    take();
    give();
  });
  in_threads(4, [&](int number) {
    for (int i = 0; i < kRounds; ++i) {
      if (number % 2 == 0) {
        atomically([&] {
          put(free, get(free) + 1);
          take();
          put(guarded, get(guarded) + 1);
          give();
        });
      } else {
        plain_take();
        guarded = guarded + 1;
        atomically([] { put(free, get(free) + 1); });
        guarded = guarded + 1;
        plain_give();
      }
    }
  });
  EXPECT_EQ(free, 4U * kRounds);
  EXPECT_EQ(guarded, 6U * kRounds);
}

TEST(locks, exclude_plain_code_and_do_not_deadlock) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  counts([] { EXPECT_EQ(_ZGTt18pthread_mutex_lock(&mutex), 0); },
         [] { EXPECT_EQ(_ZGTt20pthread_mutex_unlock(&mutex), 0); },
         [] { pthread_mutex_lock(&mutex); }, [] { pthread_mutex_unlock(&mutex); });
  static mtx_t standard;
  mtx_init(&standard, mtx_plain);
  // ThreadSanitizer knows the locks of pthread only; the others of C11 are the same.
  counts([] { EXPECT_EQ(_ZGTt8mtx_lock(&standard), thrd_success); },
         [] { EXPECT_EQ(_ZGTt10mtx_unlock(&standard), thrd_success); },
         [] { pthread_mutex_lock(reinterpret_cast<pthread_mutex_t *>(&standard)); },
         [] { pthread_mutex_unlock(reinterpret_cast<pthread_mutex_t *>(&standard)); });
  static pthread_spinlock_t spin;
  pthread_spin_init(&spin, 0);
  counts([] { EXPECT_EQ(_ZGTt17pthread_spin_lock(&spin), 0); },
         [] { EXPECT_EQ(_ZGTt19pthread_spin_unlock(&spin), 0); },
         // Who spins must not keep the holder from the processor for long.
         [] {
           while (pthread_spin_trylock(&spin) != 0)
             sched_yield();
         },
         [] { pthread_spin_unlock(&spin); });
  static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
  counts([] { EXPECT_EQ(_ZGTt21pthread_rwlock_wrlock(&both), 0); },
         [] { EXPECT_EQ(_ZGTt21pthread_rwlock_unlock(&both), 0); },
         [] { pthread_rwlock_wrlock(&both); }, [] { pthread_rwlock_unlock(&both); });
}

TEST(locks, trylock_says_busy) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
  static pthread_spinlock_t spin;
  static mtx_t standard;
  pthread_spin_init(&spin, 0);
  mtx_init(&standard, mtx_plain);
  std::atomic<int> step{0};
  std::thread holder([&] {
    pthread_mutex_lock(&mutex);
    pthread_rwlock_rdlock(&both);
    pthread_spin_lock(&spin);
    mtx_lock(&standard);
    step = 1;
    step.notify_all();
    step.wait(1);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_unlock(&both);
    pthread_spin_unlock(&spin);
    mtx_unlock(&standard);
  });
  step.wait(0);
  atomically(
      [&] {
        EXPECT_EQ(_ZGTt21pthread_mutex_trylock(&mutex), EBUSY);
        EXPECT_EQ(_ZGTt24pthread_rwlock_trywrlock(&both), EBUSY);
        EXPECT_EQ(_ZGTt24pthread_rwlock_tryrdlock(&both), 0);
        EXPECT_EQ(_ZGTt21pthread_rwlock_rdlock(&both), 0);
        EXPECT_EQ(_ZGTt21pthread_rwlock_unlock(&both), 0);
        EXPECT_EQ(_ZGTt21pthread_rwlock_unlock(&both), 0);
        EXPECT_EQ(_ZGTt20pthread_spin_trylock(&spin), EBUSY);
        EXPECT_EQ(_ZGTt11mtx_trylock(&standard), thrd_busy);
      },
      true);
  step = 2;
  step.notify_all();
  holder.join();
  EXPECT_EQ(pthread_rwlock_trywrlock(&both), 0) << "both reads are given back";
}

// ---- counters

TEST(counters, add_at_commit) {
  const SecondThread second;
  static std::uint64_t wide;
  static std::uint32_t narrow;
  wide = 10;
  narrow = 0xffff'ffff;
  atomically(
      [] {
        tandem_counter_add_u64(&wide, 5);
        tandem_counter_add_u64(&wide, static_cast<std::uint64_t>(-2));
        tandem_counter_add_u32(&narrow, 3);
        EXPECT_EQ(tandem_counter_get_u64(&wide), 13U);
        EXPECT_EQ(tandem_counter_get_u32(&narrow), 2U);
      },
      true);
  EXPECT_EQ(wide, 13U);
  EXPECT_EQ(narrow, 2U);
  EXPECT_FALSE(atomically(
      [] {
        tandem_counter_add_u64(&wide, 100);
        undo();
      },
      true));
  EXPECT_EQ(wide, 13U);
  tandem_counter_add_u64(&wide, 1);
  EXPECT_EQ(tandem_counter_get_u64(&wide), 14U);
  // A nested transaction that is cancelled takes its additions with it.
  atomically(
      [] {
        tandem_counter_add_u64(&wide, 1);
        atomically(
            [] {
              tandem_counter_add_u64(&wide, 50);
              undo();
            },
            true);
      },
      true);
  EXPECT_EQ(wide, 15U);
}

TEST(counters, readers_see_them_with_all_else) {
  static std::uint64_t counter;
  static std::uint64_t word;
  counter = word = 0;
  std::atomic<int> wrong{0};
  in_threads(4, [&](int number) {
    for (int i = 0; i < 300; ++i) {
      if (number == 0) {
        atomically([&] {
          const std::uint64_t seen = get(word);
          if (get(counter) != seen)
            ++wrong;
        });
      } else {
        atomically([] {
          tandem_counter_add_u64(&counter, 1);
          put(word, get(word) + 1);
        });
      }
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(counter, 900U);
}

// ---- output

class Pipe {
public:
  Pipe() {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) != 0)
      std::abort();
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    stream_ = fdopen(dup(ends_[1]), "w");
    std::setvbuf(stream_, nullptr, _IONBF, 0);
  }
  ~Pipe() {
    std::fclose(stream_);
    close(ends_[0]);
    close(ends_[1]);
  }
  [[nodiscard]] int in() const { return ends_[1]; }
  [[nodiscard]] FILE *stream() const { return stream_; }
  // All that has arrived.
  std::string arrived() const {
    std::string all;
    char part[512];
    for (ssize_t n = 0; (n = read(ends_[0], part, sizeof part)) > 0;)
      all.append(part, static_cast<std::size_t>(n));
    return all;
  }

private:
  int ends_[2];
  FILE *stream_;
};

int by_list(const auto &f, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int result = f(format, list);
  va_end(list);
  return result;
}

// Each call's text, the result that it reports, and what arrives.
void prints(const char *name, const char *expected, const Pipe &pipe, const auto &call) {
  SCOPED_TRACE(name);
  atomically(
      [&] {
        call();
        EXPECT_EQ(pipe.arrived(), "");
      },
      true);
  EXPECT_EQ(pipe.arrived(), expected);
  EXPECT_FALSE(atomically(
      [&] {
        call();
        undo();
      },
      true));
  EXPECT_EQ(pipe.arrived(), "");
  call();
  EXPECT_EQ(pipe.arrived(), expected) << "outside";
}

TEST(output, waits_for_the_commit) {
  const SecondThread second;
  const Pipe pipe;
  static FILE *to;
  static int file;
  to = pipe.stream();
  file = pipe.in();
  static char text[16] = "text";
#define PRINTS(NAME, EXPECTED, CALL, RESULT)                                                       \
  prints(NAME, EXPECTED, pipe, [] { EXPECT_EQ(CALL, RESULT); })
  PRINTS("fprintf", "text 5\n", _ZGTt7fprintf(to, "%s %d\n", text, 5), 7);
  PRINTS("__fprintf_chk", "text 5", _ZGTt13__fprintf_chk(to, 1, "%s %d", text, 5), 6);
  PRINTS(
      "vfprintf", "text 5",
      by_list([](const char *f, va_list l) { return _ZGTt8vfprintf(to, f, l); }, "%s %d", text, 5),
      6);
  PRINTS(
      "__vfprintf_chk", "5",
      by_list([](const char *f, va_list l) { return _ZGTt14__vfprintf_chk(to, 1, f, l); }, "%d", 5),
      1);
  PRINTS("dprintf", "text", _ZGTt7dprintf(file, "%s", text), 4);
  PRINTS("__dprintf_chk", "text", _ZGTt13__dprintf_chk(file, 1, "%s", text), 4);
  PRINTS("vdprintf", "7",
         by_list([](const char *f, va_list l) { return _ZGTt8vdprintf(file, f, l); }, "%d", 7), 1);
  PRINTS("__vdprintf_chk", "7",
         by_list([](const char *f, va_list l) { return _ZGTt14__vdprintf_chk(file, 1, f, l); },
                 "%d", 7),
         1);
  PRINTS("fputs", "text", _ZGTt5fputs(text, to) >= 0, true);
  PRINTS("fputs_unlocked", "text", _ZGTt14fputs_unlocked(text, to) >= 0, true);
  PRINTS("fputc", "x", _ZGTt5fputc('x', to), 'x');
  PRINTS("fputc_unlocked", "x", _ZGTt14fputc_unlocked('x', to), 'x');
  PRINTS("putc", "x", _ZGTt4putc('x', to), 'x');
  PRINTS("putc_unlocked", "x", _ZGTt13putc_unlocked('x', to), 'x');
  PRINTS("fwrite", "text", _ZGTt6fwrite(text, 2, 2, to), 2U);
  PRINTS("fwrite_unlocked", "tex", _ZGTt15fwrite_unlocked(text, 1, 3, to), 3U);
  PRINTS("fflush", "", _ZGTt6fflush(to), 0);
  PRINTS("fflush_unlocked", "", _ZGTt15fflush_unlocked(to), 0);
  PRINTS("write", "tex", _ZGTt5write(file, text, 3), 3);
  PRINTS("send", "text", _ZGTt4send(file, text, 4, MSG_NOSIGNAL), 4);
  // Those that write to the standard streams.
  FILE *const out = stdout;
  FILE *const err = stderr;
  stdout = stderr = to;
  PRINTS("printf", "5%", _ZGTt6printf("%d%%", 5), 2);
  PRINTS("__printf_chk", "5", _ZGTt12__printf_chk(1, "%d", 5), 1);
  PRINTS("vprintf", "5",
         by_list([](const char *f, va_list l) { return _ZGTt7vprintf(f, l); }, "%d", 5), 1);
  PRINTS("__vprintf_chk", "5",
         by_list([](const char *f, va_list l) { return _ZGTt13__vprintf_chk(1, f, l); }, "%d", 5),
         1);
  PRINTS("puts", "text\n", _ZGTt4puts(text) >= 0, true);
  PRINTS("putchar", "y", _ZGTt7putchar('y'), 'y');
  PRINTS("putchar_unlocked", "y", _ZGTt16putchar_unlocked('y'), 'y');
  stdout = out;
  PRINTS("perror", "text: No such file or directory\n", (errno = ENOENT, _ZGTt6perror(text), 0), 0);
  stderr = err;
#undef PRINTS
}

// To nowhere: that it neither crashes nor becomes irrevocable.
TEST(output, the_system_log) {
  const SecondThread second;
  EXPECT_FALSE(atomically(
      [] {
        _ZGTt6syslog(7, "%s", "text");
        _ZGTt12__syslog_chk(7, 1, "%d", 5);
        by_list([](const char *f, va_list l) { return _ZGTt7vsyslog(7, f, l), 0; }, "%d", 5);
        by_list([](const char *f, va_list l) { return _ZGTt13__vsyslog_chk(7, 1, f, l), 0; }, "%d",
                5);
        undo();
      },
      true));
}

TEST(output, has_the_arguments_of_the_call_and_its_order) {
  const SecondThread second;
  const Pipe pipe;
  static std::uint64_t word;
  word = 1;
  atomically(
      [&] {
        _ZGTt7fprintf(pipe.stream(), "%lu ", get(word));
        put(word, 2);
        _ZGTt5write(pipe.in(), "w ", 2);
        _ZGTt7fprintf(pipe.stream(), "%lu ", get(word));
      },
      true);
  EXPECT_EQ(pipe.arrived(), "1 w 2 ");
}

TEST(output, comes_before_what_an_irrevocable_transaction_does) {
  const SecondThread second;
  const Pipe pipe;
  atomically([&] {
    _ZGTt7fprintf(pipe.stream(), "prompt");
    _ITM_changeTransactionMode(0);
    EXPECT_EQ(pipe.arrived(), "prompt");
    _ZGTt7fprintf(pipe.stream(), "more");
    EXPECT_EQ(pipe.arrived(), "more");
  });
  EXPECT_EQ(pipe.arrived(), "");
}

// ---- the end

TEST(end_death, comes_after_output_and_with_the_truth) {
  const SecondThread second;
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(atomically([] {
                 _ZGTt7fprintf(stderr, "before; ");
                 _ZGTt13__assert_fail("1 == 2", "file.c", 3, "f");
               }),
               "before; .*file.c:3: f: Assertion `1 == 2' failed");
  EXPECT_DEATH(atomically([] { _ZGTt20__assert_perror_fail(ENOENT, "file.c", 3, "f"); }),
               "file.c:3: f: Unexpected error: No such file or directory");
  EXPECT_EXIT(atomically([] { _ZGTt5abort(); }), testing::KilledBySignal(SIGABRT), "");
}

// ---- calls through pointers

TEST(wrappers, are_found_by_address) {
  const SecondThread second;
  atomically(
      [] {
        int (*const plain)(const char *, const char *) = std::strcmp;
        void *found = _ITM_getTMCloneOrIrrevocable(reinterpret_cast<void *>(plain));
        EXPECT_EQ(found, reinterpret_cast<void *>(_ZGTt6strcmp));
        EXPECT_EQ(_ITM_inTransaction(), itm::kRetryable);
      },
      true);
}

int plain_answer() { return 1; }
int transactional_answer() { return 2; }
TANDEM_WRAP(plain_answer, transactional_answer);

TEST(wrappers, wrapped_functions_are_found_by_address) {
  const SecondThread second;
  atomically(
      [] {
        void *found = _ITM_getTMCloneOrIrrevocable(reinterpret_cast<void *>(plain_answer));
        EXPECT_EQ(found, reinterpret_cast<void *>(transactional_answer));
      },
      true);
  EXPECT_EQ(plain_answer(), 1);
}

// ---- while others write

// A text of one letter and its length change together; readers never see them apart.
TEST(wrappers, are_isolated_from_writers) {
  static char text[200];
  static std::uint64_t length;
  std::memset(text, 0, sizeof text);
  length = 0;
  std::atomic<int> wrong{0};
  in_threads(4, [&](int number) {
    Random random(seed() + static_cast<std::uint64_t>(number));
    for (int i = 0; i < 400; ++i) {
      if (number < 2) {
        const std::size_t next = random.below(180);
        const std::string letters(next, static_cast<char>('a' + random.below(26)));
        atomically([&] {
          _ZGTt6strcpy(text, letters.c_str());
          put(length, next);
        });
        continue;
      }
      atomically([&] {
        const std::size_t expected = get(length);
        char copy[200];
        const auto printed =
            static_cast<std::size_t>(_ZGTt8snprintf(copy, sizeof copy, "%s", text));
        bool right = printed == expected && _ZGTt6strlen(text) == expected &&
                     _ZGTt6memcmp(text, copy, expected + 1) == 0 && _ZGTt6strcmp(text, copy) == 0 &&
                     _ZGTt6strchr(text, '#') == nullptr;
        for (std::size_t k = 0; k < expected && right; ++k)
          right = copy[k] == copy[0];
        if (!right)
          ++wrong;
      });
    }
  });
  EXPECT_EQ(wrong, 0) << "TANDEM_TEST_SEED=" << seed();
}

} // namespace
} // namespace tandem::library
