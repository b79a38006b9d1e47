// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private memory for one call of a transactional version: the first bytes on the stack, more from
// malloc. That is freed when the transaction ends, whichever way it does: a barrier may leave the
// call for good. Memory that the transaction has allocated is also what the algorithms take for
// private, so plain writes to it are no conflicts.
#pragma once

#include "runtime/thread/thread.h"

#include <cstddef>

namespace tandem::library {

// `bytes` above 0, aligned as malloc's, until the transaction ends. Never null: ends the process
// where there is no memory.
void *scratch_memory(std::size_t bytes, Thread *thread) noexcept;

template <std::size_t Inline = 1024> class Scratch {
public:
  explicit Scratch(Thread *thread) noexcept : thread_(thread) {}
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  void *take(std::size_t bytes) noexcept {
    const std::size_t rounded = (bytes + 15) & ~std::size_t{15};
    if (rounded <= Inline - used_ && rounded >= bytes) {
      char *memory = inline_ + used_;
      used_ += rounded;
      return memory;
    }
    return scratch_memory(bytes == 0 ? 1 : bytes, thread_);
  }

  // A private copy of the string at `from`: at most `most` bytes of it, then a terminator. Its
  // length is `length`.
  char *string(const char *from, std::size_t most, std::size_t &length) noexcept;
  char *string(const char *from) noexcept {
    std::size_t length = 0;
    return string(from, SIZE_MAX, length);
  }

private:
  alignas(16) char inline_[Inline];
  std::size_t used_ = 0;
  Thread *thread_;
};

// What Scratch::string does; `room` bytes at `first` are free. `taken`: how many of those the copy
// uses, 0 where it is elsewhere.
char *copy_string(const char *from, std::size_t most, std::size_t &length, char *first,
                  std::size_t room, std::size_t &taken, Thread *thread) noexcept;

template <std::size_t Inline>
char *Scratch<Inline>::string(const char *from, std::size_t most, std::size_t &length) noexcept {
  std::size_t taken = 0;
  char *copy = copy_string(from, most, length, inline_ + used_, Inline - used_, taken, thread_);
  used_ += (taken + 15) & ~std::size_t{15};
  if (used_ > Inline)
    used_ = Inline;
  return copy;
}

} // namespace tandem::library
