// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exported calls (docs/formats/abi.md).
#include "runtime/abi/inline.h"
#include "runtime/algorithms/global_lock.h"
#include "runtime/fatal.h"

#define TANDEM_EXPORT __attribute__((visibility("default")))

extern "C" {

// Written only by its own thread, here and in inline.c. Depth of 0: the thread does not hold the
// lock.
TANDEM_EXPORT __thread std::uint32_t _TANDEM_global_lock_depth = 0;

TANDEM_EXPORT void _TANDEM_global_lock_enter(const tandem_section *section) {
  if (_TANDEM_global_lock_depth == 0)
    tandem::global_lock::acquire(*section);
  ++_TANDEM_global_lock_depth;
}

TANDEM_EXPORT void _TANDEM_global_lock_leave(const tandem_section *section) {
  if (_TANDEM_global_lock_depth == 0) [[unlikely]]
    tandem::fatal("the atomic section '%s' (%s:%u) is left by a thread that is in none",
                  section->name, section->file, section->line);
  if (--_TANDEM_global_lock_depth == 0)
    tandem::global_lock::release(*section);
}

// The colour first: in a transaction that makes it irrevocable, which may begin it again.
TANDEM_EXPORT void _TANDEM_process_enter(const tandem_section *section) {
  if (_TANDEM_global_lock_depth == 0)
    _TANDEM_colours_enter(section);
  _TANDEM_global_lock_enter(section);
}

TANDEM_EXPORT void _TANDEM_process_leave(const tandem_section *section) {
  _TANDEM_global_lock_leave(section);
  if (_TANDEM_global_lock_depth == 0)
    _TANDEM_colours_leave(section);
}

} // extern "C"
