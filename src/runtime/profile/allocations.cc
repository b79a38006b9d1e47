// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libtandem_allocations.so, for LD_PRELOAD beside TANDEM_PROFILE: remembers which call allocated
// which block, so that the profile can say on whose memory transactions fail.
//
// A fixed table from keys to blocks, without locks. A block's key is its address; a block of more
// than a page has the pages that it covers as keys too. An entry may be anywhere in kWindow slots
// from its key's hash; where all are taken the block is not remembered. Its fields are written
// before its key (release) and read after it (acquire); a reader that meets an entry which is being
// replaced may name the wrong allocation, once.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>

#define TANDEM_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);
void __libc_free(void *);
}

namespace {

constexpr std::size_t kSlots = 1 << 20;
constexpr std::size_t kWindow = 16;
constexpr std::uintptr_t kPage = 4096;
constexpr std::uintptr_t kAlignment = 16;    // of glibc's blocks
constexpr std::uintptr_t kMostPages = 16384; // of a block that are keys: 64 MiB
constexpr std::uintptr_t kPageKey = 1;       // blocks are even

struct Slot {
  std::atomic<std::uintptr_t> key; // 0: free
  std::atomic<std::uintptr_t> start;
  std::atomic<std::size_t> bytes;
  std::atomic<std::uintptr_t> site;
};
Slot slots[kSlots];

Slot *window_of(std::uintptr_t key) {
  return &slots[((key * 0x9e3779b97f4a7c15U) >> 20) % (kSlots - kWindow)];
}

Slot *find(std::uintptr_t key) {
  Slot *slot = window_of(key);
  for (Slot *end = slot + kWindow; slot != end; ++slot)
    if (slot->key.load(std::memory_order_acquire) == key)
      return slot;
  return nullptr;
}

void put(std::uintptr_t key, std::uintptr_t start, std::size_t bytes, std::uintptr_t site) {
  constexpr std::uintptr_t kTaken = ~std::uintptr_t{0};
  Slot *slot = window_of(key);
  for (Slot *end = slot + kWindow; slot != end; ++slot) {
    std::uintptr_t expected = 0;
    if (!slot->key.compare_exchange_strong(expected, kTaken, std::memory_order_acquire))
      continue;
    slot->start.store(start, std::memory_order_relaxed);
    slot->bytes.store(bytes, std::memory_order_relaxed);
    slot->site.store(site, std::memory_order_relaxed);
    slot->key.store(key, std::memory_order_release);
    return;
  }
}

template <class Do> void for_pages(std::uintptr_t start, std::size_t bytes, Do what) {
  if (bytes <= kPage)
    return;
  const std::uintptr_t first = start / kPage;
  const std::uintptr_t last = (start + bytes - 1) / kPage;
  for (std::uintptr_t page = first; page <= last && page < first + kMostPages; ++page)
    what(page * kPage | kPageKey);
}

void *remember(void *memory, std::size_t bytes, const void *site) {
  if (memory == nullptr)
    return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  const auto from = reinterpret_cast<std::uintptr_t>(site);
  put(start, start, bytes, from);
  for_pages(start, bytes, [&](std::uintptr_t key) { put(key, start, bytes, from); });
  return memory;
}

void forget(const void *memory) {
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  Slot *slot = memory != nullptr ? find(start) : nullptr;
  if (slot == nullptr)
    return;
  for_pages(start, slot->bytes.load(std::memory_order_relaxed), [&](std::uintptr_t key) {
    Slot *page = find(key);
    if (page != nullptr && page->start.load(std::memory_order_relaxed) == start)
      page->key.store(0, std::memory_order_release);
  });
  slot->key.store(0, std::memory_order_release);
}

// The program's operator new: libstdc++'s calls malloc, and would be the site of everything.
void *allocate_by(const char *symbol, std::size_t bytes, const void *site) {
  using New = void *(*)(std::size_t);
  auto *next = reinterpret_cast<New>(::dlsym(RTLD_NEXT, symbol));
  if (next == nullptr)
    std::abort(); // nobody calls it where there is none
  void *memory = next(bytes);
  forget(memory);
  return remember(memory, bytes, site);
}

} // namespace

TANDEM_EXPORT void *malloc(std::size_t bytes) {
  return remember(__libc_malloc(bytes), bytes, __builtin_return_address(0));
}
TANDEM_EXPORT void *calloc(std::size_t count, std::size_t bytes) {
  return remember(__libc_calloc(count, bytes), count * bytes, __builtin_return_address(0));
}
TANDEM_EXPORT void *realloc(void *memory, std::size_t bytes) {
  forget(memory);
  return remember(__libc_realloc(memory, bytes), bytes, __builtin_return_address(0));
}
TANDEM_EXPORT void *memalign(std::size_t alignment, std::size_t bytes) {
  return remember(__libc_memalign(alignment, bytes), bytes, __builtin_return_address(0));
}
TANDEM_EXPORT void *aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return remember(__libc_memalign(alignment, bytes), bytes, __builtin_return_address(0));
}
TANDEM_EXPORT void free(void *memory) {
  forget(memory);
  __libc_free(memory);
}
TANDEM_EXPORT void *_Znwm(std::size_t bytes) {
  return allocate_by("_Znwm", bytes, __builtin_return_address(0));
}
TANDEM_EXPORT void *_Znam(std::size_t bytes) {
  return allocate_by("_Znam", bytes, __builtin_return_address(0));
}

// For the profiler: the return address of the allocation that `address` is in, and the block's
// start; 0 where it is in none that is known.
TANDEM_EXPORT std::uintptr_t tandem_find_allocation(std::uintptr_t address, std::uintptr_t *start) {
  const auto contains = [&](const Slot *slot) {
    if (slot == nullptr)
      return false;
    *start = slot->start.load(std::memory_order_relaxed);
    return address - *start < slot->bytes.load(std::memory_order_relaxed);
  };
  if (const Slot *slot = find(address / kPage * kPage | kPageKey); contains(slot))
    return slot->site.load(std::memory_order_relaxed);
  const std::uintptr_t first = address / kAlignment * kAlignment;
  for (std::uintptr_t at = first; at > first - kPage; at -= kAlignment)
    if (const Slot *slot = find(at))
      return contains(slot) ? slot->site.load(std::memory_order_relaxed) : 0;
  return 0;
}

// A transaction's allocation, which the runtime's own code has made for the call at `site`.
TANDEM_EXPORT void tandem_name_allocation(void *memory, const void *site) {
  const Slot *slot = find(reinterpret_cast<std::uintptr_t>(memory));
  if (slot == nullptr)
    return;
  const std::size_t bytes = slot->bytes.load(std::memory_order_relaxed);
  forget(memory);
  remember(memory, bytes, site);
}
