// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/transaction/steps.h"

#include "runtime/actions/actions.h"
#include "runtime/processor.h"
#include "runtime/sync/futex.h"
#include "runtime/transaction/jump.h"

#include <algorithm>

namespace tandem::transaction {
namespace {

// One unit of contention::delay, in ticks of the time-stamp counter: the shortest delays are then
// some tens of nanoseconds, a few cache misses.
constexpr std::uint64_t kTicksPerUnit = 8;
// What is left of a delay, above this, is slept: more than the shortest sleep. To yield would mean
// to queue behind all others on a busy machine. An eighth of a nanosecond for each tick is less
// than a tick on every processor.
constexpr std::uint64_t kTicksBeforeSleep = 200'000;

// So many restarts in a row are no bad luck: the delays that the user chose are too short for how
// long these transactions take, and many threads then restart each other for ever. From here on
// they are at least those of exponential back-off. Half of GCC's row before it serialises (100).
constexpr std::uint32_t kLongRow = 50;

// Where nothing runs serially before more than kManyRestarts, a row that has taken so many ticks,
// about a millisecond, is long as well, however few its restarts are: what the transaction needs
// has to be free while it has a processor, and on a busy machine that comes late. Its delays grow
// with the time that it has taken so far, up to about a tenth of a second.
constexpr std::uint32_t kManyRestarts = 1000;
constexpr std::uint64_t kLongRowTicks = 2'000'000;
constexpr std::uint64_t kLongestDelayTicks = 200'000'000;

// Frames below the caller's that undoing must not write into: it runs on the stack that it undoes.
constexpr std::uintptr_t kOwnFrames = 4096;

// The shortest delay of a row that nothing but delays will end: a tenth of its time so far to all
// of it, at random.
std::uint64_t ticks_in_endless_row(Thread &thread, std::uint64_t now) noexcept {
  if (thread.restarts <= 1)
    thread.row_start = now;
  const std::uint64_t row = now - thread.row_start;
  if (row < kLongRowTicks)
    return 0;
  return std::min(row / contention::kBackoffSeeds * contention::seed_of(thread.random),
                  kLongestDelayTicks);
}

} // namespace

void play_back(Thread &thread, std::size_t size, std::uintptr_t frames_end) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - kOwnFrames;
  while (thread.undo.size() > size) {
    const memory::CellValue old = thread.undo.pop();
    if (old.cell.address() - here >= frames_end - here)
      old.cell.store(old.value);
  }
}

void roll_back(Thread &thread) noexcept {
  const bool shares = !is_serial(thread) && thread.mode != Mode::idle && !norec::not_joined(thread);
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
  case Mode::two_phase:
    two_phase::roll_back(thread);
    break;
  case Mode::idle:
  case Mode::direct:
  case Mode::undo:
  case Mode::hardware:
    break;
  case Mode::guarded_by:
    thread.only_guarded_by = false;
    break;
  }
  if (shares)
    leave_shared();
  guarded_by::leave(thread);
  // Release: what this one read and undid is over for whoever waits for the mark.
  thread.mark->store(0, std::memory_order_release);
  if (thread.guard_count != 0)
    guarded::clear_marks(thread);
  actions::roll_back(thread, 0, 0);
  exceptions::roll_back(thread, 0, thread.uncaught_before);
  thread.checkpoints.clear();
  additions::forget(thread);
  thread.fresh_bytes = 0;
  thread.throwing = false;
  thread.depth = first_depth(thread);
}

void acquire_serial(Thread &thread) noexcept {
  hardware::leave_foreign();
  const profile::Waiting waiting(thread);
  ++thread.serialised;
  if (thread.guard_count != 0)
    return guarded::acquire_serial(thread);
  serial::acquire(&thread);
}

void jump_to_begin(Thread &thread, Actions actions) noexcept {
  ++thread.transactions;
  ++thread.undone;
  jump((actions & ~itm::kSaveLiveVariables) | itm::kRestoreLiveVariables, thread.jump);
}

void restart_serially(Thread &thread, bool irrevocable) noexcept {
  roll_back(thread);
  acquire_serial(thread);
  if (is_profiled(thread)) [[unlikely]]
    profile::again(thread);
  jump_to_begin(thread, run_serially(thread, irrevocable));
}

void back_off(Thread &thread) noexcept { back_off(thread, thread.restarts - 1); }

void back_off(Thread &thread, std::uint32_t waits) noexcept {
  const profile::Waiting waiting(thread);
  std::uint64_t units = contention::delay(thread.backoff, waits, thread.random);
  if (waits >= kLongRow) [[unlikely]]
    units = std::max(units, contention::delay(contention::Backoff::exponential, waits - kLongRow,
                                              thread.random));
  const std::uint64_t start = processor::ticks();
  std::uint64_t ticks = units * kTicksPerUnit;
  if (thread.serialise_after > kManyRestarts) [[unlikely]]
    ticks = std::max(ticks, ticks_in_endless_row(thread, start));
  for (std::uint64_t past = 0; past < ticks; past = processor::ticks() - start) {
    if (ticks - past > kTicksBeforeSleep)
      sync::sleep_for(std::max<std::int64_t>(sync::Patience::kShortestSleepNs,
                                             static_cast<std::int64_t>((ticks - past) / 8)));
    else
      sync::pause();
  }
}

[[gnu::noinline]] void forget_restarts(Thread &thread) noexcept {
  thread.restarts = 0;
  thread.contender.restarts.store(0, std::memory_order_relaxed);
  thread.contender.priority.store(0, std::memory_order_relaxed);
  thread.contender.deferred.store(0, std::memory_order_relaxed);
  if ((settings.special & kSpecialHourglass) != 0)
    hourglass::open(thread);
}

Actions run_speculatively_again(Thread &thread) noexcept {
  return thread.guard_count == 0 ? run_speculatively<false>(thread)
                                 : run_speculatively<true>(thread);
}

} // namespace tandem::transaction
