// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time: nothing to undo but the result. Each attempt sees its own.
#include "runtime/library/access.h"

#include <ctime>
#include <sys/time.h>

using namespace tandem;
using namespace tandem::library;

namespace {

// The status of a system call that filled in `value`; what it did becomes the program's.
template <class T, class Call> int filled(T *to, Thread *thread, const Call &call) noexcept {
  T value = {};
  int status = 0;
  int error = 0;
  {
    const KeptErrno kept;
    status = call(to == nullptr ? nullptr : &value);
    error = errno;
  }
  if (status != 0)
    set_errno(error, thread);
  else if (to != nullptr)
    write_value(to, value, thread);
  return status;
}

} // namespace

TANDEM_WRAPPER std::time_t _ZGTt4time(std::time_t *to) {
  Thread *thread = writer();
  if (thread == nullptr)
    return std::time(to);
  const std::time_t now = std::time(nullptr);
  if (to != nullptr)
    write_value(to, now, thread);
  return now;
}
TANDEM_WRAPPER int _ZGTt12gettimeofday(struct timeval *to, void *zone) {
  Thread *thread = writer();
  // A zone is obsolete: glibc clears it.
  if (thread == nullptr)
    return gettimeofday(to, static_cast<struct timezone *>(zone));
  if (zone != nullptr)
    write_value(static_cast<struct timezone *>(zone), {}, thread);
  return filled(to, thread, [](struct timeval *value) { return gettimeofday(value, nullptr); });
}
TANDEM_WRAPPER int _ZGTt13clock_gettime(clockid_t clock, struct timespec *to) {
  Thread *thread = writer();
  return thread == nullptr ? clock_gettime(clock, to)
                           : filled(to, thread, [clock](struct timespec *value) {
                               return clock_gettime(clock, value);
                             });
}
TANDEM_WRAPPER int _ZGTt12clock_getres(clockid_t clock, struct timespec *to) {
  Thread *thread = writer();
  return thread == nullptr ? clock_getres(clock, to)
                           : filled(to, thread, [clock](struct timespec *value) {
                               return clock_getres(clock, value);
                             });
}
