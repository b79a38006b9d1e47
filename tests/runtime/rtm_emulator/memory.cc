// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undoing: what is writable, read-only for as long as a transaction runs, and the pages that it
// writes.
#include "state.h"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>

// NOLINTBEGIN(performance-no-int-to-ptr): addresses come from the kernel, as numbers

namespace tandem::rtm_emulator {
namespace {

std::uintptr_t hexadecimal(const char *&text) noexcept {
  std::uintptr_t value = 0;
  for (;; ++text) {
    if (*text >= '0' && *text <= '9')
      value = value << 4 | static_cast<std::uintptr_t>(*text - '0');
    else if (*text >= 'a' && *text <= 'f')
      value = value << 4 | static_cast<std::uintptr_t>(*text - 'a' + 10);
    else
      return value;
  }
}

void add_range(std::uintptr_t low, std::uintptr_t high, int protection) noexcept {
  for (const Range &hole : excluded)
    if (low < hole.high && hole.low < high) {
      if (low < hole.low)
        add_range(low, hole.low, protection);
      if (hole.high < high)
        add_range(hole.high, high, protection);
      return;
    }
  std::size_t &count = arena->transaction.ranges;
  if (count != 0 && arena->ranges[count - 1].high == low &&
      arena->ranges[count - 1].protection == protection) {
    arena->ranges[count - 1].high = high;
    return;
  }
  if (count == kMostRanges)
    die("too many mappings");
  arena->ranges[count++] = {low, high, protection};
}

void protect(const Range &range, int protection) noexcept {
  if (call(SYS_mprotect, static_cast<long>(range.low), static_cast<long>(range.high - range.low),
           protection) != 0)
    die("memory cannot be protected");
}

} // namespace

void find_writable_memory() noexcept {
  const long file = call(SYS_open, at("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  std::size_t bytes = 0;
  for (long got = 1; got > 0;) {
    got = call(SYS_read, file, at(arena->maps + bytes), static_cast<long>(kMapsBytes - 1 - bytes));
    bytes += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  call(SYS_close, file);
  if (bytes == 0 || bytes == kMapsBytes - 1)
    die("/proc/self/maps cannot be read");
  arena->maps[bytes] = '\0';
  arena->transaction.ranges = 0;
  for (const char *line = arena->maps; *line != '\0'; ++line) {
    const std::uintptr_t low = hexadecimal(line);
    const std::uintptr_t high = hexadecimal(++line);
    if (line[1] == 'r' && line[2] == 'w')
      add_range(low, high, PROT_READ | PROT_WRITE | (line[3] == 'x' ? PROT_EXEC : 0));
    while (*line != '\n')
      ++line;
  }
}

void close_memory() noexcept {
  for (std::size_t i = 0; i < arena->transaction.ranges; ++i)
    protect(arena->ranges[i], arena->ranges[i].protection & ~PROT_WRITE);
}

void open_memory() noexcept {
  for (std::size_t i = 0; i < arena->transaction.ranges; ++i)
    protect(arena->ranges[i], arena->ranges[i].protection);
}

const Range *range_of(std::uintptr_t address) noexcept {
  for (std::size_t i = 0; i < arena->transaction.ranges; ++i)
    if (address >= arena->ranges[i].low && address < arena->ranges[i].high)
      return &arena->ranges[i];
  return nullptr;
}

void copy_page(std::uintptr_t address, const Range &range) noexcept {
  Transaction &transaction = arena->transaction;
  const std::uintptr_t page = address & ~(kPage - 1);
  arena->places[transaction.pages] = page;
  std::memcpy(arena->copies[transaction.pages++], reinterpret_cast<const void *>(page), kPage);
  protect({page, page + kPage, 0}, range.protection);
}

void restore_pages() noexcept {
  for (std::size_t i = 0; i < arena->transaction.pages; ++i)
    std::memcpy(reinterpret_cast<void *>(arena->places[i]), arena->copies[i], kPage);
}

} // namespace tandem::rtm_emulator

// NOLINTEND(performance-no-int-to-ptr)
