// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of the process inside a transaction. It becomes irrevocable first: so what led to the end
// was true and not the view of an attempt that would have been undone; output that it had put off
// is written; and the memory that handlers, debuggers and core dumps see is what a program with
// locks would have left.
#include "runtime/library/access.h"
#include "runtime/transaction/transaction.h"

#include <cstdlib>

using namespace tandem;

extern "C" {
[[noreturn]] void __assert_fail(const char *, const char *, unsigned, const char *) noexcept;
[[noreturn]] void __assert_perror_fail(int, const char *, unsigned, const char *) noexcept;
}

namespace {

void face_the_end() noexcept {
  if (current_thread != nullptr && current_thread->depth != 0)
    transaction::become_irrevocable(*current_thread, profile::SerialCause::irrevocable_call);
}

} // namespace

extern "C" {
[[noreturn, gnu::visibility("default")]] void _ZGTt5abort() {
  face_the_end();
  std::abort();
}
[[noreturn, gnu::visibility("default")]] void
_ZGTt13__assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
  face_the_end();
  __assert_fail(assertion, file, line, function);
}
[[noreturn, gnu::visibility("default")]] void
_ZGTt20__assert_perror_fail(int error, const char *file, unsigned line, const char *function) {
  face_the_end();
  __assert_perror_fail(error, file, line, function);
}
}
