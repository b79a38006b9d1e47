// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Begin, commit, cancel, restart: what is the same for all algorithms. A thread's transaction goes
//
//     idle -> speculative (eager, lazy, norec) -> idle            commit
//                        |-> speculative again                    restart
//                        |-> serial (direct, undo)                restart, or upgrade in place
//     idle -> serial -> idle
//     idle -> hardware -> idle                                commit, cancel
//                     |-> speculative                         it does not commit there
//
// Only the own thread calls these, on its own Thread.
#pragma once

#include "runtime/profile/profile.h"
#include "runtime/thread/thread.h"

#include <cstdint>

namespace tandem::linkage {
class Objects;
}

namespace tandem::transaction {

// Waits until something that the transaction has read may have changed, and runs it again.
// `interest`: of wait/wait.h, or 0 for all that it has read. `longest`: nanoseconds after which it
// runs again whatever has changed; 0: it does not.
[[noreturn]] void retry(Thread &thread, std::uint64_t interest, std::int64_t longest = 0) noexcept;

// Whether all that the transaction has done is to read, so that it can be undone and nobody could
// tell.
bool has_only_read(const Thread &thread) noexcept;

// The transaction, which is irrevocable, lets others run meanwhile: calls wait(argument), or where
// that is null sleeps until one of them has written, for `longest` nanoseconds at most. What it has
// done so far is permanent and visible to them, and what it has read may have changed afterwards.
void give_way(Thread &thread, std::int64_t longest, void (*wait)(void *), void *argument) noexcept;

// Undoes the whole transaction, which can be undone, calls wait(argument) outside of it, and runs
// it again.
[[noreturn]] void restart_after(Thread &thread, void (*wait)(void *), void *argument) noexcept;

// Why a transaction starts again.
enum class Reason : std::uint8_t {
  validation, // something it read has changed
  conflict,   // it gave way to another transaction
  killed,     // another transaction told it to
  colour,     // a colour that it has come to need is held exclusively
  joins,      // it comes to what locks guard that are not declared to
  serial      // another thread wants to run serially, or this one has to be
};

// Result of a begin: bits of ItmActions (abi/itm.h).
using Actions = std::uint32_t;

// What is known before main, or when the runtime is loaded, and what the process's first
// transaction needs: a process that has none does not pay for it. Before the first, by one thread;
// no harm where it is done again in a child of fork.
void prepare_for_first(linkage::Objects &loaded) noexcept;
void prepare_first() noexcept;

// Brings a new thread, or one from the pool, to the idle state.
void prepare(Thread &thread) noexcept;

// Begins an outermost transaction; thread.jump is set. `status`: of an attempt in hardware that has
// been undone, or hardware::kStarted where there was none.
extern "C" Actions tandem_begin_outermost(std::uint32_t properties, Thread *thread,
                                          std::uint32_t status) noexcept;

// Begins any transaction, from registers saved on the caller's stack.
extern "C" Actions tandem_begin(std::uint32_t properties, const JumpBuffer *jump) noexcept;

// Ends the innermost transaction. Restarts the outermost one, which does not return, where that
// cannot commit.
void commit(Thread &thread) noexcept;

// Cancels the innermost transaction, or all with `outermost`.
[[noreturn]] void cancel(Thread &thread, bool outermost) noexcept;

// Undoes everything and runs the outermost transaction again.
[[noreturn]] void restart(Thread &thread, Reason reason) noexcept;

// Afterwards the transaction is serial and cannot be undone. May restart it first. `cause`: for the
// profile.
void become_irrevocable(Thread &thread, profile::SerialCause cause) noexcept;

// There is no memory for what the calling thread's transaction has to remember: it runs again,
// serially and irrevocably, which takes none. Returns where it cannot: there is none, or it is
// irrevocable.
void run_without_logs() noexcept;

// A number that no other transaction of the process has.
std::uint64_t identity(const Thread &thread) noexcept;

// The calling thread's, inside a transaction; anything else ends the process. `call`: who asks.
Thread &expect_transaction(const char *call) noexcept;

// Around fork: no other thread is in a transaction.
void prepare_fork() noexcept;
void after_fork_in_parent() noexcept;
void after_fork_in_child() noexcept;

} // namespace tandem::transaction
