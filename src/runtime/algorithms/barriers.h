// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an algorithm is, to the rest of the runtime: functions for the accesses of a transaction, in
// one table per mode. Thread::barriers points to the current mode's; a call of the ABI is one
// indirect jump from there.
#pragma once

#include "runtime/memory/cell.h"
#include "runtime/processor.h"
#include "runtime/sync/clock.h"
#include "runtime/thread/thread.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tandem {

template <memory::Word U> struct WidthBarriers {
  U (*read)(const U *, Thread *);
  U (*read_for_write)(const U *, Thread *); // the transaction will write it
  void (*write)(U *, U, Thread *);
};

// The same for code in programs, behind what is inline there (abi/inline_barriers.cc): addresses
// are aligned, and the functions save their caller's registers, so that the inline path costs it
// none.
template <memory::Word U> struct SavingBarriers {
  U (*read)(const U *, Thread *) TANDEM_PRESERVE_MOST_TYPE;
  U (*read_for_write)(const U *, Thread *) TANDEM_PRESERVE_MOST_TYPE;
  void (*write)(U *, U, Thread *) TANDEM_PRESERVE_MOST_TYPE;
};

struct Barriers {
  SavingBarriers<std::uint8_t> saving_u1;
  SavingBarriers<std::uint16_t> saving_u2;
  SavingBarriers<std::uint32_t> saving_u4;
  SavingBarriers<std::uint64_t> saving_u8;
  WidthBarriers<std::uint8_t> u1;
  WidthBarriers<std::uint16_t> u2;
  WidthBarriers<std::uint32_t> u4;
  WidthBarriers<std::uint64_t> u8;
  // Any width and alignment; the side that is not the transaction's is accessed plainly.
  void (*read_bytes)(void *to, const void *from, std::size_t bytes, Thread *);
  void (*write_bytes)(void *to, const void *from, std::size_t bytes, Thread *);
};

extern const Barriers direct_barriers;
extern const Barriers undo_barriers;
extern const Barriers eager_barriers;
extern const Barriers lazy_barriers;
extern const Barriers norec_barriers;
extern const Barriers two_phase_barriers;

// An algorithm's accesses: static read, read_for_write and write of one aligned word.
template <class A>
concept Accesses = requires(std::uint64_t *address, std::uint64_t value, Thread *thread) {
  { A::template read<std::uint64_t>(address, thread) } -> std::same_as<std::uint64_t>;
  { A::template read_for_write<std::uint64_t>(address, thread) } -> std::same_as<std::uint64_t>;
  { A::template write<std::uint64_t>(address, value, thread) };
};

// Accesses of any width from those of aligned words.
template <Accesses A>
void read_words(void *to, const void *from, std::size_t bytes, Thread *thread) {
  auto *target = static_cast<std::uint8_t *>(to);
  const auto *source = static_cast<const std::uint8_t *>(from);
  while (bytes > 0) {
    const auto *word = reinterpret_cast<const std::uint64_t *>(source);
    std::size_t width = 1;
    if (bytes >= sizeof *word && memory::aligned(word)) {
      const std::uint64_t value = A::template read<std::uint64_t>(word, thread);
      width = sizeof value;
      std::memcpy(target, &value, sizeof value);
    } else {
      *target = A::template read<std::uint8_t>(source, thread);
    }
    target += width;
    source += width;
    bytes -= width;
  }
}

template <Accesses A>
void write_words(void *to, const void *from, std::size_t bytes, Thread *thread) {
  auto *target = static_cast<std::uint8_t *>(to);
  const auto *source = static_cast<const std::uint8_t *>(from);
  while (bytes > 0) {
    auto *word = reinterpret_cast<std::uint64_t *>(target);
    std::size_t width = 1;
    if (bytes >= sizeof *word && memory::aligned(word)) {
      std::uint64_t value;
      width = sizeof value;
      std::memcpy(&value, source, sizeof value);
      A::template write<std::uint64_t>(word, value, thread);
    } else {
      A::template write<std::uint8_t>(target, *source, thread);
    }
    target += width;
    source += width;
    bytes -= width;
  }
}

// An access that is not aligned. Never inlined, and always in tail position, so that the common
// case needs no stack frame.
template <Accesses A, memory::Word U>
[[gnu::noinline]] U read_misaligned(const U *address, Thread *thread) {
  U value;
  read_words<A>(&value, address, sizeof value, thread);
  return value;
}
template <Accesses A, memory::Word U>
[[gnu::noinline]] void write_misaligned(U *address, U value, Thread *thread) {
  write_words<A>(address, &value, sizeof value, thread);
}

// One access of any alignment.
template <Accesses A, memory::Word U>
[[gnu::always_inline]] inline U read_word(const U *address, Thread *thread) {
  if (!memory::aligned(address)) [[unlikely]]
    return read_misaligned<A>(address, thread);
  return A::template read<U>(address, thread);
}
template <Accesses A, memory::Word U>
[[gnu::always_inline]] inline U read_for_write_word(const U *address, Thread *thread) {
  if (!memory::aligned(address)) [[unlikely]]
    return read_misaligned<A>(address, thread);
  return A::template read_for_write<U>(address, thread);
}
template <Accesses A, memory::Word U>
[[gnu::always_inline]] inline void write_word(U *address, U value, Thread *thread) {
  if (!memory::aligned(address)) [[unlikely]]
    return write_misaligned<A>(address, value, thread);
  return A::template write<U>(address, value, thread);
}

// A saving function is the algorithm's fast path, for which few registers are enough, and another
// function behind it, which saves all.

// In each of them: clang 19 aligns the stack, in a preserve_most function that saves nothing, by a
// pop into rcx, which is the caller's. So it has something to save.
[[gnu::always_inline]] inline void save_one() noexcept {
#if defined(__x86_64__)
  __asm__ volatile("" : : : "rcx");
#endif
}

template <Accesses A, memory::Word U>
[[gnu::noinline, TANDEM_PRESERVE_MOST]] U read_far(const U *address, Thread *thread) noexcept {
  return read_word<A>(address, thread);
}
template <Accesses A, memory::Word U>
[[gnu::noinline, TANDEM_PRESERVE_MOST]] U read_for_write_far(const U *address,
                                                             Thread *thread) noexcept {
  return read_for_write_word<A>(address, thread);
}
template <Accesses A, memory::Word U>
[[gnu::noinline, TANDEM_PRESERVE_MOST]] void write_far(U *address, U value,
                                                       Thread *thread) noexcept {
  write_word<A>(address, value, thread);
}

template <Accesses A, memory::Word U>
[[TANDEM_PRESERVE_MOST]] U read_saving(const U *address, Thread *thread) noexcept {
  save_one();
  if constexpr (requires { typename A::Fast; }) {
    U value;
    if (memory::aligned(address) && A::Fast::read(address, value, thread)) [[likely]]
      return value;
  }
  return read_far<A>(address, thread);
}
template <Accesses A, memory::Word U>
[[TANDEM_PRESERVE_MOST]] U read_for_write_saving(const U *address, Thread *thread) noexcept {
  save_one();
  if constexpr (requires { typename A::Fast; }) {
    U value;
    if (memory::aligned(address) && A::Fast::read_for_write(address, value, thread)) [[likely]]
      return value;
  }
  return read_for_write_far<A>(address, thread);
}
template <Accesses A, memory::Word U>
[[TANDEM_PRESERVE_MOST]] void write_saving(U *address, U value, Thread *thread) noexcept {
  save_one();
  if constexpr (requires { typename A::Fast; })
    if (memory::aligned(address) && A::Fast::write(address, value, thread)) [[likely]]
      return;
  write_far<A>(address, value, thread);
}

template <Accesses A, memory::Word U> constexpr SavingBarriers<U> make_saving() {
  return {read_saving<A, U>, read_for_write_saving<A, U>, write_saving<A, U>};
}

template <Accesses A> constexpr Barriers make_barriers() {
  return {
      make_saving<A, std::uint8_t>(),
      make_saving<A, std::uint16_t>(),
      make_saving<A, std::uint32_t>(),
      make_saving<A, std::uint64_t>(),
      {read_word<A>, read_for_write_word<A>, write_word<A>},
      {read_word<A>, read_for_write_word<A>, write_word<A>},
      {read_word<A>, read_for_write_word<A>, write_word<A>},
      {read_word<A>, read_for_write_word<A>, write_word<A>},
      read_words<A>,
      write_words<A>,
  };
}

// Where fast paths find the state of the process: in the library. abi/inline_barriers.cc has the
// same for code that is linked into programs.
struct InLibrary {
  static std::atomic<std::uint64_t> &clock(Thread *) noexcept { return sync::global_clock.now; }
};

using processor::stack_pointer;

// Whether `address` is in the last block that the transaction has allocated, or in the interval of
// its exceptions.
[[gnu::always_inline]] inline bool maybe_fresh(const void *address, const Thread *thread) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) - thread->fresh < thread->fresh_bytes;
}

// Whether `address` is on the stack that the system gave the thread, or is not aligned: one
// comparison, since the distance to the stack's end is rotated so that bits that should be 0 come
// first. On a stack that the system does not know, always.
template <memory::Word U>
[[gnu::always_inline]] inline bool maybe_frame(const U *address, const Thread *thread) noexcept {
  constexpr int kShift = std::countr_zero(sizeof(U));
  const std::uintptr_t above = reinterpret_cast<std::uintptr_t>(address) - thread->stack_high;
  return std::rotr(above, kShift) >> (3 - kShift) >= thread->beyond_stack;
}

// Whether `address` is in the transaction's fresh memory; it is in the interval.
bool is_fresh(const void *address, const Thread *thread) noexcept;

// Whether nobody else knows `address` and aborting ends it: frames of functions that the outermost
// transaction called (the frame that holds the begin is above them), and memory that it has just
// allocated. Libstdc++ also relies on the latter: it fills exceptions by plain stores.
//
// With write-back an address may go from captured to not captured, never the other way.
inline bool captured(const void *address, const Thread *thread) noexcept;

// The same without the exact look at exceptions: no is certain, yes is not.
[[gnu::always_inline]] inline bool maybe_captured(const void *address,
                                                  const Thread *thread) noexcept {
  const std::uintptr_t stack = stack_pointer();
  return reinterpret_cast<std::uintptr_t>(address) - stack < thread->jump.stack - stack ||
         maybe_fresh(address, thread);
}

inline bool captured(const void *address, const Thread *thread) noexcept {
  if (!maybe_captured(address, thread))
    return false;
  return reinterpret_cast<std::uintptr_t>(address) - thread->fresh >= thread->fresh_bytes ||
         is_fresh(address, thread);
}

// Whether nobody else can have changed `address`, as captured() or as memory that the transaction
// has allocated at any time; also true for frames that it has left since. Slow.
bool is_private(std::uintptr_t address, const Thread *thread) noexcept;

// Whether `address` is in the frame that holds the begin, or above it. The compiler may read such
// memory plainly although it was written by a barrier: a function that returns a structure writes
// it into its caller's frame. With write-back such a write has to be in place, and as others may
// know the address, it takes what it would take at commit.
[[gnu::always_inline]] inline bool in_outer_frame(const void *address,
                                                  const Thread *thread) noexcept {
  constexpr std::uintptr_t kOtherStack = 1 << 16; // of a stack that the system does not know
  const std::uintptr_t begin = thread->jump.stack;
  const bool known = begin >= thread->stack_low && begin < thread->stack_high;
  return reinterpret_cast<std::uintptr_t>(address) - begin <
         (known ? thread->stack_high - begin : kOtherStack);
}

// Whether write-back must look closer at `address`: no is certain. Captured, or in an outer frame.
// On a stack that the system does not know yes is frequent.
inline bool maybe_in_place(const void *address, const Thread *thread) noexcept {
  const std::uintptr_t stack = stack_pointer();
  return reinterpret_cast<std::uintptr_t>(address) - stack < thread->stack_high - stack ||
         maybe_fresh(address, thread);
}

// Writes captured memory. Only the cancelling of a nested transaction can need the old value.
template <memory::Word U>
[[gnu::noinline]] void write_captured(U *address, U value, Thread *thread) noexcept {
  if (!thread->checkpoints.empty()) [[unlikely]]
    thread->undo.push({memory::Cell(address), memory::load(address)});
  memory::store(address, value);
}

} // namespace tandem
