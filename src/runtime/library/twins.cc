// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a function of the C library to its transactional version, for calls through pointers: only
// asked where no clone table has an answer, so a plain search will do. And which of them wait.
#include "runtime/library/hooks.h"
#include "runtime/linkage/calls.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <iterator>

// Functions, whatever their types: only the addresses count.
#define TANDEM_LOCK_TWIN_OF TANDEM_TWIN_OF
#define TANDEM_TWIN_OF(LENGTH, NAME)                                                               \
  extern "C" void tandem_plain_##NAME() __asm__(#NAME);                                            \
  extern "C" void tandem_twin_##NAME() __asm__("_ZGTt" #LENGTH #NAME);
#include "runtime/library/twins.def"
#undef TANDEM_TWIN_OF

namespace tandem::library {
namespace {

struct Pair {
  void (*plain)();
  void (*twin)();
};

const Pair pairs[] = {
#define TANDEM_TWIN_OF(LENGTH, NAME) {tandem_plain_##NAME, tandem_twin_##NAME},
#include "runtime/library/twins.def"
#undef TANDEM_TWIN_OF
};
#undef TANDEM_LOCK_TWIN_OF

const char *const waiting[] = {
#define TANDEM_TWIN_OF(LENGTH, NAME)
#define TANDEM_LOCK_TWIN_OF(LENGTH, NAME) "_ZGTt" #LENGTH #NAME,
#include "runtime/library/twins.def"
#undef TANDEM_LOCK_TWIN_OF
#undef TANDEM_TWIN_OF
    "tandem_retry",
    "tandem_wait",
};

// By its symbol.
bool waits(const char *function) noexcept {
  return std::any_of(std::begin(waiting), std::end(waiting),
                     [&](const char *name) { return std::strcmp(name, function) == 0; });
}

} // namespace

void *twin_of(void *original) noexcept {
  const auto wanted = reinterpret_cast<void (*)()>(original);
  for (const Pair &pair : pairs)
    if (pair.plain == wanted)
      return reinterpret_cast<void *>(pair.twin);
  return nullptr;
}

void expect_waits() noexcept {
  if (!must_give_way.load(std::memory_order_relaxed) && linkage::anything_calls(waits))
    must_give_way.store(true, std::memory_order_relaxed);
}

void expect_waits_at(Thread &thread, std::uintptr_t target) noexcept {
  linkage::Place place;
  if (linkage::calls_from(target, waits, place))
    must_give_way.store(true, std::memory_order_relaxed);
  thread.scanned = place.low;
  thread.scanned_bytes = place.bytes;
}

} // namespace tandem::library
