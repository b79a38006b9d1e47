// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A growing array of one thread, for what a transaction remembers. Adding is a comparison, a store
// and an addition; memory comes from the kernel in powers of two and stays for the thread's next
// transactions.
//
// Invariant: begin_ <= end_ <= limit_; capacity == limit_ - begin_.
#pragma once

#include "runtime/memory/pages.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace tandem::memory {

// Zero-initialised memory is a valid empty log.
template <class T> class Log {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  // Memory of the first growth.
  static constexpr std::size_t kFirstBytes = 4096;

  void push(const T &value) noexcept {
    if (end_ == limit_) [[unlikely]]
      grow();
    *end_++ = value;
  }
  [[nodiscard]] bool full() const noexcept { return end_ == limit_; }
  // As push, for a log that is not full.
  void push_unchecked(const T &value) noexcept { *end_++ = value; }
  // The same where the caller has end() already.
  void push_at(T *end, const T &value) noexcept {
    *end = value;
    end_ = end + 1;
  }
  // Makes room for one more entry.
  void reserve() noexcept {
    if (full())
      grow();
  }
  // The same where there is memory for it; false: there is none.
  [[nodiscard]] bool try_reserve() noexcept {
    if (!full())
      return true;
    T *larger = static_cast<T *>(try_pages(next_bytes()));
    if (larger != nullptr)
      move_to(larger, next_bytes());
    return larger != nullptr;
  }
  // Entries that there is room for after the next growth.
  [[nodiscard]] std::size_t next_capacity() const noexcept { return next_bytes() / sizeof(T); }
  // Makes room for as many entries again.
  void enlarge() noexcept { grow(); }
  T pop() noexcept { return *--end_; }
  void clear() noexcept { end_ = begin_; }
  // Forgets all entries from position `size` on.
  void truncate(std::size_t size) noexcept { end_ = begin_ + size; }

  // Gives the memory back; the log is as new.
  void release() noexcept {
    if (bytes_ != 0)
      release_pages(begin_, bytes_);
    *this = Log();
  }

  [[nodiscard]] bool empty() const noexcept { return end_ == begin_; }
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(end_ - begin_);
  }
  [[nodiscard]] std::size_t capacity() const noexcept {
    return static_cast<std::size_t>(limit_ - begin_);
  }
  [[nodiscard]] T &operator[](std::size_t index) noexcept { return begin_[index]; }
  [[nodiscard]] T &back() noexcept { return end_[-1]; }
  [[nodiscard]] T *begin() noexcept { return begin_; }
  [[nodiscard]] T *end() noexcept { return end_; }
  // Where it is full.
  [[nodiscard]] T *limit() noexcept { return limit_; }
  [[nodiscard]] const T *begin() const noexcept { return begin_; }
  [[nodiscard]] const T *end() const noexcept { return end_; }

private:
  [[nodiscard]] std::size_t next_bytes() const noexcept {
    return bytes_ == 0 ? kFirstBytes : bytes_ * 2;
  }
  [[gnu::noinline, gnu::cold]] void grow() noexcept {
    // Without memory this does not return, and nothing has changed.
    move_to(static_cast<T *>(allocate_for_log(next_bytes())), next_bytes());
  }
  void move_to(T *larger, std::size_t bytes) noexcept {
    const std::size_t used = size();
    if (bytes_ != 0) {
      std::memcpy(larger, begin_, used * sizeof(T));
      release_pages(begin_, bytes_);
    }
    bytes_ = bytes;
    begin_ = larger;
    end_ = larger + used;
    limit_ = larger + bytes / sizeof(T);
  }

  T *begin_ = nullptr;
  T *end_ = nullptr;
  T *limit_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace tandem::memory
