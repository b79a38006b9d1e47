// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libstdc++'s exception calls as transactions make them (actions/exceptions.cc says how they are
// undone).
#include "runtime/abi/itm_export.h"
#include "runtime/actions/actions.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/transaction.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

using namespace tandem;

extern "C" {
[[gnu::weak]] void *__cxa_allocate_exception(std::size_t) noexcept;
[[gnu::weak]] void __cxa_free_exception(void *) noexcept;
[[gnu::weak]] void __cxa_throw(void *, void *, void (*)(void *));
[[gnu::weak]] void *__cxa_begin_catch(void *) noexcept;
[[gnu::weak]] void __cxa_end_catch();
[[gnu::weak]] void __cxa_tm_cleanup(void *unthrown, void *cleanup, unsigned int caught) noexcept;
}

namespace {

// The unwinder's part is right before the exception object. Source: Itanium C++ ABI, Exception
// Handling, 2.2.1; sizeof(_Unwind_Exception) on x86-64.
constexpr std::size_t kUnwindBytes = 32;

// What undoing does with an exception that is not yet thrown, that is under way, and that a handler
// has taken over.
void release_unthrown(void *exception) { __cxa_free_exception(exception); }
void release_thrown(void *exception) {
  __cxa_tm_cleanup(nullptr, static_cast<char *>(exception) - kUnwindBytes, 0);
}
void release_nothing(void *) {}

// Changes what undoing does with `exception`. An exception from outside the transaction has no
// entry, and is not undone. Entries keep their positions, which checkpoints know.
void set_release(Thread &thread, const void *exception, void (*release)(void *)) noexcept {
  for (AllocationAction &action : thread.allocations)
    if (action.memory == exception && action.allocated)
      action.release = release;
}

} // namespace

TANDEM_ITM void *_ITM_cxa_allocate_exception(std::size_t bytes) noexcept {
  void *exception = __cxa_allocate_exception(bytes);
  Thread &thread = transaction::expect_transaction("throw");
  actions::add(thread, AllocationAction{exception, release_unthrown, bytes, true});
  // The interval with this exception and the ones before it.
  const auto low = reinterpret_cast<std::uintptr_t>(exception);
  const std::uintptr_t high = low + bytes;
  if (!thread.throwing) {
    thread.throwing = true;
    thread.fresh = low;
    thread.fresh_bytes = bytes;
    return exception;
  }
  const std::uintptr_t end = std::max(high, thread.fresh + thread.fresh_bytes);
  thread.fresh = std::min(low, thread.fresh);
  thread.fresh_bytes = end - thread.fresh;
  return exception;
}

// Called where constructing the exception threw another one: it goes whether the transaction
// commits or not.
TANDEM_ITM void _ITM_cxa_free_exception(void *exception) noexcept {
  actions::add(transaction::expect_transaction("throw"),
               AllocationAction{exception, release_unthrown, 0, false});
}

TANDEM_ITM void _ITM_cxa_throw(void *exception, void *type, void (*destructor)(void *)) {
  set_release(transaction::expect_transaction("throw"), exception, release_thrown);
  __cxa_throw(exception, type, destructor);
}

TANDEM_ITM void *_ITM_cxa_begin_catch(void *exception) noexcept {
  Thread &thread = transaction::expect_transaction("catch");
  // `exception` is the unwinder's part. From here on the end of the handler releases it.
  set_release(thread, static_cast<char *>(exception) + kUnwindBytes, release_nothing);
  actions::announce(thread);
  ++thread.caught;
  return __cxa_begin_catch(exception);
}

TANDEM_ITM void _ITM_cxa_end_catch() {
  --transaction::expect_transaction("catch").caught;
  __cxa_end_catch();
}
