// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How an outermost transaction begins: serially, by the algorithm, or in place with locks that
// guard their data; and where the assembler enters.
#include "runtime/transaction/transaction.h"

#include "runtime/abi/itm.h"
#include "runtime/algorithms/automatic.h"
#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/norec.h"
#include "runtime/algorithms/orec.h"
#include "runtime/algorithms/two_phase.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/profile/profile.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/clock.h"
#include "runtime/transaction/hardware.h"
#include "runtime/transaction/steps.h"

#include <sys/single_threaded.h>

namespace tandem::transaction {

using sync::global_clock;

namespace {

[[gnu::noinline]] Actions begin_otherwise(Thread &thread) noexcept {
  const bool irrevocable = (thread.properties & itm::kDoesGoIrrevocable) != 0 ||
                           (thread.properties & itm::kInstrumentedCode) == 0;
  if (settings.algorithm != Algorithm::serial && !irrevocable)
    return begin_speculatively<false>(thread);
  // `auto` may have changed the algorithm since the mark was set for another one.
  thread.mark->store(0, std::memory_order_release);
  if (is_profiled(thread)) [[unlikely]]
    profile::serialise(thread, irrevocable ? profile::SerialCause::irrevocable_begin
                                           : profile::SerialCause::algorithm);
  acquire_serial(thread);
  return run_serially(thread, irrevocable);
}

// The common begin of a first attempt, by NOrec, where it joins later.
[[gnu::always_inline]] inline Actions begin_not_joined(Thread &thread) noexcept {
  thread.signals.store(0, std::memory_order_relaxed);
  thread.irrevocable = false;
  norec::start_not_joined(thread);
  return itm::kRunInstrumented | itm::kSaveLiveVariables;
}

// The same where it joins, with nothing to wait for; as join does.
template <Algorithm kAlgorithm>
[[gnu::always_inline]] inline Actions begin_by(Thread &thread, std::uint64_t time) noexcept {
  thread.signals.store(0, std::memory_order_relaxed);
  thread.mark->exchange(encode_mark(time));
  if (serial::taken() || settings.algorithm.load(std::memory_order_relaxed) != kAlgorithm)
      [[unlikely]]
    return begin_otherwise(thread);
  thread.snapshot = time;
  thread.known_quiesced = global_clock.quiesced.load(std::memory_order_acquire);
  thread.irrevocable = false;
  if constexpr (kAlgorithm == Algorithm::norec) {
    norec::start_joined(thread);
  } else if constexpr (kAlgorithm == Algorithm::eager) {
    thread.limit = orec::limit_of(time);
    thread.contender.started.store(time, std::memory_order_relaxed);
    thread.contender.size.store(0, std::memory_order_relaxed);
    thread.mode = Mode::eager;
    thread.barriers = &eager_barriers;
  } else {
    static_assert(kAlgorithm == Algorithm::two_phase);
    thread.limit = two_phase::bit_of(thread.identity);
    thread.contender.started.store(kNotStarted, std::memory_order_relaxed);
    thread.contender.size.store(0, std::memory_order_relaxed);
    thread.mode = Mode::two_phase;
    thread.barriers = &two_phase_barriers;
  }
  return itm::kRunInstrumented | itm::kSaveLiveVariables;
}

[[gnu::noinline]] Actions begin_joining(Thread &thread, Algorithm algorithm) noexcept {
  if (algorithm == Algorithm::eager)
    return begin_by<Algorithm::eager>(thread, clock_now());
  if (algorithm == Algorithm::two_phase)
    return begin_by<Algorithm::two_phase>(thread, no_clock());
  if (algorithm == Algorithm::htm)
    return begin_in_hardware(thread);
  return algorithm == Algorithm::serial ? begin_otherwise(thread)
                                        : run_speculatively<false>(thread);
}

[[gnu::noinline]] Actions begin_single(Thread &thread) noexcept { return run_single(thread); }

// One that has code for locks that guard their data: without the algorithm's logs and its clock. 0:
// it does not begin so.
[[gnu::noinline]] Actions begin_guarded_by(Thread &thread) noexcept {
  if (!guarded_by::begins_so(thread))
    return 0;
  thread.signals.store(first_signals(thread), std::memory_order_relaxed);
  // seq_cst: before the load of the serial word. Nobody waits for it to look at the clock.
  thread.mark->exchange(kMarkNewest);
  if (serial::taken() || !guarded_by::looks_at_words(settings.algorithm)) [[unlikely]] {
    thread.mark->store(0, std::memory_order_release);
    return 0;
  }
  thread.snapshot = 0;
  thread.known_quiesced = 0;
  thread.irrevocable = false;
  thread.only_guarded_by = true;
  thread.mode = Mode::guarded_by;
  thread.barriers = &undo_barriers;
  return itm::kRunInstrumented | itm::kSaveLiveVariables | itm::kRunGuardedBy;
}

Actions begin_unmeasured(Thread &thread) noexcept;

[[gnu::noinline, gnu::cold]] Actions begin_profiled(Thread &thread) noexcept {
  if (!profile::is_measured_next(thread)) [[likely]]
    return begin_unmeasured(thread);
  thread.depth = kSpecialDepth;
  profile::begin(thread);
  if ((settings.special & kSpecialSerial) != 0 && __libc_single_threaded)
    return run_single(thread);
  if ((thread.properties & itm::kHasGuardedByCode) != 0 &&
      (settings.special & (kSpecialHourglass | kSpecialReadersWriter)) == 0)
    if (const Actions actions = begin_guarded_by(thread); actions != 0)
      return actions;
  return begin_otherwise(thread);
}

} // namespace

namespace {

// What settings.special asks of a begin, but for a look at the algorithms; then the begin.
[[gnu::always_inline]] inline Actions begin_first(Thread &thread, std::uint32_t special) noexcept {
  if (special != 0) {
    if ((special & kSpecialProfile) != 0) [[unlikely]]
      return begin_profiled(thread);
    if ((special & kSpecialSerial) != 0 && __libc_single_threaded)
      return begin_single(thread);
    if ((special & (kSpecialHourglass | kSpecialReadersWriter)) != 0) [[unlikely]] {
      thread.depth = first_depth(thread);
      return begin_otherwise(thread);
    }
  }
  if ((thread.properties & (itm::kDoesGoIrrevocable | itm::kInstrumentedCode |
                            itm::kHasGuardedByCode)) != itm::kInstrumentedCode) {
    if ((thread.properties & itm::kHasGuardedByCode) == 0)
      return begin_otherwise(thread);
    if (const Actions actions = begin_guarded_by(thread); actions != 0)
      return actions;
  }
  const Algorithm algorithm = settings.algorithm.load(std::memory_order_relaxed);
  if (algorithm != Algorithm::norec)
    return begin_joining(thread, algorithm);
  if (thread.joins_late)
    return begin_not_joined(thread);
  const std::uint64_t time = clock_now();
  return (time & 1) == 0 ? begin_by<Algorithm::norec>(thread, time)
                         : begin_joining(thread, algorithm);
}

// As if the process were not profiled, but for the commit, which others may lose to.
[[gnu::noinline]] Actions begin_unmeasured(Thread &thread) noexcept {
  thread.depth = kSpecialDepth;
  return begin_first(thread, settings.special & ~kSpecialProfile);
}

// One begin of many. A function of its own, so that the others save no registers for its call.
[[gnu::noinline]] Actions begin_after_look(Thread &thread) noexcept {
  automatic::look(thread, thread.descriptor, true);
  return begin_first(thread, settings.special);
}

} // namespace

// The two begins are called from assembler, which the compiler does not see. The common case, NOrec
// without anything to wait for, is inline and calls nothing; the rest is in tail position.
extern "C" [[gnu::used]] Actions tandem_begin_outermost(std::uint32_t properties, Thread *thread,
                                                        std::uint32_t status) noexcept {
  thread->depth = 1;
  thread->hardware_ready = kNotReady;
  if (thread->uncaught != nullptr)
    thread->uncaught_before = *thread->uncaught;
  thread->properties = properties;
  if (status != hardware::kStarted) [[unlikely]]
    return begin_again_in_hardware(*thread, status);
  ++thread->transactions;
  const std::uint32_t special = settings.special;
  if ((special & kSpecialAdapt) != 0 && automatic::due(*thread)) [[unlikely]]
    return begin_after_look(*thread);
  return begin_first(*thread, special);
}

extern "C" [[gnu::used]] Actions tandem_begin(std::uint32_t properties,
                                              const JumpBuffer *from) noexcept {
  Thread &thread = this_thread();
  refuse_stale(thread);
  if (thread.depth != 0) {
    if (thread.coloured) [[unlikely]]
      guarded::exclude_transactions(thread); // what it calls is not known by its colours
    return begin_nested(thread, properties, *from);
  }
  thread.jump = *from;
  return tandem_begin_outermost(properties, &thread, hardware::kStarted);
}

// The same with a descriptor.
extern "C" [[gnu::used]] Actions tandem_begin_section(std::uint32_t properties,
                                                      const tandem_section *section, Thread *thread,
                                                      std::uint32_t status) noexcept {
  if (section->section_class != TANDEM_CLASS_PURE || section->abi_version != TANDEM_ABI_VERSION)
    return guarded::begin(*thread, properties, *section);
  thread->descriptor = section;
  return tandem_begin_outermost(properties, thread, status);
}

extern "C" [[gnu::used]] Actions tandem_begin_section_nested(std::uint32_t properties,
                                                             const tandem_section *section,
                                                             const JumpBuffer *from) noexcept {
  // The way of a thread's very first transaction.
  if (current_thread == nullptr) {
    if ((section->table->flags & TANDEM_TABLE_HTM) != 0 && !settings.chosen)
      want_hardware();
    if (section->kind == TANDEM_KIND_LOCK_REGION)
      automatic::found_section_of_lock();
  }
  Thread &thread = this_thread();
  refuse_stale(thread);
  if (thread.depth != 0) {
    if (section->section_class != TANDEM_CLASS_PURE)
      guarded::adopt(thread, *section);
    return begin_nested(thread, properties, *from);
  }
  thread.jump = *from;
  return tandem_begin_section(properties, section, &thread, hardware::kStarted);
}

} // namespace tandem::transaction
