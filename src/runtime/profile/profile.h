// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profiler's side of the engine: what happened in transactions, counted per thread and section
// (TANDEM_PROFILE=FILE, docs/formats/profile.md). An execution that is not measured, which is every
// one of a process that is not profiled, pays a test of Thread::profile on slow paths and nothing
// on fast ones.
//
// Threads: every function but those for the process works on the calling thread's own counters.
// Whoever writes the profile first closes it, then waits until no thread is inside a function of
// this file: afterwards no counter changes.
#pragma once

#include "runtime/processor.h"
#include "runtime/thread/thread.h"

#include <cstddef>
#include <cstdint>

// Of functions that hot code calls in a process that is profiled, and must not pay for in another:
// they save all registers, so that the caller keeps its own where it had them.
#define TANDEM_PROFILE_HOOK [[gnu::cold, gnu::noinline, TANDEM_PRESERVE_MOST]]

namespace tandem::profile {

// Why an attempt was undone; the names are docs/formats/profile.md's.
enum class Cause : std::uint8_t {
  validation,
  locked,
  killed,
  colour_taken,
  serial_pending,
  irrevocable_reached,
  hardware_conflict,
  hardware_capacity,
  hardware_other,
  retry,
  cancel,
  other_lock
};

// Why an attempt runs serially or irrevocably.
enum class SerialCause : std::uint8_t {
  irrevocable_begin,
  irrevocable_call,
  requested,
  retries,
  algorithm,
  memory // there is none for a log
};

// --- the process

// Reads TANDEM_PROFILE. Where the file cannot be written, ends the process with status 2.
void prepare_process() noexcept;
// The profile's file is the parent's; the child starts with a profile of its own.
void after_fork_in_child() noexcept;

// --- a thread

// Gives a thread that is about to have transactions its counters, where the process is profiled.
void prepare_thread(Thread &thread) noexcept;

// Whether the execution that begins in a process that is profiled, outside of all others, is
// measured: Thread::profile is set, or null. The first kMeasuredFirst of a section in a thread are,
// then one of Settings::profile_period on average, at random distances; it stands for those since
// the last one in all counts and times. Of the others is known how they began, for those that lose
// to them. thread.jump, and descriptor or section, are set; the second is for what has none of
// these.
inline constexpr std::uint32_t kMeasuredFirst = 256;
bool is_measured_next(Thread &thread) noexcept;
bool is_measured_next(Thread &thread, const tandem_section &section) noexcept;

// An outermost transaction begins its first attempt; thread.jump is set.
TANDEM_PROFILE_HOOK void begin(Thread &thread) noexcept;
// A section that is one instruction runs, outside of transactions.
void count_single(Thread &thread, const tandem_section &section) noexcept;
// The present attempt is undone, and whether another one follows.
TANDEM_PROFILE_HOOK void abort(Thread &thread, Cause cause) noexcept;
TANDEM_PROFILE_HOOK void again(Thread &thread) noexcept;
// It runs serially or irrevocably, because of `cause`; with the calls that lead here where somebody
// asked for it.
TANDEM_PROFILE_HOOK void serialise(Thread &thread, SerialCause cause) noexcept;
// It cannot be undone from now on.
TANDEM_PROFILE_HOOK void irrevocable(Thread &thread) noexcept;

// What is known about an attempt that is about to commit; its logs are still there.
struct Ending {
  std::uint32_t section;
  std::uint64_t reads;
  std::uint64_t writes;
  std::uint64_t aborted; // attempts of the same execution before this one
  std::uint64_t began;   // ticks
  std::uint64_t weight;  // executions that it stands for
};
Ending before_commit(Thread &thread) noexcept;
void after_commit(Thread &thread, const Ending &ending) noexcept;

// A commit gets `time`, before others can see what it wrote: so that who fails because of it can
// say whose it was. Measured or not.
TANDEM_PROFILE_HOOK void publish(Thread &thread, std::uint64_t time) noexcept;

// What an abort that may follow is about: memory, the access (a return address into the program, or
// null), and the transaction that won.
TANDEM_PROFILE_HOOK void blame_access(Thread &thread, const void *address,
                                      const void *from) noexcept;
TANDEM_PROFILE_HOOK void blame_holder(Thread &thread, const Thread &holder) noexcept;
// The memory changed in a commit at `time`; where that is not exact, in one of those after `since`.
void blame_commit(Thread &thread, std::uint64_t time) noexcept;
void blame_commit_since(Thread &thread, const void *address, std::uint64_t since) noexcept;
// `thread`, measured or not, has asked `holder` to restart.
TANDEM_PROFILE_HOOK void name_killer(Thread &thread, Thread &holder) noexcept;

// The call at `site` has allocated `memory` in a transaction.
TANDEM_PROFILE_HOOK void name_allocation(void *memory, const void *site) noexcept;

// A read that was logged: remembered with its address, in the order of Thread::reads.
TANDEM_PROFILE_HOOK void note_read(Thread &thread, const void *address, const void *from) noexcept;
// The read at position `index` of Thread::reads is the one that failed.
TANDEM_PROFILE_HOOK void blame_read(Thread &thread, std::size_t index) noexcept;

// It waits for a colour from here on, until stop_waiting or the end of the attempt. `name` lives as
// long as the process.
TANDEM_PROFILE_HOOK void wait_for_colour(Thread &thread, const char *name) noexcept;
TANDEM_PROFILE_HOOK void stop_waiting(Thread &thread) noexcept;

// The calling thread waits from construction on, until the end of the scope or of the attempt. One
// within another changes nothing.
class Waiting {
public:
  explicit Waiting(Thread &thread) noexcept : Waiting(&thread) {}
  // Null: a thread that has had no transaction.
  explicit Waiting(Thread *thread) noexcept {
    if (thread != nullptr && is_profiled(*thread)) [[unlikely]]
      start(*thread);
  }
  Waiting(const Waiting &) = delete;
  Waiting &operator=(const Waiting &) = delete;
  ~Waiting() {
    if (waits_ != nullptr) [[unlikely]]
      stop();
  }

private:
  void start(Thread &thread) noexcept;
  void stop() noexcept;

  Thread *waits_ = nullptr; // since here
};

} // namespace tandem::profile
