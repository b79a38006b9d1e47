// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transactions and colours. A transaction that _TANDEM_begin began with a guard has its colours'
// marks from before its first access to its end (or until it is undone, and again before it is run
// again): it is *guarded*. A section that holds its colours exclusively is an outermost transaction
// in mode `direct` with Thread::coloured: it excludes who has its colours, not the process.
//
// A guarded transaction becomes irrevocable
//
//     non-revocable     undone; marks off; all its colours exclusively; again from begin, plain
//     otherwise         in place or again, serially, with its marks: those exclude who holds a
//                       colour of the guard exclusively, being serial all other transactions
//
// The word of serial transactions and colours are never waited for together: who has one and does
// not get the other at once gives it back.
#pragma once

#include "runtime/irrevocable/colours.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/transaction.h"

#include <cstdint>

namespace tandem::guarded {

using transaction::Actions;

// Before main: tells libtandem.so that there is an engine.
void attach() noexcept;

// The marks of all of the thread's guards; a locked instruction must follow before `taken`.
inline void set_marks(Thread &thread) noexcept {
  for (std::uint32_t slot = 0; slot < thread.guard_count; ++slot)
    colours::set_mark(thread.identity, slot, thread.guards[slot]);
}
inline void clear_marks(Thread &thread) noexcept {
  colours::clear_marks(thread.identity, thread.guard_count);
}
// Whether one of its guards' colours is wanted or held exclusively.
inline bool taken(const Thread &thread) noexcept {
  for (std::uint32_t slot = 0; slot < thread.guard_count; ++slot)
    if (colours::guard_taken(*thread.guards[slot]))
      return true;
  return false;
}
// Waits for that; the caller has no marks.
void wait(const Thread &thread) noexcept;

// Begins an outermost section; thread.jump is set.
Actions begin(Thread &thread, std::uint32_t properties, const tandem_section &section) noexcept;

// Before `section` begins nested in a transaction: afterwards its guard is held, for as long as the
// outermost one runs. May begin that one again.
void adopt(Thread &thread, const tandem_section &section) noexcept;

// Whether the transaction, which is speculative, becomes irrevocable by its own colours.
inline bool takes_colours(const Thread &thread) noexcept {
  return thread.plan != nullptr && thread.guard_count == 1 &&
         thread.plan->section_class == TANDEM_CLASS_NON_REVOCABLE;
}
// Undoes it and runs it again with its colours.
[[noreturn]] void restart_exclusively(Thread &thread) noexcept;

// Waits for the right to run serially, with the marks.
void acquire_serial(Thread &thread) noexcept;

// In a section that holds colours: no transaction of any kind runs beside it from here to its end.
void exclude_transactions(Thread &thread) noexcept;

// The outermost transaction has ended: releases what it has.
void leave(Thread &thread) noexcept;

} // namespace tandem::guarded
