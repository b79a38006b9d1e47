// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/pages.h"

#include "runtime/fatal.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace tandem::memory {

namespace {

constexpr std::size_t kPage = 4096;
// Some tens of threads with the logs that they begin with. Costs nothing until it is used.
constexpr std::size_t kReserve = std::size_t{1} << 20;
alignas(kPage) constinit char reserve[kReserve]{};
constinit std::atomic<std::size_t> reserve_used{0};

void *take_from_reserve(std::size_t bytes) noexcept {
  const std::size_t size = (bytes + kPage - 1) / kPage * kPage;
  std::size_t used = reserve_used.load(std::memory_order_relaxed);
  do // relaxed: what is taken is nobody else's
    if (size > kReserve - used)
      return nullptr;
  while (!reserve_used.compare_exchange_weak(used, used + size, std::memory_order_relaxed));
  return reserve + used;
}

void *reserve_or_end(std::size_t bytes, const char *purpose) noexcept {
  if (void *start = take_from_reserve(bytes); start != nullptr)
    return start;
  fatal("no memory for %s: %zu bytes", purpose, bytes);
}

} // namespace

void (*run_without_logs)() noexcept = nullptr;

void *try_pages(std::size_t bytes) noexcept {
  const int saved = errno; // transactions may run between a program's call and its look at errno
  void *start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = saved;
  return start == MAP_FAILED ? nullptr : start;
}

void *allocate_pages(std::size_t bytes, const char *purpose) noexcept {
  void *start = try_pages(bytes);
  return start != nullptr ? start : reserve_or_end(bytes, purpose);
}

void *allocate_for_log(std::size_t bytes) noexcept {
  if (void *start = try_pages(bytes); start != nullptr)
    return start;
  if (run_without_logs != nullptr)
    run_without_logs();
  return reserve_or_end(bytes, "the log of a transaction");
}

void release_pages(void *start, std::size_t bytes) noexcept {
  if (start >= reserve && start < reserve + kReserve)
    return; // it is for once
  if (::munmap(start, bytes) != 0)
    fatal("memory at %p cannot be given back: %s", start, std::strerror(errno));
}

} // namespace tandem::memory
