// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// memcpy, memmove and memset in transactions. The suffixes name, for source and target, whether the
// side is the transaction's (t) or plain memory (n).
#include "runtime/abi/itm_export.h"
#include "runtime/algorithms/barriers.h"
#include "runtime/thread/thread.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

using namespace tandem;

namespace {

enum class Side : std::uint8_t { plain, transactional };

constexpr std::size_t kPiece = 256; // bytes, a multiple of 8; on the stack

// Whether all of it is in the block that the transaction has just allocated, and no nested one may
// have to restore it: a page of an allocator of the program's own has a million bytes.
bool fills_fresh(const void *to, std::size_t bytes, const Thread *thread) noexcept {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(to) - thread->fresh;
  return offset < thread->fresh_bytes && bytes <= thread->fresh_bytes - offset &&
         !thread->throwing && thread->checkpoints.empty();
}

template <Side source, Side target>
void copy_piece(std::uint8_t *to, const std::uint8_t *from, std::size_t bytes, Thread *thread) {
  alignas(8) std::uint8_t piece[kPiece];
  if constexpr (source == Side::transactional)
    thread->barriers->read_bytes(piece, from, bytes, thread);
  else
    std::memcpy(piece, from, bytes);
  if constexpr (target == Side::transactional)
    thread->barriers->write_bytes(to, piece, bytes, thread);
  else
    std::memcpy(to, piece, bytes);
}

// Piece by piece, from the end where the target begins inside the source.
template <Side source, Side target>
void move(void *to, const void *from, std::size_t bytes) noexcept {
  Thread *thread = current_thread;
  auto *out = static_cast<std::uint8_t *>(to);
  const auto *in = static_cast<const std::uint8_t *>(from);
  if (target == Side::transactional && fills_fresh(to, bytes, thread) &&
      !fills_fresh(from, 1, thread)) {
    if (source == Side::transactional)
      thread->barriers->read_bytes(to, from, bytes, thread);
    else
      std::memcpy(to, from, bytes);
    return;
  }
  if (reinterpret_cast<std::uintptr_t>(out) - reinterpret_cast<std::uintptr_t>(in) >= bytes) {
    for (std::size_t at = 0; at < bytes; at += kPiece)
      copy_piece<source, target>(out + at, in + at, std::min(kPiece, bytes - at), thread);
    return;
  }
  while (bytes > 0) {
    const std::size_t part = std::min(kPiece, bytes);
    bytes -= part;
    copy_piece<source, target>(out + bytes, in + bytes, part, thread);
  }
}

void set(void *to, int value, std::size_t bytes) noexcept {
  Thread *thread = current_thread;
  if (fills_fresh(to, bytes, thread)) {
    std::memset(to, value, bytes);
    return;
  }
  alignas(8) std::uint8_t piece[kPiece];
  std::memset(piece, value, std::min(kPiece, bytes));
  auto *out = static_cast<std::uint8_t *>(to);
  for (std::size_t at = 0; at < bytes; at += kPiece)
    thread->barriers->write_bytes(out + at, piece, std::min(kPiece, bytes - at), thread);
}

constexpr Side n = Side::plain;
constexpr Side t = Side::transactional;

} // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are parts of names
#define TANDEM_MOVE(KIND, SOURCE, TARGET)                                                          \
  TANDEM_ITM void _ITM_memcpy##KIND(void *to, const void *from, std::size_t bytes) {               \
    move<SOURCE, TARGET>(to, from, bytes);                                                         \
  }                                                                                                \
  TANDEM_ITM void _ITM_memmove##KIND(void *to, const void *from, std::size_t bytes) {              \
    move<SOURCE, TARGET>(to, from, bytes);                                                         \
  }
// NOLINTEND(bugprone-macro-parentheses)

TANDEM_MOVE(RnWt, n, t)
TANDEM_MOVE(RnWtaR, n, t)
TANDEM_MOVE(RnWtaW, n, t)
TANDEM_MOVE(RtWn, t, n)
TANDEM_MOVE(RtWt, t, t)
TANDEM_MOVE(RtWtaR, t, t)
TANDEM_MOVE(RtWtaW, t, t)
TANDEM_MOVE(RtaRWn, t, n)
TANDEM_MOVE(RtaRWt, t, t)
TANDEM_MOVE(RtaRWtaR, t, t)
TANDEM_MOVE(RtaRWtaW, t, t)
TANDEM_MOVE(RtaWWn, t, n)
TANDEM_MOVE(RtaWWt, t, t)
TANDEM_MOVE(RtaWWtaR, t, t)
TANDEM_MOVE(RtaWWtaW, t, t)

TANDEM_ITM void _ITM_memsetW(void *to, int value, std::size_t bytes) { set(to, value, bytes); }
TANDEM_ITM void _ITM_memsetWaR(void *to, int value, std::size_t bytes) { set(to, value, bytes); }
TANDEM_ITM void _ITM_memsetWaW(void *to, int value, std::size_t bytes) { set(to, value, bytes); }
