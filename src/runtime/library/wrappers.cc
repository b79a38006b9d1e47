// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a function of the C library to its transactional version, for calls through pointers. Only
// asked where no clone table has an answer, so a plain search will do.
#include "runtime/library/hooks.h"

#include <cstddef>

// Functions, whatever their types: only the addresses count.
#define TANDEM_LOCK_WRAPPER_OF TANDEM_WRAPPER_OF
#define TANDEM_OUTPUT_WRAPPER_OF TANDEM_WRAPPER_OF
#define TANDEM_WRAPPER_OF(LENGTH, NAME)                                                            \
  extern "C" void tandem_plain_##NAME() __asm__(#NAME);                                            \
  extern "C" void tandem_wrapper_##NAME() __asm__("_ZGTt" #LENGTH #NAME);
#include "runtime/library/wrappers.def"
#undef TANDEM_OUTPUT_WRAPPER_OF
#undef TANDEM_WRAPPER_OF

namespace tandem::library {
namespace {

struct Pair {
  void (*plain)();
  void (*wrapper)();
  bool puts_off_output;
};

const Pair pairs[] = {
#define TANDEM_WRAPPER_OF(LENGTH, NAME) {tandem_plain_##NAME, tandem_wrapper_##NAME, false},
#define TANDEM_OUTPUT_WRAPPER_OF(LENGTH, NAME) {tandem_plain_##NAME, tandem_wrapper_##NAME, true},
#include "runtime/library/wrappers.def"
#undef TANDEM_OUTPUT_WRAPPER_OF
#undef TANDEM_WRAPPER_OF
};
#undef TANDEM_LOCK_WRAPPER_OF

} // namespace

void *wrapper_of(void *original, WhenOutput output) noexcept {
  const auto wanted = reinterpret_cast<void (*)()>(original);
  for (const Pair &pair : pairs)
    if (pair.plain == wanted && (output == WhenOutput::at_commit || !pair.puts_off_output))
      return reinterpret_cast<void *>(pair.wrapper);
  return nullptr;
}

} // namespace tandem::library
