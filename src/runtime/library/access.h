// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the functions of this folder reach the program's memory. Each is the transactional version
// (wrapper) of a function of the C library. Where nothing can be undone, outside of transactions
// and in irrevocable ones, it calls that function; elsewhere it goes through the barriers of the
// thread's algorithm.
//
// Strings are read by aligned eight-byte words: such a word lies in one page, so that nothing
// beyond the page of the last byte is touched. What is next to a string in its first and last word
// becomes part of the read set; the algorithms look at no less than that anyway (ownership records
// cover 32 bytes).
//
// A barrier may begin the transaction again and then does not return: nothing in this folder may
// hold a resource across one that the transaction's undoing does not give back (scratch.h).
#pragma once

#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/norec.h"
#include "runtime/algorithms/orec.h"
#include "runtime/memory/cell.h"
#include "runtime/thread/thread.h"

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

// A transactional version, by libitm's convention: _ZGTt, the length of the name, the name.
#define TANDEM_WRAPPER extern "C" __attribute__((visibility("default")))

namespace tandem::library {

// Sanitizers want to see no access outside of an object.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kExact = true;
#else
inline constexpr bool kExact = false;
#endif
#else
inline constexpr bool kExact = false;
#endif

// The calling thread's, where writes must go through barriers; null where they are plain.
[[gnu::always_inline]] inline Thread *writer() noexcept {
  Thread *thread = current_thread;
  return thread == nullptr || thread->mode == Mode::idle || thread->mode == Mode::direct ||
                 thread->mode == Mode::hardware
             ? nullptr
             : thread;
}
// The same for functions that only read: they need no barriers in a transaction that is serial, or
// serial with what its locks guard.
[[gnu::always_inline]] inline Thread *reader() noexcept {
  Thread *thread = writer();
  return thread == nullptr || thread->mode == Mode::undo || thread->mode == Mode::guarded_by
             ? nullptr
             : thread;
}

inline void read(void *to, const void *from, std::size_t bytes, Thread *thread) noexcept {
  thread->barriers->read_bytes(to, from, bytes, thread);
}
inline void write(void *to, const void *from, std::size_t bytes, Thread *thread) noexcept {
  thread->barriers->write_bytes(to, from, bytes, thread);
}

// One object of the program.
template <class T> T read_value(const T *from, Thread *thread) noexcept {
  T value;
  read(&value, from, sizeof value, thread);
  return value;
}
template <class T> void write_value(T *to, T value, Thread *thread) noexcept {
  write(to, &value, sizeof value, thread);
}

// errno is the program's memory: an abort undoes its change.
inline void set_errno(int value, Thread *thread) noexcept { write_value(&errno, value, thread); }
// Keeps what the program sees as errno from what a plain function does to it, as the undoing of a
// transaction knows of no plain write. Volatile: clang takes it that malloc and its like leave
// errno alone, and would drop that it is put back.
class KeptErrno {
public:
  KeptErrno() noexcept : kept_(place()) {}
  KeptErrno(const KeptErrno &) = delete;
  KeptErrno &operator=(const KeptErrno &) = delete;
  ~KeptErrno() { place() = kept_; }
  // What it has become since, before the end of the scope gives the old value back.
  void set(int value) noexcept { place() = value; }
  [[nodiscard]] int now() const noexcept { return place(); }

private:
  static volatile int &place() noexcept { return errno; }
  int kept_;
};

// The ways to read an aligned word, or a byte.
struct NorecReads {
  Thread *thread;
  template <memory::Word U> [[gnu::always_inline]] U operator()(const U *address) const noexcept {
    return norec::Norec::read(address, thread);
  }
};
struct EagerReads {
  Thread *thread;
  template <memory::Word U> [[gnu::always_inline]] U operator()(const U *address) const noexcept {
    return orec::Eager::read(address, thread);
  }
};
struct TableReads {
  Thread *thread;
  std::uint64_t operator()(const std::uint64_t *address) const noexcept {
    return thread->barriers->u8.read(address, thread);
  }
  std::uint8_t operator()(const std::uint8_t *address) const noexcept {
    return thread->barriers->u1.read(address, thread);
  }
};

// body(reads) with the thread's way to read, inlined for the common ones.
template <class Body>
[[gnu::always_inline]] inline auto with_reads(Thread *thread, const Body &body) noexcept {
  if (thread->mode == Mode::norec)
    return body(NorecReads{thread});
  if (thread->mode == Mode::eager)
    return body(EagerReads{thread});
  return body(TableReads{thread});
}

// Consecutive bytes of the program's memory, fetched by aligned words.
//
// Invariant: the next `count()` bytes are in the low bytes of bits(), the first one lowest; the
// bytes above them are 0.
template <class Reads> class Bytes {
public:
  [[gnu::always_inline]] Bytes(const void *from, Reads reads) noexcept
      : reads_(reads), next_(reinterpret_cast<std::uintptr_t>(from)) {}

  // At least one byte, at most eight.
  [[gnu::always_inline]] void fill() noexcept {
    if (count_ != 0)
      return;
    if constexpr (kExact) {
      bits_ = reads_(reinterpret_cast<const std::uint8_t *>(next_));
      count_ = 1;
    } else {
      const unsigned skip = next_ & 7;
      bits_ = reads_(reinterpret_cast<const std::uint64_t *>(next_ - skip)) >> (skip * 8);
      count_ = 8 - skip;
    }
    next_ += count_;
  }
  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] unsigned count() const noexcept { return count_; }
  // `bytes` <= count().
  [[gnu::always_inline]] void drop(unsigned bytes) noexcept {
    bits_ = bytes == 8 ? 0 : bits_ >> (bytes * 8);
    count_ -= bytes;
  }
  [[gnu::always_inline]] std::uint8_t take() noexcept {
    fill();
    const auto byte = static_cast<std::uint8_t>(bits_);
    drop(1);
    return byte;
  }

private:
  Reads reads_;
  std::uintptr_t next_;
  std::uint64_t bits_ = 0;
  unsigned count_ = 0;
};

// The lowest byte of `bits` that is 0: 0 to 7, or 8. Source: Warren, Hacker's Delight, 6-1; the
// lowest mark is exact, those above it may not be.
[[gnu::always_inline]] inline unsigned first_zero(std::uint64_t bits) noexcept {
  const std::uint64_t marks = (bits - 0x0101010101010101U) & ~bits & 0x8080808080808080U;
  return marks == 0 ? 8 : static_cast<unsigned>(std::countr_zero(marks)) / 8;
}
[[gnu::always_inline]] inline std::uint64_t repeated(std::uint8_t byte) noexcept {
  return byte * 0x0101010101010101U;
}

// Copies at most `most` bytes of a string, to and with its terminator, into private memory; the
// number of bytes copied. Page-safe.
std::size_t read_string(char *to, const char *from, std::size_t most, Thread *thread) noexcept;

} // namespace tandem::library
