// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of plain functions on private copies of their arguments (include/tandem/library.h).
#include "runtime/fatal.h"
#include "runtime/library/access.h"
#include "runtime/library/scratch.h"

#include <tandem/library.h>

using namespace tandem;
using namespace tandem::library;

namespace {

using Function = void (*)(void *const *);

void expect_valid(Function function, const tandem_argument *arguments, std::size_t count) noexcept {
  if (function == nullptr)
    fatal("tandem_marshal: no function");
  if (count > TANDEM_MOST_ARGUMENTS)
    fatal("tandem_marshal: %zu arguments, at most %d are possible", count, TANDEM_MOST_ARGUMENTS);
  if (arguments == nullptr && count != 0)
    fatal("tandem_marshal: no arguments, but a count of %zu", count);
}

// One that the transaction has told; counted from 0.
void expect_valid(const tandem_argument &argument, std::size_t position) noexcept {
  if (argument.direction < TANDEM_IN || argument.direction > TANDEM_IN_OUT)
    fatal("tandem_marshal: argument %zu: %d is no direction, use TANDEM_IN, TANDEM_OUT or "
          "TANDEM_IN_OUT",
          position, argument.direction);
  if (argument.memory == nullptr && argument.bytes != 0)
    fatal("tandem_marshal: argument %zu: %zu bytes at a null pointer", position, argument.bytes);
  if (argument.bytes > PTRDIFF_MAX)
    fatal("tandem_marshal: argument %zu: no memory has %zu bytes", position, argument.bytes);
}

// As in a transaction the function sees and sets the program's errno.
void call(Function function, void *const *copies, Thread *thread) noexcept {
  const int before = read_value(&errno, thread);
  int after = 0;
  {
    const KeptErrno kept;
    errno = before;
    function(copies);
    after = errno;
  }
  if (after != before)
    set_errno(after, thread);
}

void on_copies(Function function, const tandem_argument *arguments, std::size_t count,
               Thread *thread) noexcept {
  // The array is the program's memory too.
  tandem_argument told[TANDEM_MOST_ARGUMENTS];
  read(told, arguments, count * sizeof *arguments, thread);
  Scratch scratch(thread);
  void *copies[TANDEM_MOST_ARGUMENTS];
  for (std::size_t i = 0; i < count; ++i) {
    expect_valid(told[i], i);
    copies[i] = told[i].memory == nullptr ? nullptr : scratch.take(told[i].bytes);
    if (told[i].bytes == 0)
      continue;
    if ((told[i].direction & TANDEM_IN) != 0)
      read(copies[i], told[i].memory, told[i].bytes, thread);
    else
      std::memset(copies[i], 0, told[i].bytes);
  }
  call(function, copies, thread);
  for (std::size_t i = 0; i < count; ++i)
    if ((told[i].direction & TANDEM_OUT) != 0 && told[i].bytes != 0)
      write(told[i].memory, copies[i], told[i].bytes, thread);
}

} // namespace

extern "C" [[gnu::visibility("default")]] void tandem_marshal(void (*function)(void *const *),
                                                              const tandem_argument *arguments,
                                                              std::size_t count) {
  expect_valid(function, arguments, count);
  if (Thread *thread = writer())
    return on_copies(function, arguments, count, thread);
  void *memory[TANDEM_MOST_ARGUMENTS];
  for (std::size_t i = 0; i < count; ++i) {
    expect_valid(arguments[i], i);
    memory[i] = arguments[i].memory;
  }
  function(memory);
}
