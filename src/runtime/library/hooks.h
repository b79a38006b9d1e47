// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What transactions and clone tables ask of the transactional versions of library functions.
#pragma once

#include "runtime/linkage/objects.h"
#include "runtime/thread/thread.h"

#include <atomic>
#include <cstdint>
#include <span>

namespace tandem::library {

// The outermost transaction is about to commit: adds what its commutative counters have gathered,
// becomes irrevocable where strtok leaves a rest. May begin it again.
void before_commit(Thread &thread) noexcept;

// The transaction cannot be undone any more: does what waited for that.
void became_irrevocable(Thread &thread) noexcept;

// Whether one that is serial must be able to give way, to a lock's holder or to who makes a change
// that it waits for, so that it keeps an undo log although the program never cancels it: some
// transaction has asked for a real lock, or something that is loaded has calls that wait in
// transactions, as far as that can be seen.
extern std::atomic<bool> must_give_way;

// The same where the process has one thread: no other thread has a lock that it could need, so that
// only calls that wait for a change count, which may end after some time.
extern std::atomic<bool> may_wait_serial;

// Sets them where what was loaded before the runtime, but not with the program, has such calls.
// Once, when the runtime is loaded, after Objects::keep_started.
void expect_waits(const linkage::Objects &loaded) noexcept;
// The same for what the program was started with, and finds what wrapper_of is asked for. Before
// the process's first transaction; more than once does no harm.
void expect_waits_of_started() noexcept;
// The same for the library that the address is in, if the program was not started with it. Any
// time.
void expect_waits_beside(const void *address) noexcept;

// Whether the code at `target` is of what the program was started with: that has been seen, but not
// what is loaded later.
bool is_started_with(Thread &thread, std::uintptr_t target) noexcept;

// Whether one that begins at `target` must.
inline bool must_give_way_at(Thread &thread, std::uintptr_t target) noexcept {
  return must_give_way.load(std::memory_order_relaxed) ||
         (target - thread.known_code >= thread.known_code_bytes &&
          !is_started_with(thread, target));
}

// Whether output may wait for the commit: then the program does not learn what it comes to.
enum class WhenOutput : bool { at_once, at_commit };

// Finds the functions that wrapper_of knows, so that it does not have to; nothing where the scope
// is empty, as it is not known yet. `scope`: linkage::started(), or what stands for it. Any time.
void find_wrapped(std::span<const linkage::Object> scope) noexcept;

// The transactional version of a function of the C library; null if it has none.
void *wrapper_of(void *original, WhenOutput output) noexcept;

} // namespace tandem::library
