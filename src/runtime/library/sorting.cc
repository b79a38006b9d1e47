// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qsort and bsearch: the program's comparison runs as its transactional clone.
#include "runtime/abi/itm_export.h"
#include "runtime/library/access.h"
#include "runtime/library/scratch.h"

#include <cstdlib>
#include <cstring>

using namespace tandem;
using namespace tandem::library;

TANDEM_ITM void *_ITM_getTMCloneOrIrrevocable(void *original);

namespace {

using Compare = int (*)(const void *, const void *);

// May make the transaction irrevocable, where the function has no clone.
Compare clone_of(Compare plain) noexcept {
  return reinterpret_cast<Compare>(_ITM_getTMCloneOrIrrevocable(reinterpret_cast<void *>(plain)));
}

// Merges the sorted halves of `items` by way of `spare`.
void merge(char *items, char *spare, std::size_t count, std::size_t bytes, Compare compare) {
  const std::size_t half = count / 2;
  std::size_t left = 0;
  std::size_t right = half;
  char *out = spare;
  for (; left < half && right < count; out += bytes) {
    // The left one first where they are equal, as glibc does: the sort is stable.
    std::size_t &next = compare(items + left * bytes, items + right * bytes) <= 0 ? left : right;
    std::memcpy(out, items + next * bytes, bytes);
    ++next;
  }
  std::memcpy(out, items + left * bytes, (half - left) * bytes);
  out += (half - left) * bytes;
  // What is left of the right half is in its place.
  std::memcpy(items, spare, static_cast<std::size_t>(out - spare));
}

void sort(char *items, char *spare, std::size_t count, std::size_t bytes, Compare compare) {
  if (count < 2)
    return;
  const std::size_t half = count / 2;
  sort(items, spare, half, bytes, compare);
  sort(items + half * bytes, spare, count - half, bytes, compare);
  merge(items, spare, count, bytes, compare);
}

} // namespace

TANDEM_WRAPPER void _ZGTt5qsort(void *base, std::size_t count, std::size_t bytes, Compare compare) {
  Thread *thread = writer();
  if (thread != nullptr && count > 1 && bytes != 0)
    compare = clone_of(compare);
  thread = writer();
  if (thread == nullptr || count < 2 || bytes == 0) {
    std::qsort(base, count, bytes, compare);
    return;
  }
  const std::size_t total = count * bytes;
  Scratch<768> scratch(thread);
  auto *before = static_cast<char *>(scratch.take(total));
  auto *items = static_cast<char *>(scratch.take(total));
  auto *spare = static_cast<char *>(scratch.take(total));
  read(before, base, total, thread);
  std::memcpy(items, before, total);
  sort(items, spare, count, bytes, compare);
  // Only what has moved: the rest stays readable for others.
  for (std::size_t at = 0; at < total; at += bytes)
    if (std::memcmp(before + at, items + at, bytes) != 0)
      write(static_cast<char *>(base) + at, items + at, bytes, thread);
}

TANDEM_WRAPPER void *_ZGTt7bsearch(const void *key, const void *base, std::size_t count,
                                   std::size_t bytes, Compare compare) {
  if (writer() != nullptr)
    compare = clone_of(compare);
  std::size_t low = 0;
  std::size_t high = count;
  while (low < high) {
    const std::size_t middle = (low + high) / 2; // glibc's choice among equal ones
    const char *item = static_cast<const char *>(base) + middle * bytes;
    const int order = compare(key, item);
    if (order == 0)
      return const_cast<char *>(item);
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return nullptr;
}
