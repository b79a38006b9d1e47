// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pthread mutex, because race detectors and debuggers understand it. Where nobody waits, a
// section costs 1.7 times a bare mutex (bench/global_lock): the calls through this library and the
// depth are the rest.
//
// fork: prepare acquires the lock unless the forking thread holds it, so that the child's memory
// has no section half done; parent and child release it. The mutex is a normal one, whose release
// does not ask which thread acquired it: the child's only thread may release what its original
// acquired.
#include "runtime/algorithms/global_lock.h"

#include "runtime/fatal.h"

#include <cstring>
#include <pthread.h>

#define TANDEM_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

namespace tandem::global_lock {
namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_key_t exit_key; // its destructor runs when a thread exits

TANDEM_THREAD_LOCAL const tandem_section *outermost = nullptr;
TANDEM_THREAD_LOCAL bool exit_watched = false; // exit_key is set for this thread

void lock() noexcept {
  if (const int error = pthread_mutex_lock(&mutex); error != 0)
    fatal("the global lock cannot be acquired: %s", std::strerror(error));
}

void unlock() noexcept {
  if (const int error = pthread_mutex_unlock(&mutex); error != 0)
    fatal("the global lock cannot be released: %s", std::strerror(error));
}

void lock_before_fork() {
  if (outermost == nullptr)
    lock();
}

void unlock_after_fork() {
  if (outermost == nullptr)
    unlock();
}

void on_thread_exit(void *) {
  if (outermost != nullptr)
    fatal("a thread exits inside the atomic section '%s' (%s:%u), which would stay locked for ever",
          outermost->name, outermost->file, outermost->line);
  // Destructors of other keys may still enter sections; then the key is set again.
  exit_watched = false;
}

// Before the engine's, whose fork handler then comes first.
[[gnu::constructor(200)]] void prepare_process() {
  int error = pthread_key_create(&exit_key, on_thread_exit);
  if (error == 0)
    error = pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
  if (error != 0)
    fatal("the runtime cannot start: %s", std::strerror(error));
}

[[gnu::noinline, gnu::cold]] void watch_exit() noexcept {
  exit_watched = true;
  // The value only has to be non-null for the destructor to run.
  if (const int error = pthread_setspecific(exit_key, &exit_key); error != 0)
    fatal("a thread cannot enter an atomic section: %s", std::strerror(error));
}

} // namespace

void acquire(const tandem_section &section) noexcept {
  if (section.abi_version != TANDEM_ABI_VERSION) [[unlikely]]
    refuse("the program was compiled for version %u of the runtime's ABI, this libtandem.so has "
           "version %u; use the libtandem.so that came with its compiler",
           section.abi_version, TANDEM_ABI_VERSION);
  if (!exit_watched) [[unlikely]]
    watch_exit();
  lock();
  outermost = &section;
}

void release(const tandem_section &section) noexcept {
  if (outermost != &section) [[unlikely]]
    fatal("the atomic section '%s' (%s:%u) is left, but '%s' was entered", section.name,
          section.file, section.line, outermost == nullptr ? "none" : outermost->name);
  outermost = nullptr;
  unlock();
}

} // namespace tandem::global_lock
