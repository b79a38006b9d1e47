// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/observe/shadow.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

namespace tandem::observe {
namespace {

constexpr unsigned kLeafBits = 24; // of an address: 16 MiB have one leaf
constexpr std::size_t kLeafWords = std::size_t{1} << (kLeafBits - 3);
constexpr std::size_t kLeaves = kMostAddress >> kLeafBits;

void *reserve(std::size_t bytes) {
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::fputs("libtandem_observe: cannot reserve memory for what it records; allow the process "
               "more virtual memory (ulimit -v)\n",
               stderr);
    std::abort();
  }
  return memory;
}

std::atomic<Word *> *leaves() {
  static auto *const table =
      static_cast<std::atomic<Word *> *>(reserve(kLeaves * sizeof(std::atomic<Word *>)));
  return table;
}

Word *leaf_of(std::uint64_t address) {
  std::atomic<Word *> &slot = leaves()[address >> kLeafBits];
  // acquire: the leaf that another thread's release published.
  Word *leaf = slot.load(std::memory_order_acquire);
  if (leaf != nullptr)
    return leaf;
  auto *fresh = static_cast<Word *>(reserve(kLeafWords * sizeof(Word)));
  if (slot.compare_exchange_strong(leaf, fresh, std::memory_order_acq_rel))
    return fresh;
  ::munmap(fresh, kLeafWords * sizeof(Word));
  return leaf;
}

} // namespace

Word &word_at(std::uint64_t address) {
  return leaf_of(address)[(address & ((std::uint64_t{1} << kLeafBits) - 1)) >> 3];
}

void forget(std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t kPageSpan = 4096 / sizeof(Word) * 8; // bytes that a page of words is for
  begin &= ~std::uint64_t{7};
  while (begin < end) {
    const std::uint64_t leaf_end = ((begin >> kLeafBits) + 1) << kLeafBits;
    const std::uint64_t stop = end < leaf_end ? end : leaf_end;
    if (leaves()[begin >> kLeafBits].load(std::memory_order_acquire) == nullptr) {
      begin = stop;
    } else if (begin % kPageSpan == 0 && stop - begin >= kPageSpan) {
      const std::uint64_t bytes = (stop - begin) / kPageSpan * 4096;
      ::madvise(&word_at(begin), bytes, MADV_DONTNEED);
      begin += bytes / 4096 * kPageSpan;
    } else {
      Word &word = word_at(begin);
      word.object.store(0, std::memory_order_relaxed);
      word.clear_records();
      begin += 8;
    }
  }
}

} // namespace tandem::observe
