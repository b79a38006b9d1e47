// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pool's lock is a leaf: nothing is acquired inside it. It also keeps a process's first
// transactions apart until what they need is there.
#include "runtime/thread/thread.h"

#include "runtime/fatal.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/memory/pages.h"
#include "runtime/sync/clock.h"
#include "runtime/transaction/guarded_by.h"
#include "runtime/transaction/transaction.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <pthread.h>
#include <unistd.h>

namespace tandem {

// Also named in assembler (abi/itm_control.cc).
__attribute__((used)) __thread Thread *current_thread = nullptr;
constinit Mark marks[kMostThreads] = {};
constinit std::atomic<std::size_t> marks_end{0};

namespace {

pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
Thread *all_threads[kMostThreads]; // by identity
Thread *pool = nullptr;
bool prepared_first = false; // guarded by the pool's lock
pthread_key_t exit_key;

void lock_pool() noexcept {
  if (const int error = pthread_mutex_lock(&pool_lock); error != 0)
    fatal("the list of threads cannot be locked: %s", std::strerror(error));
}

void unlock_pool() noexcept {
  if (const int error = pthread_mutex_unlock(&pool_lock); error != 0)
    fatal("the list of threads cannot be unlocked: %s", std::strerror(error));
}

Thread *make_thread() noexcept {
  const std::size_t identity = marks_end.load(std::memory_order_relaxed);
  if (identity == kMostThreads)
    fatal("more than %zu threads have transactions at the same time", kMostThreads);
  void *place = memory::allocate_pages(sizeof(Thread), "the transactions of a thread");
  // Value-initialised: all logs empty.
  auto *thread = new (place) Thread();
  thread->identity = identity;
  thread->mark = &marks[identity].value;
  thread->random = contention::Xorshift(0x9e3779b97f4a7c15U * (identity + 1));
  thread->clock = &sync::global_clock.now;
  thread->guarded_by_words = guarded_by::words;
  thread->serial_word = &serial::word.value;
  thread->lock_word = reinterpret_cast<std::uintptr_t>(thread) | (std::uint64_t{1} << 63);
  all_threads[identity] = thread;
  // Release: who sees the new end sees the mark, which is 0.
  marks_end.store(identity + 1, std::memory_order_release);
  return thread;
}

void on_thread_exit(void *) {
  Thread *thread = current_thread;
  if (thread == nullptr)
    return;
  if (thread->depth != 0)
    fatal("a thread exits inside a transaction");
  current_thread = nullptr; // a later destructor with a transaction gets a new one
  lock_pool();
  thread->next_free = pool;
  pool = thread;
  unlock_pool();
}

} // namespace

Thread &this_thread() noexcept {
  if (current_thread != nullptr) [[likely]]
    return *current_thread;
  lock_pool();
  if (!prepared_first) {
    transaction::prepare_first();
    prepared_first = true;
  }
  Thread *thread = pool;
  if (thread != nullptr)
    pool = thread->next_free;
  else
    thread = make_thread();
  unlock_pool();
  transaction::prepare(*thread);
  current_thread = thread;
  if (const int error = pthread_setspecific(exit_key, thread); error != 0)
    fatal("a thread cannot have transactions: %s", std::strerror(error));
  return *thread;
}

Thread &thread_of(std::size_t identity) noexcept { return *all_threads[identity]; }

void find_stack(Thread &thread) noexcept {
  pthread_attr_t attributes;
  void *low = nullptr;
  std::size_t bytes = 0;
  // An unknown stack is an empty one: all that it costs is that a transaction may restart once
  // more, and that its writes are slower.
  thread.stack_low = UINTPTR_MAX;
  thread.stack_high = 0;
  thread.beyond_stack = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    // Of whole words, as the distance to its end tells alignment (maybe_frame).
    constexpr std::uintptr_t kWord = 8;
    const auto begin = reinterpret_cast<std::uintptr_t>(low);
    thread.stack_low = begin & ~(kWord - 1);
    thread.stack_high = (begin + bytes + kWord - 1) & ~(kWord - 1);
    bytes = thread.stack_high - thread.stack_low;
    // The main thread's grows when the program raises its limit.
    constexpr std::size_t kRoom = std::size_t{100} << 20;
    const std::size_t most = gettid() == getpid() ? std::max(bytes, kRoom) : bytes;
    thread.beyond_stack = (0 - most) >> 3;
  }
  pthread_attr_destroy(&attributes);
}

void forget_other_threads() noexcept {
  pool_lock = PTHREAD_MUTEX_INITIALIZER;
  pool = nullptr;
  for (std::size_t i = 0; i < marks_end.load(std::memory_order_relaxed); ++i) {
    Thread *thread = all_threads[i];
    if (thread == current_thread)
      continue;
    thread->mark->store(0, std::memory_order_relaxed);
    thread->next_free = pool;
    pool = thread;
  }
}

void prepare_threads() noexcept {
  if (const int error = pthread_key_create(&exit_key, on_thread_exit); error != 0)
    fatal("the runtime cannot start: %s", std::strerror(error));
}

} // namespace tandem
