// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accesses of the ABI. What has the width of an integer is a word; 16 bytes, which gcc makes of
// loops over words, are two; every other type is bytes. First comes what NOrec and lazy do quickly,
// whose one comparison says the mode as well; the fast paths of norec, two-phase and eager are
// inline too, because an indirect jump more costs a nanosecond; other modes go through the thread's
// table.
//
// The prefixes: R read, W write, L remember for undoing; aR and aW say that the transaction has
// read or written the place before, RfW that it will write it. The algorithms find that out by
// themselves as cheaply, so only RfW differs.
#include "runtime/abi/itm_export.h"
#include "runtime/algorithms/additions.h"
#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/norec.h"
#include "runtime/algorithms/orec.h"
#include "runtime/algorithms/two_phase.h"
#include "runtime/memory/cell.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/guarded_by.h"

#include <bit>
#include <complex.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace tandem;

namespace {

// Whether what the thread overwrites comes back at an abort: there is one.
[[gnu::always_inline]] inline bool is_undone(const Thread *thread) noexcept {
  return thread != nullptr && thread->mode != Mode::direct && thread->mode != Mode::idle &&
         thread->mode != Mode::hardware;
}

template <memory::Word U>
[[gnu::always_inline]] inline void remember(const U *address, Thread *thread) noexcept {
  if (thread->undo.full() && thread->mode == Mode::guarded_by) [[unlikely]]
    guarded_by::shrink_log(*thread);
  thread->undo.push({memory::Cell(address), memory::load(address)});
}

// Saves `bytes` from `address` for an abort. A transaction that cannot abort needs nothing.
void remember(const void *address, std::size_t bytes) noexcept {
  Thread *thread = current_thread;
  if (!is_undone(thread) || (thread->mode == Mode::guarded_by && captured(address, thread)))
    return; // a page that has just been allocated is filled
  const auto *byte = static_cast<const std::uint8_t *>(address);
  while (bytes > 0) {
    const auto *word = reinterpret_cast<const std::uint64_t *>(byte);
    std::size_t width = 1;
    if (bytes >= sizeof *word && memory::aligned(word)) {
      width = sizeof *word;
      remember(word, thread);
    } else {
      remember(byte, thread);
    }
    byte += width;
    bytes -= width;
  }
}

// Of NOrec, where Quick::write has failed.
template <memory::Word U>
[[gnu::always_inline]] inline void write_behind_quick(U *address, U value,
                                                      Thread *thread) noexcept {
  if (!memory::aligned(address)) [[unlikely]]
    return write_misaligned<norec::Norec>(address, value, thread);
  return norec::write_slowly(address, value, thread);
}

struct Pair {
  std::uint64_t low, high;
};

// Any access by the mode's table. Never inlined, so that the quick paths need no stack frame.
template <class T> [[gnu::noinline]] T read_far(const T *address, Thread *thread) noexcept {
  T value;
  thread->barriers->read_bytes(&value, address, sizeof value, thread);
  return value;
}
template <class T> [[gnu::noinline]] void write_far(T *address, T value, Thread *thread) noexcept {
  thread->barriers->write_bytes(address, &value, sizeof value, thread);
}

// Of NOrec, where the transaction may have written there.
[[gnu::always_inline]] inline bool read_again(const std::uint64_t *word, std::uint64_t &value,
                                              Thread *thread) noexcept {
  using Quick = norec::Quick<InLibrary>;
  return Quick::read(word, value, thread) || Quick::read_again(word, value, thread);
}

} // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are types and names
#define TANDEM_LOG(NAME, TYPE)                                                                     \
  TANDEM_ITM void _ITM_L##NAME(const TYPE *address) { remember(address, sizeof *address); }
#define TANDEM_LOG_WORD(NAME, TYPE, BITS)                                                          \
  TANDEM_ITM void _ITM_L##NAME(const TYPE *address) {                                              \
    Thread *thread = current_thread;                                                               \
    const auto *word = reinterpret_cast<const BITS *>(address);                                    \
    if (!memory::aligned(word)) [[unlikely]]                                                       \
      return remember(address, sizeof *address);                                                   \
    if (is_undone(thread)) [[likely]]                                                              \
      remember(word, thread);                                                                      \
  }

#define TANDEM_READ_WORD(NAME, TYPE, WIDTH, BITS, KIND, FUNCTION)                                  \
  TANDEM_ITM TYPE _ITM_##KIND##NAME(const TYPE *address) {                                         \
    Thread *thread = current_thread;                                                               \
    const auto *word = reinterpret_cast<const BITS *>(address);                                    \
    BITS value;                                                                                    \
    if (norec::Quick<InLibrary>::read_unwritten(word, value, thread)) [[likely]]                   \
      return std::bit_cast<TYPE>(value);                                                           \
    if (thread->mode == Mode::norec) [[likely]]                                                    \
      return std::bit_cast<TYPE>(FUNCTION##_word<norec::Norec>(word, thread));                     \
    if (thread->mode == Mode::two_phase)                                                           \
      return std::bit_cast<TYPE>(FUNCTION##_word<two_phase::TwoPhase>(word, thread));              \
    if (thread->mode == Mode::eager)                                                               \
      return std::bit_cast<TYPE>(FUNCTION##_word<orec::Eager>(word, thread));                      \
    return std::bit_cast<TYPE>(thread->barriers->WIDTH.FUNCTION(word, thread));                    \
  }
#define TANDEM_WRITE_WORD(NAME, TYPE, WIDTH, BITS, KIND)                                           \
  TANDEM_ITM void _ITM_##KIND##NAME(TYPE *address, TYPE value) {                                   \
    Thread *thread = current_thread;                                                               \
    auto *word = reinterpret_cast<BITS *>(address);                                                \
    const auto bits = std::bit_cast<BITS>(value);                                                  \
    if (norec::Quick<InLibrary>::write(word, bits, thread)) [[likely]]                             \
      return;                                                                                      \
    if (thread->mode == Mode::norec)                                                               \
      return write_behind_quick(word, bits, thread);                                               \
    if (thread->mode == Mode::two_phase)                                                           \
      return write_word<two_phase::TwoPhase>(word, bits, thread);                                  \
    if (thread->mode == Mode::eager)                                                               \
      return write_word<orec::Eager>(word, bits, thread);                                          \
    thread->barriers->WIDTH.write(word, bits, thread);                                             \
  }
#define TANDEM_WORD(NAME, TYPE, WIDTH, BITS)                                                       \
  TANDEM_READ_WORD(NAME, TYPE, WIDTH, BITS, R, read)                                               \
  TANDEM_READ_WORD(NAME, TYPE, WIDTH, BITS, RaR, read)                                             \
  TANDEM_READ_WORD(NAME, TYPE, WIDTH, BITS, RaW, read)                                             \
  TANDEM_READ_WORD(NAME, TYPE, WIDTH, BITS, RfW, read_for_write)                                   \
  TANDEM_WRITE_WORD(NAME, TYPE, WIDTH, BITS, W)                                                    \
  TANDEM_WRITE_WORD(NAME, TYPE, WIDTH, BITS, WaR)                                                  \
  TANDEM_WRITE_WORD(NAME, TYPE, WIDTH, BITS, WaW)                                                  \
  TANDEM_LOG_WORD(NAME, TYPE, BITS)

TANDEM_WORD(U1, std::uint8_t, u1, std::uint8_t)
TANDEM_WORD(U2, std::uint16_t, u2, std::uint16_t)
TANDEM_WORD(U4, std::uint32_t, u4, std::uint32_t)
TANDEM_WORD(U8, std::uint64_t, u8, std::uint64_t)
TANDEM_WORD(F, float, u4, std::uint32_t)
TANDEM_WORD(D, double, u8, std::uint64_t)
TANDEM_WORD(CF, float _Complex, u8, std::uint64_t)
#if defined(__x86_64__)
TANDEM_WORD(M64, __m64, u8, std::uint64_t)
#endif

// Where one of the words takes more, both begin again.
#define TANDEM_READ_PAIR(NAME, TYPE, KIND)                                                         \
  TANDEM_ITM TYPE _ITM_##KIND##NAME(const TYPE *address) {                                         \
    Thread *thread = current_thread;                                                               \
    const auto *words = reinterpret_cast<const std::uint64_t *>(address);                          \
    Pair value;                                                                                    \
    if (norec::Quick<InLibrary>::read_unwritten(words, value.low, thread) &&                       \
        norec::Quick<InLibrary>::read_unwritten(words + 1, value.high, thread)) [[likely]]         \
      return std::bit_cast<TYPE>(value);                                                           \
    if (thread->mode != Mode::norec || !memory::aligned(words) ||                                  \
        !read_again(words, value.low, thread) || !read_again(words + 1, value.high, thread))       \
        [[unlikely]]                                                                               \
      return read_far(address, thread);                                                            \
    return std::bit_cast<TYPE>(value);                                                             \
  }
#define TANDEM_WRITE_PAIR(NAME, TYPE, KIND)                                                        \
  TANDEM_ITM void _ITM_##KIND##NAME(TYPE *address, TYPE value) {                                   \
    Thread *thread = current_thread;                                                               \
    auto *words = reinterpret_cast<std::uint64_t *>(address);                                      \
    const auto pair = std::bit_cast<Pair>(value);                                                  \
    if (!norec::Quick<InLibrary>::write(words, pair.low, thread) ||                                \
        !norec::Quick<InLibrary>::write(words + 1, pair.high, thread)) [[unlikely]]                \
      write_far(address, value, thread);                                                           \
  }
#define TANDEM_PAIR(NAME, TYPE)                                                                    \
  TANDEM_READ_PAIR(NAME, TYPE, R)                                                                  \
  TANDEM_READ_PAIR(NAME, TYPE, RaR)                                                                \
  TANDEM_READ_PAIR(NAME, TYPE, RaW)                                                                \
  TANDEM_READ_PAIR(NAME, TYPE, RfW)                                                                \
  TANDEM_WRITE_PAIR(NAME, TYPE, W)                                                                 \
  TANDEM_WRITE_PAIR(NAME, TYPE, WaR)                                                               \
  TANDEM_WRITE_PAIR(NAME, TYPE, WaW)                                                               \
  TANDEM_LOG(NAME, TYPE)

TANDEM_PAIR(CD, double _Complex)
#if defined(__x86_64__)
TANDEM_PAIR(M128, __m128)
#endif

// TARGET: what the calling convention needs for the type.
#define TANDEM_READ_BYTES(NAME, TYPE, TARGET, KIND)                                                \
  TARGET TANDEM_ITM TYPE _ITM_##KIND##NAME(const TYPE *address) {                                  \
    TYPE value;                                                                                    \
    Thread *thread = current_thread;                                                               \
    thread->barriers->read_bytes(&value, address, sizeof value, thread);                           \
    return value;                                                                                  \
  }
#define TANDEM_WRITE_BYTES(NAME, TYPE, TARGET, KIND)                                               \
  TARGET TANDEM_ITM void _ITM_##KIND##NAME(TYPE *address, TYPE value) {                            \
    Thread *thread = current_thread;                                                               \
    thread->barriers->write_bytes(address, &value, sizeof value, thread);                          \
  }
#define TANDEM_BYTES(NAME, TYPE, TARGET)                                                           \
  TANDEM_READ_BYTES(NAME, TYPE, TARGET, R)                                                         \
  TANDEM_READ_BYTES(NAME, TYPE, TARGET, RaR)                                                       \
  TANDEM_READ_BYTES(NAME, TYPE, TARGET, RaW)                                                       \
  TANDEM_READ_BYTES(NAME, TYPE, TARGET, RfW)                                                       \
  TANDEM_WRITE_BYTES(NAME, TYPE, TARGET, W)                                                        \
  TANDEM_WRITE_BYTES(NAME, TYPE, TARGET, WaR)                                                      \
  TANDEM_WRITE_BYTES(NAME, TYPE, TARGET, WaW)                                                      \
  TANDEM_LOG(NAME, TYPE)

#define TANDEM_ANY

TANDEM_BYTES(E, long double, TANDEM_ANY)
TANDEM_BYTES(CE, long double _Complex, TANDEM_ANY)

#if defined(__x86_64__)
// AVX vectors are results and arguments in a register that only code for AVX names. A function that
// has it by its target returns them there; but where its arguments are is decided for the whole
// file, so that those that write are assembler: they pass on a copy on the stack.
#define TANDEM_AVX __attribute__((target("avx")))
TANDEM_READ_BYTES(M256, __m256, TANDEM_AVX, R)
TANDEM_READ_BYTES(M256, __m256, TANDEM_AVX, RaR)
TANDEM_READ_BYTES(M256, __m256, TANDEM_AVX, RaW)
TANDEM_READ_BYTES(M256, __m256, TANDEM_AVX, RfW)
TANDEM_LOG(M256, __m256)

extern "C" [[gnu::used]] void tandem_write_32_bytes(void *address, const void *value) {
  Thread *thread = current_thread;
  thread->barriers->write_bytes(address, value, 32, thread);
}
#define TANDEM_WRITE_M256(KIND)                                                                    \
  extern "C" [[gnu::naked, gnu::visibility("default")]] void _ITM_##KIND##M256(void *) {           \
    __asm__("subq $40, %rsp\n\t"                                                                   \
            ".cfi_adjust_cfa_offset 40\n\t"                                                        \
            "vmovups %ymm0, (%rsp)\n\t"                                                            \
            "vzeroupper\n\t"                                                                       \
            "movq %rsp, %rsi\n\t"                                                                  \
            "call tandem_write_32_bytes\n\t"                                                       \
            "addq $40, %rsp\n\t"                                                                   \
            ".cfi_adjust_cfa_offset -40\n\t"                                                       \
            "ret");                                                                                \
  }
TANDEM_WRITE_M256(W)
TANDEM_WRITE_M256(WaR)
TANDEM_WRITE_M256(WaW)
#endif
// NOLINTEND(bugprone-macro-parentheses)

// Updates that commute: `*address += by`.
#define TANDEM_ADD(WIDTH, BITS)                                                                    \
  TANDEM_ITM void _TANDEM_add_##WIDTH(BITS *address, BITS by) {                                    \
    Thread *thread = current_thread;                                                               \
    if (thread->puts_off != 0) [[unlikely]]                                                        \
      return additions::add_later(address, by, thread);                                            \
    _ITM_WU##WIDTH(address, static_cast<BITS>(_ITM_RfWU##WIDTH(address) + by));                    \
  }
TANDEM_ADD(4, std::uint32_t)
TANDEM_ADD(8, std::uint64_t)

TANDEM_ITM void _ITM_LB(const void *address, std::size_t bytes) { remember(address, bytes); }
