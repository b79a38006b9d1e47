// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accesses of transactional clones, compiled to bitcode (barriers.bc) that the pass links into
// programs, from the engine's own templates. Inline is what NOrec does first: the reads of a
// transaction that has written nothing; and NOrec's and lazy's writes. All else is in the library,
// by the table of the thread's mode (algorithms/barriers.h, SavingBarriers). Invariant: no state
// here.
//
// What these paths know of the engine is an ABI between a program and the library that it finds
// when it runs: the places below in Thread, and the algorithms' invariants about them. Its version
// is part of the name of the symbol that every such program needs (abi/libitm.map), so that the
// dynamic linker refuses to mix two. Whoever changes an assertion below changes that name.
#include "runtime/abi/inline_barriers.h"

#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/norec.h"
#include "runtime/memory/cell.h"
#include "runtime/thread/thread.h"

#include <cstddef>
#include <cstdint>

using namespace tandem;

namespace {

// Where the state of the process is, seen from a program (algorithms/barriers.h, InLibrary).
struct InProgram {
  static std::atomic<std::uint64_t> &clock(Thread *thread) noexcept { return *thread->clock; }
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
  }

#define TANDEM_ADD(WIDTH, TYPE)                                                                    \
  [[gnu::noinline, clang::preserve_most]] static void add_far_##WIDTH(TYPE *address, TYPE by) {    \
    _TANDEM_add_##WIDTH(address, by);                                                              \
  }                                                                                                \
  TANDEM_INLINE void _TANDEM_inline_add_##WIDTH(TYPE *address, TYPE by, void *data) {              \
    auto *thread = static_cast<Thread *>(data);                                                    \
    if (thread->puts_off != 0 || !Norec::add(address, by, thread)) [[unlikely]]                    \
      add_far_##WIDTH(address, by);                                                                \
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
static_assert(sizeof(memory::WriteMap::Entry) == 24);
static_assert(offsetof(Thread, stack_high) == 328);
static_assert(offsetof(Thread, beyond_stack) == 344);
