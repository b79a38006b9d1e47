// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory in transactions: what an aborted transaction allocated is freed again, and what a
// transaction frees is freed when it has committed and nobody can still be looking at it.
// The C++ operators are the program's, or libstdc++'s; C programs have none, so they are weak.
#include "runtime/abi/itm_export.h"
#include "runtime/actions/actions.h"
#include "runtime/profile/profile.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/transaction.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace tandem;

extern "C" {
struct TandemNothrow;
[[gnu::weak]] void *_Znwm(std::size_t);
[[gnu::weak]] void *_Znam(std::size_t);
[[gnu::weak]] void *_ZnwmRKSt9nothrow_t(std::size_t, const TandemNothrow *);
[[gnu::weak]] void *_ZnamRKSt9nothrow_t(std::size_t, const TandemNothrow *);
[[gnu::weak]] void _ZdlPv(void *);
[[gnu::weak]] void _ZdaPv(void *);
}

namespace {

using Release = void (*)(void *);

void *allocated(void *memory, std::size_t bytes, Release release, const char *call,
                const void *from) {
  if (memory == nullptr)
    return nullptr;
  Thread &thread = transaction::expect_transaction(call);
  if (thread.mode == Mode::hardware)
    return memory; // an abort undoes what the allocator did
  actions::add(thread, AllocationAction{memory, release, bytes, true});
  if (has_counters(thread)) [[unlikely]]
    profile::name_allocation(memory, from);
  if (!thread.throwing) {
    thread.fresh = reinterpret_cast<std::uintptr_t>(memory);
    thread.fresh_bytes = bytes;
  }
  return memory;
}

void freed(void *memory, Release release, const char *call) {
  if (memory != nullptr)
    actions::add(transaction::expect_transaction(call),
                 AllocationAction{memory, release, 0, false});
}

} // namespace

TANDEM_ITM void *_ITM_malloc(std::size_t bytes) {
  return allocated(std::malloc(bytes), bytes, std::free, "malloc", __builtin_return_address(0));
}
TANDEM_ITM void *_ITM_calloc(std::size_t count, std::size_t bytes) {
  return allocated(std::calloc(count, bytes), count * bytes, std::free, "calloc",
                   __builtin_return_address(0));
}
TANDEM_ITM void _ITM_free(void *memory) { freed(memory, std::free, "free"); }

TANDEM_ITM void *_ZGTtnwm(std::size_t bytes) {
  return allocated(_Znwm(bytes), bytes, _ZdlPv, "operator new", __builtin_return_address(0));
}
TANDEM_ITM void *_ZGTtnam(std::size_t bytes) {
  return allocated(_Znam(bytes), bytes, _ZdaPv, "operator new[]", __builtin_return_address(0));
}
TANDEM_ITM void *_ZGTtnwmRKSt9nothrow_t(std::size_t bytes, const TandemNothrow *nothrow) {
  return allocated(_ZnwmRKSt9nothrow_t(bytes, nothrow), bytes, _ZdlPv, "operator new",
                   __builtin_return_address(0));
}
TANDEM_ITM void *_ZGTtnamRKSt9nothrow_t(std::size_t bytes, const TandemNothrow *nothrow) {
  return allocated(_ZnamRKSt9nothrow_t(bytes, nothrow), bytes, _ZdaPv, "operator new[]",
                   __builtin_return_address(0));
}

// Sized and non-throwing deletes do what the plain one does; a program that replaces them must
// replace that one consistently. Source: C++20, [new.delete.single].
TANDEM_ITM void _ZGTtdlPv(void *memory) { freed(memory, _ZdlPv, "operator delete"); }
TANDEM_ITM void _ZGTtdlPvm(void *memory, std::size_t) { freed(memory, _ZdlPv, "operator delete"); }
TANDEM_ITM void _ZGTtdlPvRKSt9nothrow_t(void *memory, const TandemNothrow *) {
  freed(memory, _ZdlPv, "operator delete");
}
TANDEM_ITM void _ZGTtdlPvmRKSt9nothrow_t(void *memory, std::size_t, const TandemNothrow *) {
  freed(memory, _ZdlPv, "operator delete");
}
TANDEM_ITM void _ZGTtdaPv(void *memory) { freed(memory, _ZdaPv, "operator delete[]"); }
TANDEM_ITM void _ZGTtdaPvRKSt9nothrow_t(void *memory, const TandemNothrow *) {
  freed(memory, _ZdaPv, "operator delete[]");
}
