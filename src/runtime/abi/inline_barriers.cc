// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accesses of transactional clones, compiled to bitcode (barriers.bc) that the pass links into
// programs: the fast paths of norec and eager, from the engine's own templates. All that is not
// common calls libitm.so.1. Invariant: no state here.
//
// What these paths know of the engine is an ABI between a program and the library that it finds
// when it runs: the places below in Thread, and the algorithms' invariants about them. Its version
// is part of the name of the symbol that every such program needs (abi/libitm.map), so that the
// dynamic linker refuses to mix two. Whoever changes an assertion below changes that name.
#include "runtime/abi/inline_barriers.h"

#include "runtime/algorithms/norec.h"
#include "runtime/algorithms/orec.h"
#include "runtime/memory/cell.h"
#include "runtime/thread/thread.h"

#include <cstddef>
#include <cstdint>

using namespace tandem;

namespace {

// Where the state of the process is, seen from a program (algorithms/barriers.h, InLibrary).
struct InProgram {
  static std::atomic<std::uint64_t> &clock(Thread *thread) noexcept { return *thread->clock; }
  static Orec &orec_of(const void *address, Thread *thread) noexcept {
    return thread->orecs[orec::stripe_of(reinterpret_cast<std::uintptr_t>(address))];
  }
  // Below the frame of the function that this is inlined into, also where it uses the red zone.
  // Volatile: it must not move above an allocation on the stack.
  [[gnu::always_inline]] static std::uintptr_t stack() noexcept {
    std::uintptr_t stack;
    __asm__ volatile("leaq -128(%%rsp), %0" : "=r"(stack));
    return stack;
  }
};
using Norec = norec::Quick<InProgram>;
using Eager = orec::Quick<InProgram>;

template <memory::Word U>
[[gnu::always_inline]] inline bool read(const U *address, U &value, Thread *thread) noexcept {
  if (!memory::aligned(address)) [[unlikely]]
    return false;
  if (thread->mode == Mode::norec)
    return Norec::read(address, value, thread);
  return thread->mode == Mode::eager && Eager::read(address, value, thread);
}

template <memory::Word U>
[[gnu::always_inline]] inline bool read_for_write(const U *address, U &value,
                                                  Thread *thread) noexcept {
  if (!memory::aligned(address)) [[unlikely]]
    return false;
  if (thread->mode == Mode::norec)
    return Norec::read(address, value, thread);
  return thread->mode == Mode::eager && Eager::read_for_write(address, value, thread);
}

template <memory::Word U>
[[gnu::always_inline]] inline bool write(U *address, U value, Thread *thread) noexcept {
  if (!memory::aligned(address)) [[unlikely]]
    return false;
  if (thread->mode == Mode::norec)
    return Norec::write(address, value, thread);
  return thread->mode == Mode::eager && Eager::write(address, value, thread);
}

template <memory::Word U>
[[gnu::always_inline]] inline bool add(U *address, U by, Thread *thread) noexcept {
  if (!memory::aligned(address) || thread->puts_off != 0) [[unlikely]]
    return false;
  if (thread->mode == Mode::norec)
    return Norec::add(address, by, thread);
  U value;
  return thread->mode == Mode::eager && Eager::read_for_write(address, value, thread) &&
         Eager::write(address, static_cast<U>(value + by), thread);
}

} // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are types and names
#define TANDEM_INLINE extern "C" __attribute__((visibility("hidden"), always_inline))
#define TANDEM_WIDTH(NAME, TYPE)                                                                   \
  TANDEM_INLINE TYPE _TANDEM_inline_R##NAME(const TYPE *address, void *thread) {                   \
    TYPE value;                                                                                    \
    if (!read(address, value, static_cast<Thread *>(thread))) [[unlikely]]                         \
      return _ITM_R##NAME(address);                                                                \
    return value;                                                                                  \
  }                                                                                                \
  TANDEM_INLINE TYPE _TANDEM_inline_RfW##NAME(const TYPE *address, void *thread) {                 \
    TYPE value;                                                                                    \
    if (!read_for_write(address, value, static_cast<Thread *>(thread))) [[unlikely]]               \
      return _ITM_RfW##NAME(address);                                                              \
    return value;                                                                                  \
  }                                                                                                \
  TANDEM_INLINE void _TANDEM_inline_W##NAME(TYPE *address, TYPE value, void *thread) {             \
    if (!write(address, value, static_cast<Thread *>(thread))) [[unlikely]]                        \
      _ITM_W##NAME(address, value);                                                                \
  }

#define TANDEM_ADD(WIDTH, TYPE)                                                                    \
  TANDEM_INLINE void _TANDEM_inline_add_##WIDTH(TYPE *address, TYPE by, void *thread) {            \
    if (!add(address, by, static_cast<Thread *>(thread))) [[unlikely]]                             \
      _TANDEM_add_##WIDTH(address, by);                                                            \
  }

TANDEM_WIDTH(U1, std::uint8_t)
TANDEM_WIDTH(U2, std::uint16_t)
TANDEM_WIDTH(U4, std::uint32_t)
TANDEM_WIDTH(U8, std::uint64_t)
TANDEM_ADD(4, std::uint32_t)
TANDEM_ADD(8, std::uint64_t)
// NOLINTEND(bugprone-macro-parentheses)

#pragma clang diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(Thread, signals) == 8);
static_assert(offsetof(Thread, mode) == 12);
static_assert(static_cast<int>(Mode::norec) == 5 && static_cast<int>(Mode::eager) == 3);
static_assert(offsetof(Thread, limit) == 24);
static_assert(offsetof(Thread, snapshot) == 32);
static_assert(offsetof(Thread, lock_word) == 40);
static_assert(offsetof(Thread, clock) == 48);
static_assert(offsetof(Thread, orecs) == 56);
static_assert(offsetof(Thread, fresh) == 64);
static_assert(offsetof(Thread, puts_off) == 84);
static_assert(offsetof(Thread, reads) == 88);
static_assert(offsetof(Thread, values) == 120);
static_assert(offsetof(Thread, writes) == 152);
static_assert(sizeof(memory::WriteMap) == 88);
static_assert(sizeof(memory::WriteMap::Entry) == 24);
static_assert(offsetof(Thread, undo) == 272);
static_assert(offsetof(Thread, stack_high) == 312);
static_assert(offsetof(Thread, jump) + offsetof(JumpBuffer, stack) == 320);
static_assert(offsetof(Thread, checkpoints) == 560);
static_assert(orec::kStripeLog2 == 5 && orec::kCount == 1 << 20 && orec::kVersionShift == 4);
