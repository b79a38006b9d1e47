// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/library/scratch.h"

#include "runtime/actions/actions.h"
#include "runtime/fatal.h"
#include "runtime/library/access.h"
#include "runtime/transaction/transaction.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace tandem::library {

void *scratch_memory(std::size_t bytes, Thread *thread) noexcept {
  const KeptErrno kept;
  void *memory = std::malloc(bytes);
  if (memory == nullptr)
    transaction::run_without_logs(); // which need no such memory
  if (memory == nullptr)
    fatal("no memory for %zu bytes that a function of the C library needs in a transaction", bytes);
  actions::add(*thread, AllocationAction{memory, std::free, bytes, true});
  actions::add(*thread, AllocationAction{memory, std::free, 0, false});
  return memory;
}

std::size_t read_string(char *to, const char *from, std::size_t most, Thread *thread) noexcept {
  return with_reads(thread, [&](auto reads) {
    Bytes bytes(from, reads);
    std::size_t copied = 0;
    while (copied < most) {
      bytes.fill();
      const unsigned zero = first_zero(bytes.bits());
      const auto part = static_cast<unsigned>(
          std::min<std::size_t>(std::min(zero + 1, bytes.count()), most - copied));
      const std::uint64_t bits = bytes.bits();
      if (most - copied >= sizeof bits)
        std::memcpy(to + copied, &bits, sizeof bits); // what is too much is overwritten, or unused
      else
        std::memcpy(to + copied, &bits, part);
      copied += part;
      if (zero < part)
        break;
      bytes.drop(part);
    }
    return copied;
  });
}

char *copy_string(const char *from, std::size_t most, std::size_t &length, char *first,
                  std::size_t room, std::size_t &taken, Thread *thread) noexcept {
  char *to = first;
  std::size_t size = room; // of `to`
  std::size_t copied = 0;
  for (;;) {
    if (size > copied + 1) {
      const std::size_t part = std::min(most - copied, size - copied - 1);
      const std::size_t now = read_string(to + copied, from + copied, part, thread);
      copied += now;
      if (now > 0 && to[copied - 1] == '\0') {
        length = copied - 1;
        break;
      }
      if (copied == most) {
        to[copied] = '\0';
        length = copied;
        break;
      }
    }
    const std::size_t larger = std::max<std::size_t>(size * 2, 4096);
    char *next = static_cast<char *>(scratch_memory(larger, thread));
    std::memcpy(next, to, copied);
    to = next;
    size = larger;
  }
  taken = to == first ? length + 1 : 0;
  return to;
}

} // namespace tandem::library
