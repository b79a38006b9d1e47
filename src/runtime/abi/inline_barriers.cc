// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accesses of transactional clones, compiled to bitcode (barriers.bc) that the pass links into
// programs, from the engine's own templates. Inline is what NOrec does first: the reads of a
// transaction that has written nothing; and NOrec's and lazy's writes. The undo log of transactions
// that come to no locks but those that guard their data (transaction/guarded_by.h), and begin and
// end of short sections of these (transaction/short.h). All else is in the library, by the table of
// the thread's mode (algorithms/barriers.h, SavingBarriers). Invariant: no state here.
//
// What these paths know of the engine is an ABI between a program and the library that it finds
// when it runs: the places below in Thread, and the algorithms' invariants about them. Its version
// is part of the name of the symbol that every such program needs (abi/libitm.map), so that the
// dynamic linker refuses to mix two. Whoever changes an assertion below changes that name.
#include "runtime/abi/inline_barriers.h"

#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/norec.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/memory/cell.h"
#include "runtime/processor.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/guarded_by.h"
#include "runtime/transaction/short.h"

#include <cstddef>
#include <cstdint>

using namespace tandem;

namespace {

// Where the state of the process is, seen from a program (algorithms/barriers.h, InLibrary).
struct InProgram {
  static std::atomic<std::uint64_t> &clock(Thread *thread) noexcept { return *thread->clock; }
  static std::atomic<std::uint64_t> &waiters(Thread *thread) noexcept {
    return reinterpret_cast<sync::Clock *>(thread->clock)->waiters;
  }
};
using Norec = norec::Quick<InProgram>;

} // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are types and names
#define TANDEM_INLINE extern "C" __attribute__((visibility("hidden"), always_inline))
#define TANDEM_WIDTH(NAME, SAVING, TYPE)                                                           \
  TANDEM_INLINE TYPE _TANDEM_inline_R##NAME(const TYPE *address, void *data) {                     \
    auto *thread = static_cast<Thread *>(data);                                                    \
    TYPE value;                                                                                    \
    if (!Norec::read(address, value, thread)) [[unlikely]]                                         \
      return thread->barriers->SAVING.read(address, thread);                                       \
    return value;                                                                                  \
  }                                                                                                \
  TANDEM_INLINE TYPE _TANDEM_inline_RfW##NAME(const TYPE *address, void *data) {                   \
    auto *thread = static_cast<Thread *>(data);                                                    \
    TYPE value;                                                                                    \
    if (!Norec::read(address, value, thread)) [[unlikely]]                                         \
      return thread->barriers->SAVING.read_for_write(address, thread);                             \
    return value;                                                                                  \
  }                                                                                                \
  TANDEM_INLINE void _TANDEM_inline_W##NAME(TYPE *address, TYPE value, void *data) {               \
    auto *thread = static_cast<Thread *>(data);                                                    \
    if (!Norec::write(address, value, thread)) [[unlikely]]                                        \
      thread->barriers->SAVING.write(address, value, thread);                                      \
  }                                                                                                \
  /* Before a store in Mode::guarded_by. */                                                        \
  [[gnu::noinline, TANDEM_PRESERVE_MOST]] static void log_far_##NAME(const TYPE *address) {        \
    _ITM_L##NAME(address);                                                                         \
  }                                                                                                \
  TANDEM_INLINE void _TANDEM_inline_L##NAME(const TYPE *address, void *data) {                     \
    auto *thread = static_cast<Thread *>(data);                                                    \
    if (thread->undo.full()) [[unlikely]]                                                          \
      return log_far_##NAME(address);                                                              \
    thread->undo.push_unchecked({memory::Cell(address), memory::load(address)});                   \
  }

#define TANDEM_ADD(WIDTH, TYPE)                                                                    \
  [[gnu::noinline, TANDEM_PRESERVE_MOST]] static void add_far_##WIDTH(TYPE *address, TYPE by) {    \
    _TANDEM_add_##WIDTH(address, by);                                                              \
  }                                                                                                \
  TANDEM_INLINE void _TANDEM_inline_add_##WIDTH(TYPE *address, TYPE by, void *data) {              \
    auto *thread = static_cast<Thread *>(data);                                                    \
    if (thread->puts_off != 0 || !Norec::add(address, by, thread)) [[unlikely]]                    \
      add_far_##WIDTH(address, by);                                                                \
  }

namespace {

// What is rare saves all registers.
[[gnu::noinline, TANDEM_PRESERVE_MOST]] std::uint64_t begin_guarded_by_far(std::uint32_t *skipped,
                                                                           const void *lock) {
  return _TANDEM_short_begin_guarded_by(skipped, lock);
}
[[gnu::noinline, TANDEM_PRESERVE_MOST]] void end_guarded_by_far(std::uint64_t how) {
  _TANDEM_short_end_guarded_by(how);
}

} // namespace

TANDEM_INLINE std::uint64_t _TANDEM_inline_short_begin_guarded_by(std::uint32_t *skipped,
                                                                  const void *lock) {
  Thread *thread = current_thread;
  if (thread != nullptr && thread->guarded_by_holder != 0 && thread->depth == 0 &&
      (skipped == nullptr || std::atomic_ref(*skipped).load(std::memory_order_relaxed) == 0))
      [[likely]] {
    guarded_by::Word &word = thread->guarded_by_words[guarded_by::index_of(lock)];
    std::uint64_t free = guarded_by::kFree;
    // seq_cst: before the load of the serial word.
    if (word.value.compare_exchange_strong(free, thread->guarded_by_holder)) [[likely]] {
      if (thread->serial_word->load(std::memory_order_acquire) == serial::kFree) [[likely]]
        return reinterpret_cast<std::uint64_t>(&word);
      word.value.store(guarded_by::kFree, std::memory_order_release);
    }
  }
  return begin_guarded_by_far(skipped, lock);
}
TANDEM_INLINE void _TANDEM_inline_short_end_guarded_by(std::uint64_t how) {
  Thread *thread = current_thread;
  if (how == kShortSingle || InProgram::waiters(thread).load(std::memory_order_relaxed) != 0)
      [[unlikely]]
    return end_guarded_by_far(how);
  ++thread->transactions;
  reinterpret_cast<guarded_by::Word *>(how)->value.store(guarded_by::kFree,
                                                         std::memory_order_release);
}

TANDEM_WIDTH(U1, saving_u1, std::uint8_t)
TANDEM_WIDTH(U2, saving_u2, std::uint16_t)
TANDEM_WIDTH(U4, saving_u4, std::uint32_t)
TANDEM_WIDTH(U8, saving_u8, std::uint64_t)
TANDEM_ADD(4, std::uint32_t)
TANDEM_ADD(8, std::uint64_t)
// NOLINTEND(bugprone-macro-parentheses)

#pragma clang diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(Thread, barriers) == 0);
static_assert(offsetof(Barriers, saving_u1) == 0 && offsetof(Barriers, saving_u2) == 24 &&
              offsetof(Barriers, saving_u4) == 48 && offsetof(Barriers, saving_u8) == 72);
static_assert(offsetof(Thread, snapshot) == 32);
static_assert(offsetof(Thread, clock) == 48);
static_assert(offsetof(Thread, fresh) == 56);
static_assert(offsetof(Thread, puts_off) == 76);
static_assert(offsetof(Thread, quick_end) == 80);
static_assert(offsetof(Thread, values_end) == 88);
static_assert(offsetof(Thread, written) == 96);
static_assert(offsetof(Thread, values) == 136);
static_assert(offsetof(Thread, writes) == 168);
static_assert(sizeof(memory::WriteMap) == 96);
static_assert(offsetof(Thread, undo) == 296);
static_assert(sizeof(memory::WriteMap::Entry) == 24);
static_assert(offsetof(Thread, stack_high) == 328);
static_assert(offsetof(Thread, beyond_stack) == 344);
static_assert(offsetof(Thread, guarded_by_words) == 352);
static_assert(offsetof(Thread, serial_word) == 360);
static_assert(offsetof(Thread, guarded_by_holder) == 368);
static_assert(offsetof(Thread, transactions) == 376);
static_assert(offsetof(sync::Clock, now) == 0 && offsetof(sync::Clock, waiters) == 16);
static_assert(sizeof(guarded_by::Word) == 64 && guarded_by::kCountLog2 == 10 &&
              guarded_by::kFree == 1);
