// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transaction may throw and catch, and be undone in the middle of either. libstdc++ is only used
// where the program has it: its functions are weak.
//
// Between allocation and the handler the exception is memory that the transaction allocated
// (abi/itm_exceptions.cc). From the handler on, libstdc++ ends it with the handler.
#include "runtime/actions/actions.h"

#include <cstddef>

extern "C" {
// The beginning of libstdc++'s per-thread state. Source: Itanium C++ ABI, Exception
// Handling, 2.2.2.
struct __cxa_eh_globals {
  void *caught_exceptions;
  unsigned int uncaught_exceptions;
};
[[gnu::weak]] __cxa_eh_globals *__cxa_get_globals() noexcept;
// libstdc++'s for transactional memory: ends an exception that has not been caught, and `caught`
// handlers, without running destructors.
[[gnu::weak]] void __cxa_tm_cleanup(void *unthrown, void *cleanup, unsigned int caught) noexcept;
}

namespace tandem::exceptions {

void prepare(Thread &thread) noexcept {
  thread.uncaught = nullptr;
  if (&__cxa_get_globals != nullptr)
    thread.uncaught = &__cxa_get_globals()->uncaught_exceptions;
}

void roll_back(Thread &thread, std::uint32_t caught, std::uint32_t uncaught) noexcept {
  if (thread.caught != caught) {
    __cxa_tm_cleanup(nullptr, nullptr, thread.caught - caught);
    thread.caught = caught;
  }
  if (thread.uncaught != nullptr)
    *thread.uncaught = uncaught;
}

} // namespace tandem::exceptions
