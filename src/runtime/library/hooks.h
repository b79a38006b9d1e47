// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What transactions and clone tables ask of the transactional versions of library functions.
#pragma once

#include "runtime/thread/thread.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::library {

// The outermost transaction is about to commit: adds what its commutative counters have gathered,
// becomes irrevocable where strtok leaves a rest. May begin it again.
void before_commit(Thread &thread) noexcept;

// The transaction cannot be undone any more: does what waited for that.
void became_irrevocable(Thread &thread) noexcept;

// Whether one that is alone must be able to give way, to a lock's holder or to who makes a change
// that it waits for, so that it keeps an undo log although the program never cancels it: some
// transaction has asked for a real lock, or the program has calls that wait in transactions.
extern std::atomic<bool> must_give_way;

// Sets it where something that is loaded has such calls. Before main, or for a thread while it
// loads a library (linkage/calls.h).
void expect_waits() noexcept;
// Sets it where the program or library that the code at `target` is in has such calls. Any time.
[[gnu::cold]] void expect_waits_at(Thread &thread, std::uintptr_t target) noexcept;

// Whether one that begins at `target` must. What it calls in other libraries has been looked at:
// clones are registered while a library is loaded.
inline bool must_give_way_at(Thread &thread, std::uintptr_t target) noexcept {
  if (target - thread.scanned >= thread.scanned_bytes) [[unlikely]]
    expect_waits_at(thread, target);
  return must_give_way.load(std::memory_order_relaxed);
}

// The transactional version of a function of the C library; null if it has none.
void *twin_of(void *original) noexcept;

} // namespace tandem::library
