// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/transaction/transaction.h"

#include "runtime/abi/itm.h"
#include "runtime/actions/actions.h"
#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/norec.h"
#include "runtime/algorithms/orec.h"
#include "runtime/fatal.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/profile/profile.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/clock.h"
#include "runtime/sync/futex.h"
#include "runtime/sync/quiescence.h"
#include "runtime/transaction/jump.h"
#include "runtime/wait/wait.h"

#include <sys/single_threaded.h>
#include <x86intrin.h>

namespace tandem::transaction {
namespace {

using sync::global_clock;

// One unit of contention::delay, in ticks of the time-stamp counter: the shortest delays are then
// some tens of nanoseconds, a few cache misses.
constexpr std::uint64_t kTicksPerUnit = 8;
// A delay above this gives the processor away meanwhile.
constexpr std::uint64_t kTicksBeforeYield = 50'000;

// Signals of a transaction that begins: kSignalProfile, without a branch, where the process is
// profiled.
static_assert(kSignalProfile == kSpecialProfile << 1);
std::uint32_t first_signals() noexcept { return (settings.special & kSpecialProfile) << 1; }

// Depth of an outermost transaction.
std::uint32_t first_depth(const Thread &thread) noexcept {
  return thread.profile == nullptr ? 1 : kProfiledDepth;
}

profile::Cause cause_of(Reason reason) noexcept {
  switch (reason) {
  case Reason::validation:
    return profile::Cause::validation;
  case Reason::conflict:
    return profile::Cause::locked;
  case Reason::killed:
    return profile::Cause::killed;
  case Reason::serial:
    return profile::Cause::serial_pending;
  }
  return profile::Cause::validation;
}

// Frames below the caller's that undoing must not write into: it runs on the stack that it undoes.
constexpr std::uintptr_t kOwnFrames = 4096;

bool is_alone(const Thread &thread) noexcept {
  return thread.mode == Mode::direct || thread.mode == Mode::undo;
}

void set_mode(Thread &thread, Mode mode) noexcept {
  thread.mode = mode;
  switch (mode) {
  case Mode::idle:
  case Mode::direct:
    thread.barriers = &direct_barriers;
    return;
  case Mode::undo:
    thread.barriers = &undo_barriers;
    return;
  case Mode::eager:
    thread.barriers = &eager_barriers;
    return;
  case Mode::lazy:
    thread.barriers = &lazy_barriers;
    return;
  case Mode::norec:
    thread.barriers = &norec_barriers;
    return;
  }
}

Actions code_path(const Thread &thread, std::uint32_t properties) noexcept {
  return thread.mode == Mode::direct && (properties & itm::kUninstrumentedCode) != 0
             ? itm::kRunUninstrumented
             : itm::kRunInstrumented;
}

// The caller has the right to be alone.
Actions run_alone(Thread &thread, bool irrevocable) noexcept {
  thread.irrevocable = irrevocable;
  if (irrevocable && thread.profile != nullptr) [[unlikely]]
    profile::irrevocable(thread);
  const bool direct = irrevocable || (thread.properties & itm::kHasNoAbort) != 0;
  if (!direct) {
    set_mode(thread, Mode::undo);
    return itm::kRunInstrumented | itm::kSaveLiveVariables;
  }
  thread.mode = Mode::direct;
  thread.barriers = &direct_barriers;
  return code_path(thread, thread.properties);
}

// Publishes a mark with the present time and waits while another thread is alone.
template <std::uint64_t now()> [[gnu::always_inline]] inline void join(Thread &thread) noexcept {
  for (;;) {
    const std::uint64_t time = now();
    thread.signals.store(first_signals(), std::memory_order_relaxed);
    // seq_cst: before the load of the word (serial.h), and before the first read (quiescence.h).
    thread.mark->exchange(encode_mark(time));
    if (!serial::taken()) [[likely]] {
      thread.snapshot = time;
      break;
    }
    thread.mark->store(0, std::memory_order_release);
    const profile::Waiting waiting(thread);
    serial::wait_until_free();
  }
  thread.known_quiesced = global_clock.quiesced.load(std::memory_order_acquire);
}

std::uint64_t clock_now() noexcept { return global_clock.now.load(std::memory_order_acquire); }

Actions run_speculatively(Thread &thread) noexcept {
  thread.irrevocable = false;
  switch (settings.algorithm) {
  case Algorithm::norec:
    join<norec::even_time>(thread);
    thread.mode = Mode::norec;
    thread.barriers = &norec_barriers;
    break;
  case Algorithm::eager:
  case Algorithm::lazy:
    join<clock_now>(thread);
    thread.limit = orec::limit_of(thread.snapshot);
    if (thread.restarts == 0)
      thread.contender.started.store(thread.snapshot, std::memory_order_relaxed);
    thread.contender.size.store(0, std::memory_order_relaxed);
    set_mode(thread, settings.algorithm == Algorithm::eager ? Mode::eager : Mode::lazy);
    break;
  case Algorithm::serial:
    fatal("a speculative transaction under the algorithm serial");
  }
  return itm::kRunInstrumented | itm::kSaveLiveVariables;
}

// The process has no other thread: nothing to wait for, and no atomic instruction. The word is set
// all the same, for threads that the transaction itself creates.
Actions run_single(Thread &thread) noexcept {
  serial::word.value.store(serial::kHeld, std::memory_order_relaxed);
  return run_alone(thread, (thread.properties & itm::kDoesGoIrrevocable) != 0);
}

void leave_alone() noexcept {
  if (__libc_single_threaded)
    serial::word.value.store(serial::kFree, std::memory_order_relaxed);
  else
    serial::release();
}

// Plays the undo log back to position `size`. `frames_end`: the stack pointer of the begin; what is
// below belongs to functions that the transaction called, and is dead or is this function's.
void play_back(Thread &thread, std::size_t size, std::uintptr_t frames_end) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - kOwnFrames;
  while (thread.undo.size() > size) {
    const memory::CellValue old = thread.undo.pop();
    if (old.cell.address() - here >= frames_end - here)
      old.cell.store(old.value);
  }
}

// Everything but who is alone: as if the outermost transaction had not begun.
void roll_back(Thread &thread) noexcept {
  play_back(thread, 0, thread.jump.stack);
  switch (thread.mode) {
  case Mode::eager:
    orec::roll_back_eager(thread);
    break;
  case Mode::lazy:
    orec::roll_back_lazy(thread);
    break;
  case Mode::norec:
    norec::roll_back(thread);
    break;
  case Mode::idle:
  case Mode::direct:
  case Mode::undo:
    break;
  }
  // Release: what this one read and undid is over for whoever waits for the mark.
  thread.mark->store(0, std::memory_order_release);
  actions::roll_back(thread, 0, 0);
  exceptions::roll_back(thread, 0, thread.uncaught_before);
  thread.checkpoints.clear();
  thread.fresh_bytes = 0;
  thread.throwing = false;
  thread.depth = first_depth(thread);
}

void acquire_alone(Thread &thread) noexcept {
  const profile::Waiting waiting(thread);
  ++thread.serialised;
  serial::acquire(&thread);
}

[[noreturn]] void jump_to_begin(Thread &thread, Actions actions) noexcept {
  ++thread.transactions;
  ++thread.undone;
  jump((actions & ~itm::kSaveLiveVariables) | itm::kRestoreLiveVariables, thread.jump);
}

// Runs the outermost transaction again, alone.
[[noreturn]] void restart_alone(Thread &thread, bool irrevocable) noexcept {
  roll_back(thread);
  acquire_alone(thread);
  if (thread.profile != nullptr) [[unlikely]]
    profile::again(thread);
  jump_to_begin(thread, run_alone(thread, irrevocable));
}

void back_off(Thread &thread) noexcept {
  const profile::Waiting waiting(thread);
  const std::uint64_t ticks =
      contention::delay(thread.backoff, thread.restarts - 1, thread.random) * kTicksPerUnit;
  const std::uint64_t start = __rdtsc();
  while (__rdtsc() - start < ticks) {
    if (ticks > kTicksBeforeYield)
      ::sched_yield();
    else
      sync::pause();
  }
}

[[gnu::noinline]] void forget_restarts(Thread &thread) noexcept {
  thread.restarts = 0;
  thread.contender.restarts.store(0, std::memory_order_relaxed);
  thread.contender.priority.store(0, std::memory_order_relaxed);
  thread.contender.deferred.store(0, std::memory_order_relaxed);
}

// After the outermost transaction has committed: a read-only one at its snapshot.
[[gnu::always_inline]] inline void leave(Thread &thread, std::uint64_t time) noexcept {
  // Release: this transaction is over for whoever waits for the mark.
  thread.mark->store(0, std::memory_order_release);
  if (thread.known_quiesced < time)
    sync::quiesce(time);
}

bool try_upgrade(Thread &thread) noexcept {
  const profile::Waiting waiting(thread);
  return serial::try_upgrade(thread);
}

// Makes what the transaction has done so far permanent; no other one is left. False where an
// earlier commit changed what this one has read.
bool commit_in_place(Thread &thread) noexcept {
  std::uint64_t time = 0;
  switch (thread.mode) {
  case Mode::eager:
    return orec::extend(thread) && orec::commit_eager(thread, time);
  case Mode::lazy:
    return orec::extend(thread) && orec::commit_lazy(thread, time);
  case Mode::norec:
    return norec::extend(thread) && norec::commit(thread, time);
  case Mode::idle:
  case Mode::direct:
  case Mode::undo:
    break;
  }
  fatal("a transaction that is not speculative is made permanent");
}

void commit_nested(Thread &thread) noexcept {
  --thread.depth;
  if (thread.checkpoints.empty() || thread.checkpoints.back().depth != thread.depth)
    return; // flat
  const Checkpoint checkpoint = thread.checkpoints.pop();
  if (checkpoint.mode != thread.mode) {
    // The outer one cannot be undone.
    thread.undo.truncate(checkpoint.undo);
    set_mode(thread, checkpoint.mode);
  }
  if (thread.checkpoints.empty())
    thread.writes.forget_journal();
}

Actions begin_nested(Thread &thread, std::uint32_t properties, const JumpBuffer &from) noexcept {
  if ((properties & itm::kHasNoAbort) != 0) {
    if ((properties & itm::kInstrumentedCode) == 0)
      become_irrevocable(thread, profile::Alone::irrevocable_call);
    ++thread.depth;
    return code_path(thread, properties);
  }
  thread.checkpoints.push({
      .jump = from,
      .undo = thread.undo.size(),
      .journal = thread.writes.journal_size(),
      .user_actions = thread.user_actions.size(),
      .allocations = thread.allocations.size(),
      .depth = thread.depth,
      .caught = thread.caught,
      .uncaught = thread.uncaught != nullptr ? *thread.uncaught : 0,
      .mode = thread.mode,
      .revocable = true,
  });
  ++thread.depth;
  ++thread.transactions;
  ++thread.nested;
  if (thread.mode == Mode::direct)
    set_mode(thread, Mode::undo);
  return itm::kRunInstrumented | itm::kSaveLiveVariables;
}

[[noreturn]] void cancel_nested(Thread &thread) noexcept {
  const Checkpoint checkpoint = thread.checkpoints.pop();
  if (!checkpoint.revocable)
    fatal("a nested transaction is cancelled after it became irrevocable");
  play_back(thread, checkpoint.undo, checkpoint.jump.stack);
  thread.writes.roll_back(checkpoint.journal);
  actions::roll_back(thread, checkpoint.user_actions, checkpoint.allocations);
  exceptions::roll_back(thread, checkpoint.caught, checkpoint.uncaught);
  if (!thread.throwing)
    thread.fresh_bytes = 0;
  thread.depth = checkpoint.depth;
  set_mode(thread, checkpoint.mode);
  jump(itm::kAbort | itm::kRestoreLiveVariables, checkpoint.jump);
}

} // namespace

void prepare(Thread &thread) noexcept {
  profile::prepare_thread(thread);
  thread.policy = settings.policy;
  thread.backoff = settings.backoff;
  thread.serialise_after = settings.serialise_after;
  thread.depth = 0;
  thread.restarts = 0;
  thread.irrevocable = false;
  thread.caught = 0;
  thread.signals.store(0, std::memory_order_relaxed);
  thread.reads.clear();
  thread.reads.push(nullptr); // orec::kFirstRead
  thread.values.clear();
  thread.writes.clear();
  thread.writes.prepare();
  find_stack(thread);
  thread.owned.clear();
  thread.undo.clear();
  thread.checkpoints.clear();
  thread.user_actions.clear();
  thread.allocations.clear();
  thread.fresh_bytes = 0;
  thread.throwing = false;
  forget_restarts(thread);
  set_mode(thread, Mode::idle);
  exceptions::prepare(thread);
}

namespace {

[[gnu::noinline]] Actions begin_otherwise(Thread &thread) noexcept {
  const bool irrevocable = (thread.properties & itm::kDoesGoIrrevocable) != 0 ||
                           (thread.properties & itm::kInstrumentedCode) == 0;
  if (settings.algorithm != Algorithm::serial && !irrevocable)
    return run_speculatively(thread);
  if (thread.profile != nullptr) [[unlikely]]
    profile::serialise(thread,
                       irrevocable ? profile::Alone::irrevocable_begin : profile::Alone::algorithm);
  acquire_alone(thread);
  return run_alone(thread, irrevocable);
}

[[gnu::noinline, gnu::cold]] Actions begin_profiled(Thread &thread) noexcept {
  thread.depth = kProfiledDepth;
  profile::begin(thread);
  if ((settings.special & kSpecialAlone) != 0 && __libc_single_threaded)
    return run_single(thread);
  return begin_otherwise(thread);
}

} // namespace

// The two begins are called from assembler, which the compiler does not see. The common case, NOrec
// without anything to wait for, is inline and calls nothing; the rest is in tail position.
extern "C" [[gnu::used]] Actions tandem_begin_outermost(std::uint32_t properties,
                                                        Thread *thread) noexcept {
  thread->depth = 1;
  thread->properties = properties;
  ++thread->transactions;
  if (thread->uncaught != nullptr)
    thread->uncaught_before = *thread->uncaught;
  if (const std::uint32_t special = settings.special; special != 0) {
    if ((special & kSpecialProfile) != 0) [[unlikely]]
      return begin_profiled(*thread);
    if (__libc_single_threaded)
      return run_single(*thread);
  }
  if ((properties & (itm::kDoesGoIrrevocable | itm::kInstrumentedCode)) != itm::kInstrumentedCode)
    return begin_otherwise(*thread);
  const std::uint64_t time = clock_now();
  if (settings.algorithm != Algorithm::norec || (time & 1) != 0)
    return settings.algorithm == Algorithm::serial ? begin_otherwise(*thread)
                                                   : run_speculatively(*thread);
  // As join does.
  thread->signals.store(0, std::memory_order_relaxed);
  thread->mark->exchange(encode_mark(time));
  if (serial::taken()) [[unlikely]]
    return begin_otherwise(*thread);
  thread->snapshot = time;
  thread->known_quiesced = global_clock.quiesced.load(std::memory_order_acquire);
  thread->irrevocable = false;
  thread->mode = Mode::norec;
  thread->barriers = &norec_barriers;
  return itm::kRunInstrumented | itm::kSaveLiveVariables;
}

extern "C" [[gnu::used]] Actions tandem_begin(std::uint32_t properties,
                                              const JumpBuffer *from) noexcept {
  Thread &thread = this_thread();
  if (thread.depth != 0)
    return begin_nested(thread, properties, *from);
  thread.jump = *from;
  return tandem_begin_outermost(properties, &thread);
}

namespace {

// The end of a transaction of a process that has one thread.
[[gnu::always_inline]] inline bool commit_single(Thread &thread) noexcept {
  if (!__libc_single_threaded || thread.mode != Mode::direct || thread.depth != 1 ||
      thread.restarts != 0 || actions::pending(thread))
    return false;
  serial::word.value.store(serial::kFree, std::memory_order_relaxed);
  thread.depth = 0;
  thread.mode = Mode::idle;
  thread.undo.clear();
  thread.caught = 0;
  return true;
}

// The common end of a short read: nothing to write, to wait for or to do afterwards. False, and
// nothing is done, where that is not so.
[[gnu::always_inline]] inline bool commit_reads(Thread &thread) noexcept {
  if (thread.depth != 1 || thread.restarts != 0 || thread.known_quiesced < thread.snapshot ||
      actions::pending(thread))
    return false;
  if (thread.mode == Mode::norec && thread.writes.empty())
    thread.values.clear();
  else if (thread.mode == Mode::eager && thread.owned.empty())
    thread.reads.truncate(orec::kFirstRead);
  else
    return false;
  // Release: this transaction is over for whoever waits for the mark.
  thread.mark->store(0, std::memory_order_release);
  thread.depth = 0;
  thread.mode = Mode::idle;
  thread.undo.clear();
  thread.caught = 0;
  return true;
}

void commit_fully(Thread &thread) noexcept;

// A nested transaction, or one that is counted.
[[gnu::noinline]] void commit_deep(Thread &thread) noexcept {
  if (thread.depth != kProfiledDepth)
    return commit_nested(thread);
  const profile::Ending ending = profile::before_commit(thread);
  thread.depth = 1;
  commit_fully(thread);
  profile::after_commit(thread, ending);
}

[[gnu::noinline]] void commit_fully(Thread &thread) noexcept {
  if (thread.depth != 1) [[unlikely]]
    return commit_deep(thread);
  std::uint64_t time = 0;
  switch (thread.mode) {
  case Mode::idle:
    fatal("a transaction commits that is in no mode");
  case Mode::direct:
  case Mode::undo:
    leave_alone();
    if (wait::anybody()) [[unlikely]]
      wait::notify(wait::kEverything); // it has logged nothing
    break;
  case Mode::eager:
    if (!orec::commit_eager(thread, time)) [[unlikely]]
      restart(thread, Reason::validation);
    leave(thread, time);
    break;
  case Mode::lazy:
    if (!orec::commit_lazy(thread, time)) [[unlikely]]
      restart(thread, Reason::validation);
    leave(thread, time);
    break;
  case Mode::norec:
    if (!norec::commit(thread, time)) [[unlikely]]
      restart(thread, Reason::validation);
    leave(thread, time);
    break;
  }
  thread.depth = 0;
  thread.mode = Mode::idle;
  thread.undo.clear();
  thread.caught = 0;
  if (thread.restarts != 0) [[unlikely]]
    forget_restarts(thread);
  if (actions::pending(thread)) [[unlikely]] {
    thread.fresh_bytes = 0;
    thread.throwing = false;
    actions::commit(thread);
  }
}

} // namespace

void commit(Thread &thread) noexcept {
  if (!commit_single(thread) && !commit_reads(thread))
    commit_fully(thread);
}

void cancel(Thread &thread, bool outermost) noexcept {
  if (!outermost && !thread.checkpoints.empty())
    cancel_nested(thread);
  if (thread.mode == Mode::direct)
    fatal("a transaction is cancelled after it became irrevocable");
  const bool alone = is_alone(thread);
  if (thread.profile != nullptr) [[unlikely]]
    profile::abort(thread, profile::Cause::cancel);
  roll_back(thread);
  if (alone)
    leave_alone();
  else if (thread.known_quiesced < thread.snapshot)
    sync::quiesce(thread.snapshot); // what follows may rely on what the transaction read
  thread.depth = 0;
  thread.mode = Mode::idle;
  forget_restarts(thread);
  ++thread.cancelled;
  jump(itm::kAbort | itm::kRestoreLiveVariables, thread.jump);
}

void restart(Thread &thread, Reason reason) noexcept {
  if (thread.profile != nullptr) [[unlikely]]
    profile::abort(thread, cause_of(reason));
  thread.contender.priority.fetch_add(thread.contender.size.load(std::memory_order_relaxed),
                                      std::memory_order_relaxed);
  if (reason != Reason::serial) {
    ++thread.restarts;
    thread.contender.restarts.store(thread.restarts, std::memory_order_relaxed);
  }
  if (thread.restarts >= thread.serialise_after) {
    if (thread.profile != nullptr) [[unlikely]]
      profile::serialise(thread, profile::Alone::retries);
    restart_alone(thread, false);
  }
  roll_back(thread);
  if (reason != Reason::serial)
    back_off(thread);
  if (thread.profile != nullptr) [[unlikely]]
    profile::again(thread);
  jump_to_begin(thread, run_speculatively(thread));
}

namespace {

// What the transaction waits for, and whether it still is as it was read. Afterwards writers that
// change it wake this thread.
bool announce_wait(Thread &thread, std::uint64_t interest) noexcept {
  if (is_alone(thread)) {
    wait::announce(thread, interest != 0 ? interest : wait::kEverything);
    return true;
  }
  const bool norec = thread.mode == Mode::norec;
  if (interest == 0)
    interest = norec ? norec::interest(thread) : orec::interest(thread);
  wait::announce(thread, interest);
  return norec ? norec::extend(thread) : orec::extend(thread);
}

// Begins an outermost transaction that has been undone, by any way that suits now.
Actions begin_again(Thread &thread) noexcept {
  if ((settings.special & kSpecialAlone) != 0 && __libc_single_threaded)
    return run_single(thread);
  if (settings.algorithm != Algorithm::serial)
    return run_speculatively(thread);
  acquire_alone(thread);
  return run_alone(thread, false);
}

} // namespace

void retry(Thread &thread, std::uint64_t interest) noexcept {
  if (thread.mode == Mode::direct)
    fatal("a transaction waits for a change after it became irrevocable, or where it cannot be "
          "undone");
  const bool current = announce_wait(thread, interest);
  const bool alone = is_alone(thread);
  if (thread.profile != nullptr) [[unlikely]]
    profile::abort(thread, profile::Cause::retry);
  roll_back(thread);
  if (alone)
    leave_alone();
  ++thread.retried;
  if (current) {
    const profile::Waiting waiting(thread);
    wait::sleep(thread);
  }
  wait::forget(thread);
  forget_restarts(thread);
  if (thread.profile != nullptr) [[unlikely]]
    profile::again(thread);
  jump_to_begin(thread, begin_again(thread));
}

void become_irrevocable(Thread &thread, profile::Alone cause) noexcept {
  if (thread.irrevocable)
    return;
  if (thread.profile != nullptr) [[unlikely]]
    profile::serialise(thread, cause);
  if (!is_alone(thread)) {
    // Who has made NOrec's clock odd must not wait for others: they may be waiting for it.
    if ((thread.mode == Mode::norec && norec::owns_clock(thread)) || !try_upgrade(thread)) {
      if (thread.profile != nullptr) [[unlikely]]
        profile::abort(thread, profile::Cause::irrevocable_reached);
      restart_alone(thread, true);
    }
    ++thread.serialised;
    if (!commit_in_place(thread)) {
      if (thread.profile != nullptr) [[unlikely]] {
        profile::abort(thread, profile::Cause::validation);
        profile::again(thread);
      }
      roll_back(thread);
      jump_to_begin(thread, run_alone(thread, true));
    }
    thread.mark->store(0, std::memory_order_release);
  }
  thread.undo.clear();
  thread.irrevocable = true;
  if (thread.profile != nullptr) [[unlikely]]
    profile::irrevocable(thread);
  for (Checkpoint &checkpoint : thread.checkpoints) {
    checkpoint.revocable = false;
    checkpoint.mode = Mode::direct;
  }
  set_mode(thread, Mode::direct);
}

std::uint64_t identity(const Thread &thread) noexcept {
  // Threads come from a pool, so the count goes on when another thread has the Thread.
  return thread.identity << 48 | (thread.transactions.load() + itm::kNoTransaction);
}

Thread &expect_transaction(const char *call) noexcept {
  Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0) [[unlikely]]
    fatal("%s is called outside a transaction", call);
  return *thread;
}

namespace {
__thread bool acquired_for_fork __attribute__((tls_model("initial-exec"))) = false;
} // namespace

void prepare_fork() noexcept {
  // Inside a transaction only one that is alone may fork; it is what this waits for already.
  if (current_thread != nullptr && current_thread->depth != 0)
    return;
  serial::acquire(current_thread);
  acquired_for_fork = true;
}

void after_fork_in_parent() noexcept {
  if (acquired_for_fork)
    serial::release();
  acquired_for_fork = false;
}

void after_fork_in_child() noexcept {
  forget_other_threads();
  profile::after_fork_in_child();
  // Whoever slept on the word is not in this process.
  const bool inside_alone = current_thread != nullptr && is_alone(*current_thread);
  serial::word.value.store(inside_alone ? serial::kHeld : serial::kFree, std::memory_order_relaxed);
  acquired_for_fork = false;
}

} // namespace tandem::transaction
