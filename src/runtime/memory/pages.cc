// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/pages.h"

#include "runtime/fatal.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace tandem::memory {

void *allocate_pages(std::size_t bytes, const char *purpose) noexcept {
  const int saved = errno; // transactions may run between a program's call and its look at errno
  void *start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    fatal("no memory for %s: %zu bytes: %s", purpose, bytes, std::strerror(errno));
  errno = saved;
  return start;
}

void release_pages(void *start, std::size_t bytes) noexcept {
  if (::munmap(start, bytes) != 0)
    fatal("memory at %p cannot be given back: %s", start, std::strerror(errno));
}

} // namespace tandem::memory
