// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The allocating functions that libitm's ABI has no version of. What an attempt allocates is freed
// when it is undone; what a transaction frees, when it has committed.
#include "runtime/abi/itm_export.h"
#include "runtime/actions/actions.h"
#include "runtime/library/access.h"
#include "runtime/library/scratch.h"
#include "runtime/profile/profile.h"

#include <algorithm>
#include <cstdlib>
#include <malloc.h>

using namespace tandem;
using namespace tandem::library;

TANDEM_ITM void *_ITM_malloc(std::size_t);
TANDEM_ITM void *_ITM_calloc(std::size_t, std::size_t);
TANDEM_ITM void _ITM_free(void *);

TANDEM_WRAPPER std::size_t _ZGTt6strlen(const char *);
TANDEM_WRAPPER std::size_t _ZGTt7strnlen(const char *, std::size_t);

namespace {

Thread *in_transaction() noexcept {
  Thread *thread = current_thread;
  return thread == nullptr || thread->depth == 0 ? nullptr : thread;
}

// Memory from a plain function, as the transaction's; null: errno says why, transactionally.
void *owned(void *memory, std::size_t bytes, int error, Thread *thread, const void *from) noexcept {
  if (memory == nullptr) {
    set_errno(error, thread);
    return nullptr;
  }
  actions::add(*thread, AllocationAction{memory, std::free, bytes, true});
  if (has_counters(*thread)) [[unlikely]]
    profile::name_allocation(memory, from);
  if (!thread->throwing) {
    thread->fresh = reinterpret_cast<std::uintptr_t>(memory);
    thread->fresh_bytes = bytes;
  }
  return memory;
}

template <class Allocate>
void *allocate(std::size_t bytes, Thread *thread, const void *from,
               const Allocate &plain) noexcept {
  void *memory = nullptr;
  int error = 0;
  {
    const KeptErrno kept;
    memory = plain();
    error = kept.now();
  }
  return owned(memory, bytes, error, thread, from);
}

void *resize(void *old, std::size_t bytes, Thread *thread, const void *from) noexcept {
  if (old != nullptr && bytes == 0) {
    _ITM_free(old);
    return nullptr;
  }
  const std::size_t had = old == nullptr ? 0 : malloc_usable_size(old);
  // A block that is not much too large stays: nothing has to be undone.
  if (bytes <= had && bytes >= had / 2)
    return old;
  void *memory = allocate(bytes, thread, from, [=] { return std::malloc(bytes); });
  if (memory == nullptr || old == nullptr)
    return memory;
  // Plain writes to the new block: nobody else knows it.
  read(memory, old, std::min(had, bytes), thread);
  _ITM_free(old);
  return memory;
}

char *duplicate(const char *text, std::size_t length, const void *from) noexcept {
  Thread *thread = in_transaction();
  auto *memory = static_cast<char *>(
      allocate(length + 1, thread, from, [=] { return std::malloc(length + 1); }));
  if (memory == nullptr)
    return nullptr;
  read(memory, text, length, thread);
  memory[length] = '\0';
  return memory;
}

} // namespace

TANDEM_WRAPPER void *_ZGTt6malloc(std::size_t bytes) {
  return in_transaction() == nullptr ? std::malloc(bytes) : _ITM_malloc(bytes);
}
TANDEM_WRAPPER void *_ZGTt6calloc(std::size_t count, std::size_t bytes) {
  return in_transaction() == nullptr ? std::calloc(count, bytes) : _ITM_calloc(count, bytes);
}
TANDEM_WRAPPER void _ZGTt4free(void *memory) {
  if (in_transaction() == nullptr)
    std::free(memory);
  else
    _ITM_free(memory);
}
TANDEM_WRAPPER void *_ZGTt7realloc(void *old, std::size_t bytes) {
  Thread *thread = in_transaction();
  return thread == nullptr ? std::realloc(old, bytes)
                           : resize(old, bytes, thread, __builtin_return_address(0));
}
TANDEM_WRAPPER void *_ZGTt12reallocarray(void *old, std::size_t count, std::size_t bytes) {
  Thread *thread = in_transaction();
  if (thread == nullptr)
    return reallocarray(old, count, bytes);
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) {
    set_errno(ENOMEM, thread);
    return nullptr;
  }
  return resize(old, total, thread, __builtin_return_address(0));
}
TANDEM_WRAPPER void *_ZGTt13aligned_alloc(std::size_t alignment, std::size_t bytes) {
  Thread *thread = in_transaction();
  return thread == nullptr ? std::aligned_alloc(alignment, bytes)
                           : allocate(bytes, thread, __builtin_return_address(0),
                                      [=] { return std::aligned_alloc(alignment, bytes); });
}
TANDEM_WRAPPER void *_ZGTt8memalign(std::size_t alignment, std::size_t bytes) {
  Thread *thread = in_transaction();
  return thread == nullptr ? memalign(alignment, bytes)
                           : allocate(bytes, thread, __builtin_return_address(0),
                                      [=] { return memalign(alignment, bytes); });
}
TANDEM_WRAPPER void *_ZGTt6valloc(std::size_t bytes) {
  Thread *thread = in_transaction();
  return thread == nullptr
             ? valloc(bytes)
             : allocate(bytes, thread, __builtin_return_address(0), [=] { return valloc(bytes); });
}
// Does not touch errno.
TANDEM_WRAPPER int _ZGTt14posix_memalign(void **result, std::size_t alignment, std::size_t bytes) {
  Thread *thread = in_transaction();
  if (thread == nullptr)
    return posix_memalign(result, alignment, bytes);
  const KeptErrno kept;
  void *memory = nullptr;
  const int error = posix_memalign(&memory, alignment, bytes);
  if (error != 0)
    return error;
  write_value(result, owned(memory, bytes, 0, thread, __builtin_return_address(0)), thread);
  return 0;
}
TANDEM_WRAPPER std::size_t _ZGTt18malloc_usable_size(void *memory) {
  return malloc_usable_size(memory); // constant for as long as the block lives
}

TANDEM_WRAPPER char *_ZGTt6strdup(const char *text) {
  return in_transaction() == nullptr
             ? strdup(text)
             : duplicate(text, _ZGTt6strlen(text), __builtin_return_address(0));
}
TANDEM_WRAPPER char *_ZGTt8__strdup(const char *text) { return _ZGTt6strdup(text); }
TANDEM_WRAPPER char *_ZGTt7strndup(const char *text, std::size_t most) {
  return in_transaction() == nullptr
             ? strndup(text, most)
             : duplicate(text, _ZGTt7strnlen(text, most), __builtin_return_address(0));
}
TANDEM_WRAPPER char *_ZGTt9__strndup(const char *text, std::size_t most) {
  return _ZGTt7strndup(text, most);
}

// The operators that libitm's ABI does not list; the program's, or libstdc++'s.
extern "C" {
struct TandemNothrow;
[[gnu::weak]] void *_ZnwmSt11align_val_t(std::size_t, std::size_t);
[[gnu::weak]] void *_ZnamSt11align_val_t(std::size_t, std::size_t);
[[gnu::weak]] void *_ZnwmSt11align_val_tRKSt9nothrow_t(std::size_t, std::size_t,
                                                       const TandemNothrow *);
[[gnu::weak]] void *_ZnamSt11align_val_tRKSt9nothrow_t(std::size_t, std::size_t,
                                                       const TandemNothrow *);
[[gnu::weak]] void _ZdaPv(void *);
[[gnu::weak]] void _ZdlPvSt11align_val_t(void *, std::size_t);
[[gnu::weak]] void _ZdaPvSt11align_val_t(void *, std::size_t);
}

namespace {

// An alignment is not known when the memory is given back, and no implementation uses it but to
// find its own bookkeeping; libstdc++'s, and thus every consistent replacement, frees by it.
void delete_aligned(void *memory) { _ZdlPvSt11align_val_t(memory, alignof(std::max_align_t)); }
void delete_aligned_array(void *memory) {
  _ZdaPvSt11align_val_t(memory, alignof(std::max_align_t));
}

// A plain operator has allocated; it throws by itself.
void *created(void *memory, std::size_t bytes, void release(void *), const void *from) noexcept {
  Thread *thread = in_transaction();
  if (memory == nullptr || thread == nullptr)
    return memory;
  actions::add(*thread, AllocationAction{memory, release, bytes, true});
  if (has_counters(*thread)) [[unlikely]]
    profile::name_allocation(memory, from);
  return memory;
}
void deleted(void *memory, void release(void *)) noexcept {
  Thread *thread = in_transaction();
  if (memory == nullptr)
    return;
  if (thread == nullptr)
    release(memory);
  else
    actions::add(*thread, AllocationAction{memory, release, 0, false});
}

} // namespace

TANDEM_WRAPPER void *_ZGTtnwmSt11align_val_t(std::size_t bytes, std::size_t alignment) {
  return created(_ZnwmSt11align_val_t(bytes, alignment), bytes, delete_aligned,
                 __builtin_return_address(0));
}
TANDEM_WRAPPER void *_ZGTtnamSt11align_val_t(std::size_t bytes, std::size_t alignment) {
  return created(_ZnamSt11align_val_t(bytes, alignment), bytes, delete_aligned_array,
                 __builtin_return_address(0));
}
TANDEM_WRAPPER void *_ZGTtnwmSt11align_val_tRKSt9nothrow_t(std::size_t bytes, std::size_t alignment,
                                                           const TandemNothrow *nothrow) {
  return created(_ZnwmSt11align_val_tRKSt9nothrow_t(bytes, alignment, nothrow), bytes,
                 delete_aligned, __builtin_return_address(0));
}
TANDEM_WRAPPER void *_ZGTtnamSt11align_val_tRKSt9nothrow_t(std::size_t bytes, std::size_t alignment,
                                                           const TandemNothrow *nothrow) {
  return created(_ZnamSt11align_val_tRKSt9nothrow_t(bytes, alignment, nothrow), bytes,
                 delete_aligned_array, __builtin_return_address(0));
}
TANDEM_WRAPPER void _ZGTtdaPvm(void *memory, std::size_t) { deleted(memory, _ZdaPv); }
TANDEM_WRAPPER void _ZGTtdlPvSt11align_val_t(void *memory, std::size_t) {
  deleted(memory, delete_aligned);
}
TANDEM_WRAPPER void _ZGTtdaPvSt11align_val_t(void *memory, std::size_t) {
  deleted(memory, delete_aligned_array);
}
TANDEM_WRAPPER void _ZGTtdlPvmSt11align_val_t(void *memory, std::size_t, std::size_t) {
  deleted(memory, delete_aligned);
}
TANDEM_WRAPPER void _ZGTtdaPvmSt11align_val_t(void *memory, std::size_t, std::size_t) {
  deleted(memory, delete_aligned_array);
}
