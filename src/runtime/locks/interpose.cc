// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libtandem_locks.so, preloaded: a contention profile of a program's own locks, for programs that
// are not yet converted (docs/profile.md). Each call goes to the C library; around it the time
// is read. An acquisition that a trylock gets at once is not contended.
#include "base/output_file.h"
#include "runtime/fatal.h"
#include "runtime/locks/counters.h"
#include "runtime/processor.h"
#include "runtime/profile/destination.h"
#include "runtime/settings/environment.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace tandem::locks;

tandem::profile::Destination destination; // without a path: nothing is profiled
Began began;
thread_local Thread *own __attribute__((tls_model("initial-exec")));

// The C library's functions. Conditions have an older version beside the present one, which dlsym
// would give.
void *next_of(const char *name, const char *version) noexcept {
  void *found = version == nullptr ? nullptr : ::dlvsym(RTLD_NEXT, name, version);
  return found != nullptr ? found : ::dlsym(RTLD_NEXT, name);
}

#define NEXT(name, version)                                                                        \
  static const auto next = reinterpret_cast<decltype(&::name)>(next_of(#name, version))

Thread *thread() noexcept {
  if (destination.path() == nullptr)
    return nullptr;
  if (own == nullptr)
    own = add_thread();
  return own;
}

void hold(Thread &thread, const void *lock, Counts *counts, std::uint64_t now) noexcept {
  if (counts != nullptr && thread.held_count < Thread::kMostHeld)
    thread.held[thread.held_count++] = {lock, counts, now};
}

// The lock is about to be released. Result: its entry, where it was held.
Counts *release(Thread &thread, const void *lock) noexcept {
  for (std::size_t i = thread.held_count; i-- > 0;) {
    const Held held = thread.held[i];
    if (held.lock != lock)
      continue;
    const std::uint64_t time = tandem::processor::ticks() - held.since;
    held.counts->held.add(time);
    held.counts->longest.at_least(time);
    for (std::size_t j = i + 1; j < thread.held_count; ++j)
      thread.held[j - 1] = thread.held[j];
    --thread.held_count;
    return held.counts;
  }
  return nullptr;
}

struct Lock {
  const void *address;
  Kind kind;
  bool shared;
  const void *site; // return address of the program's call
};

bool got(int result) noexcept { return result == 0 || result == EOWNERDEAD; }

// Acquires by `lock`, after `try_lock` was busy.
template <class Try, class Block>
int acquire(const Lock &lock, const Try &try_lock, const Block &block) noexcept {
  Thread *self = thread();
  if (self == nullptr)
    return block();
  Counts *counts = counts_of(*self, lock.address, lock.site, lock.kind, lock.shared);
  int result = try_lock();
  std::uint64_t now = tandem::processor::ticks();
  // Not only EBUSY: what else a trylock cannot do, the call itself must say.
  if (!got(result)) {
    const std::uint64_t before = now;
    result = block();
    now = tandem::processor::ticks();
    if (counts != nullptr) {
      counts->waited.add(now - before);
      (got(result) ? counts->contended : counts->failed).add(1);
    }
  }
  if (got(result)) {
    if (counts != nullptr)
      counts->acquired.add(1);
    hold(*self, lock.address, counts, now);
  }
  return result;
}

template <class Try> int try_only(const Lock &lock, const Try &try_lock) noexcept {
  Thread *self = thread();
  const int result = try_lock();
  if (self == nullptr)
    return result;
  Counts *counts = counts_of(*self, lock.address, lock.site, lock.kind, lock.shared);
  if (counts != nullptr)
    (got(result) ? counts->acquired : counts->failed).add(1);
  if (got(result))
    hold(*self, lock.address, counts, tandem::processor::ticks());
  return result;
}

// The wait releases the mutex, and has it again when it returns.
template <class Wait> int wait_on(const void *mutex, const void *site, const Wait &wait) noexcept {
  Thread *self = thread();
  if (self == nullptr)
    return wait();
  release(*self, mutex);
  const int result = wait();
  Counts *counts = counts_of(*self, mutex, site, Kind::mutex, false);
  if (counts != nullptr)
    counts->waits.add(1);
  hold(*self, mutex, counts, tandem::processor::ticks());
  return result;
}

void releasing(const void *lock) noexcept {
  if (Thread *self = thread())
    release(*self, lock);
}

// --- how a process ends

// Whose memory this is: a child of vfork() shares it, and is another process.
pid_t owner = 0;

void write_because(const char *end) noexcept {
  const auto writer = [](std::FILE *file, void *reason) {
    write_profile(file, began, static_cast<const char *>(reason));
  };
  if (const int error = destination.write(writer, const_cast<char *>(end)); error != 0)
    tandem::say("%s: %s", destination.path(), tandem::output_error(error));
}

void write_at_exit() noexcept { write_because("exit"); }

// Before an end that runs no handlers. A child that has acquired nothing leaves no file.
void write_before(const char *end) noexcept {
  if (destination.path() != nullptr && ::getpid() == owner &&
      all_threads.load(std::memory_order_relaxed) != nullptr)
    write_because(end);
}

// A signal that ends the process, or a handler that calls _exit: it may call next to nothing, so a
// thread that sleeps until then writes the file. Whoever was interrupted inside malloc does not
// stop that thread: it has memory of its own. What takes longer than kLongestWriteS is given up.
constexpr int kEnding[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGABRT, SIGFPE,   SIGSEGV,
                           SIGBUS,  SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2,  SIGSYS,
                           SIGXCPU, SIGXFSZ, SIGPOLL, SIGPROF, SIGTRAP, SIGVTALRM};
constexpr int kLongestWriteS = 10;

struct Ending {
  sem_t wanted, written;
  std::atomic<pid_t> process{0};  // that has the thread
  std::atomic<pid_t> maker{0};    // that makes it, or has made it
  std::atomic<bool> leave{false}; // it is no longer wanted
  std::atomic<bool> busy{false};  // guards what follows
  char reason[4128] = "";
};
Ending ending;

void *write_when_wanted(void *) noexcept {
  std::free(std::malloc(1)); // its own memory is there from now on
  for (;;) {
    while (::sem_wait(&ending.wanted) != 0) {
    }
    if (ending.leave.load())
      return nullptr;
    write_before(ending.reason);
    ::sem_post(&ending.written);
  }
}

// Whether the thread that sleeps took it over to write the file. In signal handlers, too.
bool hand_over(const char *reason) noexcept {
  bool busy = false;
  if (ending.process.load() != ::getpid() || !ending.busy.compare_exchange_strong(busy, true))
    return false;
  std::snprintf(ending.reason, sizeof ending.reason, "%s", reason);
  ::sem_post(&ending.wanted);
  timespec until;
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kLongestWriteS;
  int error = 0;
  while ((error = ::sem_timedwait(&ending.written, &until)) != 0 && errno == EINTR) {
  }
  if (error == 0)
    ending.busy.store(false);
  return true;
}

// The first thread ends by itself. The process ends with the last of the others, so none of ours
// may be left; what ends it by a signal from then on is not written down.
void let_go(void *) noexcept {
  bool busy = false;
  if (ending.process.load() != ::getpid() || !ending.busy.compare_exchange_strong(busy, true))
    return;
  ending.process.store(0);
  ending.leave.store(true);
  ::sem_post(&ending.wanted);
}
pthread_key_t of_first_thread = 0;

// Before _exit and exec, which signal handlers may call.
void write_anywhere(const char *reason) noexcept {
  const int saved = errno;
  if (destination.path() != nullptr && !hand_over(reason))
    write_before(reason);
  errno = saved;
}

void end_by_signal(int signal, siginfo_t *, void *) noexcept {
  char reason[32];
  std::snprintf(reason, sizeof reason, "signal %d", signal);
  hand_over(reason);
  // Its action is the default one again (SA_RESETHAND); it arrives when this returns.
  ::raise(signal);
}

using Create = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
Create next_create() noexcept {
  static const auto next = reinterpret_cast<Create>(next_of("pthread_create", nullptr));
  return next;
}

// The caller holds nothing that creating a thread could need.
void watch_signals() noexcept {
  const pid_t self = ::getpid();
  pid_t maker = ending.maker.load();
  if (maker == self || !ending.maker.compare_exchange_strong(maker, self))
    return;
  ending.busy.store(false);
  ending.leave.store(false);
  ::sem_init(&ending.wanted, 0, 0);
  ::sem_init(&ending.written, 0, 0);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (next_create()(&thread, nullptr, write_when_wanted, nullptr) == 0) {
    ::pthread_detach(thread);
    ending.process.store(self);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The file is the parent's.
void after_fork_in_child() noexcept {
  owner = ::getpid();
  destination.follow_fork();
  all_threads.store(nullptr, std::memory_order_relaxed);
  own = nullptr;
  ::pthread_setspecific(of_first_thread, &ending);
}

__attribute__((constructor)) void prepare() noexcept {
  const char *path = tandem::variable("TANDEM_LOCK_PROFILE");
  if (path == nullptr || *path == '\0')
    return;
  if (const int error = destination.prepare(path); error != 0) {
    tandem::say("TANDEM_LOCK_PROFILE: %s: %s; name a file that can be written", path,
                tandem::output_error(error));
    ::_exit(2);
  }
  timespec steady;
  timespec wall;
  ::clock_gettime(CLOCK_MONOTONIC, &steady);
  ::clock_gettime(CLOCK_REALTIME, &wall);
  began = {tandem::processor::ticks(), steady.tv_sec * 1'000'000'000LL + steady.tv_nsec,
           wall.tv_sec * 1'000'000'000LL + wall.tv_nsec};
  owner = ::getpid();
  ::pthread_atfork(nullptr, nullptr, after_fork_in_child);
  std::atexit(write_at_exit);
  std::at_quick_exit(write_at_exit);
  watch_signals();
  if (::pthread_key_create(&of_first_thread, let_go) == 0)
    ::pthread_setspecific(of_first_thread, &ending);
  for (const int signal : kEnding) {
    struct sigaction old;
    struct sigaction watched = {};
    watched.sa_sigaction = end_by_signal;
    watched.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK;
    if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_DFL)
      ::sigaction(signal, &watched, nullptr);
  }
}

// The arguments of execl() and the like, as those of execv().
std::vector<char *> gathered(const char *first, va_list rest) {
  std::vector<char *> all{const_cast<char *>(first)};
  while (all.back() != nullptr)
    all.push_back(va_arg(rest, char *));
  return all;
}

void write_before_exec(const char *program) noexcept {
  if (destination.path() == nullptr)
    return;
  char end[4096];
  std::snprintf(end, sizeof end, "exec %s", program);
  write_anywhere(end);
}

} // namespace

#define SITE __builtin_return_address(0)
#define EXPORT extern "C" [[gnu::visibility("default")]]

// --- ends of a process that run no handlers

EXPORT void _exit(int status) {
  NEXT(_exit, nullptr);
  write_anywhere("_exit");
  next(status);
  __builtin_unreachable();
}

EXPORT void _Exit(int status) { _exit(status); }

EXPORT int execve(const char *program, char *const arguments[], char *const environment[]) {
  NEXT(execve, nullptr);
  write_before_exec(program);
  return next(program, arguments, environment);
}

EXPORT int fexecve(int file, char *const arguments[], char *const environment[]) {
  NEXT(fexecve, nullptr);
  write_before_exec(arguments[0] != nullptr ? arguments[0] : "");
  return next(file, arguments, environment);
}

EXPORT int execv(const char *program, char *const arguments[]) {
  return execve(program, arguments, environ);
}

EXPORT int execvpe(const char *program, char *const arguments[], char *const environment[]) {
  NEXT(execvpe, nullptr);
  write_before_exec(program);
  return next(program, arguments, environment);
}

EXPORT int execvp(const char *program, char *const arguments[]) {
  return execvpe(program, arguments, environ);
}

EXPORT int execl(const char *program, const char *first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::vector<char *> arguments = gathered(first, rest);
  va_end(rest);
  return execve(program, arguments.data(), environ);
}

EXPORT int execlp(const char *program, const char *first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::vector<char *> arguments = gathered(first, rest);
  va_end(rest);
  return execvpe(program, arguments.data(), environ);
}

EXPORT int execle(const char *program, const char *first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::vector<char *> arguments = gathered(first, rest);
  char *const *environment = va_arg(rest, char *const *);
  va_end(rest);
  return execve(program, arguments.data(), environment);
}

// Of a child that may not have a thread to write its file yet: here one can be created.
EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument) {
  if (destination.path() != nullptr && ::getpid() == owner)
    watch_signals();
  return next_create()(thread, attributes, run, argument);
}

// --- mutexes

EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
  NEXT(pthread_mutex_init, nullptr);
  if (destination.path() != nullptr)
    note_initialised(mutex, SITE);
  return next(mutex, attributes);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  NEXT(pthread_mutex_trylock, nullptr);
  return try_only({mutex, Kind::mutex, false, SITE}, [&] { return next(mutex); });
}

namespace {
int raw_trylock(pthread_mutex_t *mutex) noexcept {
  NEXT(pthread_mutex_trylock, nullptr);
  return next(mutex);
}
} // namespace

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex) {
  NEXT(pthread_mutex_lock, nullptr);
  return acquire(
      {mutex, Kind::mutex, false, SITE}, [&] { return raw_trylock(mutex); },
      [&] { return next(mutex); });
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const timespec *until) {
  NEXT(pthread_mutex_timedlock, nullptr);
  return acquire(
      {mutex, Kind::mutex, false, SITE}, [&] { return raw_trylock(mutex); },
      [&] { return next(mutex, until); });
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const timespec *until) {
  NEXT(pthread_mutex_clocklock, nullptr);
  return acquire(
      {mutex, Kind::mutex, false, SITE}, [&] { return raw_trylock(mutex); },
      [&] { return next(mutex, clock, until); });
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  NEXT(pthread_mutex_unlock, nullptr);
  releasing(mutex);
  return next(mutex);
}

// --- conditions

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  NEXT(pthread_cond_wait, "GLIBC_2.3.2");
  return wait_on(mutex, SITE, [&] { return next(condition, mutex); });
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const timespec *until) {
  NEXT(pthread_cond_timedwait, "GLIBC_2.3.2");
  return wait_on(mutex, SITE, [&] { return next(condition, mutex, until); });
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const timespec *until) {
  NEXT(pthread_cond_clockwait, nullptr);
  return wait_on(mutex, SITE, [&] { return next(condition, mutex, clock, until); });
}

// --- readers' and writers' locks

EXPORT int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes) {
  NEXT(pthread_rwlock_init, nullptr);
  if (destination.path() != nullptr)
    note_initialised(lock, SITE);
  return next(lock, attributes);
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
  NEXT(pthread_rwlock_tryrdlock, nullptr);
  return try_only({lock, Kind::rwlock, true, SITE}, [&] { return next(lock); });
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
  NEXT(pthread_rwlock_trywrlock, nullptr);
  return try_only({lock, Kind::rwlock, false, SITE}, [&] { return next(lock); });
}

namespace {
int raw_tryrdlock(pthread_rwlock_t *lock) noexcept {
  NEXT(pthread_rwlock_tryrdlock, nullptr);
  return next(lock);
}
int raw_trywrlock(pthread_rwlock_t *lock) noexcept {
  NEXT(pthread_rwlock_trywrlock, nullptr);
  return next(lock);
}
} // namespace

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  NEXT(pthread_rwlock_rdlock, nullptr);
  return acquire(
      {lock, Kind::rwlock, true, SITE}, [&] { return raw_tryrdlock(lock); },
      [&] { return next(lock); });
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  NEXT(pthread_rwlock_wrlock, nullptr);
  return acquire(
      {lock, Kind::rwlock, false, SITE}, [&] { return raw_trywrlock(lock); },
      [&] { return next(lock); });
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const timespec *until) {
  NEXT(pthread_rwlock_timedrdlock, nullptr);
  return acquire(
      {lock, Kind::rwlock, true, SITE}, [&] { return raw_tryrdlock(lock); },
      [&] { return next(lock, until); });
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const timespec *until) {
  NEXT(pthread_rwlock_timedwrlock, nullptr);
  return acquire(
      {lock, Kind::rwlock, false, SITE}, [&] { return raw_trywrlock(lock); },
      [&] { return next(lock, until); });
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  NEXT(pthread_rwlock_unlock, nullptr);
  releasing(lock);
  return next(lock);
}

// --- spin locks

EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int shared) {
  NEXT(pthread_spin_init, nullptr);
  if (destination.path() != nullptr)
    note_initialised(const_cast<const int *>(lock), SITE);
  return next(lock, shared);
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock) {
  NEXT(pthread_spin_trylock, nullptr);
  return try_only({const_cast<const int *>(lock), Kind::spin, false, SITE},
                  [&] { return next(lock); });
}

namespace {
int raw_spin_trylock(pthread_spinlock_t *lock) noexcept {
  NEXT(pthread_spin_trylock, nullptr);
  return next(lock);
}
} // namespace

EXPORT int pthread_spin_lock(pthread_spinlock_t *lock) {
  NEXT(pthread_spin_lock, nullptr);
  return acquire(
      {const_cast<const int *>(lock), Kind::spin, false, SITE},
      [&] { return raw_spin_trylock(lock); }, [&] { return next(lock); });
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock) {
  NEXT(pthread_spin_unlock, nullptr);
  releasing(const_cast<const int *>(lock));
  return next(lock);
}

// --- C11: the C library's calls do not lead through the functions above

EXPORT int mtx_init(mtx_t *mutex, int type) {
  NEXT(mtx_init, nullptr);
  if (destination.path() != nullptr)
    note_initialised(mutex, SITE);
  return next(mutex, type);
}

EXPORT int mtx_trylock(mtx_t *mutex) {
  NEXT(mtx_trylock, nullptr);
  return try_only({mutex, Kind::mutex, false, SITE}, [&] { return next(mutex); });
}

namespace {
int raw_mtx_trylock(mtx_t *mutex) noexcept {
  NEXT(mtx_trylock, nullptr);
  return next(mutex);
}
} // namespace

EXPORT int mtx_lock(mtx_t *mutex) {
  NEXT(mtx_lock, nullptr);
  return acquire(
      {mutex, Kind::mutex, false, SITE}, [&] { return raw_mtx_trylock(mutex); },
      [&] { return next(mutex); });
}

EXPORT int mtx_timedlock(mtx_t *mutex, const timespec *until) {
  NEXT(mtx_timedlock, nullptr);
  return acquire(
      {mutex, Kind::mutex, false, SITE}, [&] { return raw_mtx_trylock(mutex); },
      [&] { return next(mutex, until); });
}

EXPORT int mtx_unlock(mtx_t *mutex) {
  NEXT(mtx_unlock, nullptr);
  releasing(mutex);
  return next(mutex);
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex) {
  NEXT(cnd_wait, nullptr);
  return wait_on(mutex, SITE, [&] { return next(condition, mutex); });
}

EXPORT int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const timespec *until) {
  NEXT(cnd_timedwait, nullptr);
  return wait_on(mutex, SITE, [&] { return next(condition, mutex, until); });
}
