/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Compiled to bitcode only. Invariant: no state here; these test the thread's own words in
 * libtandem.so and call it for everything that another thread could see.
 */
#include "runtime/abi/inline.h"

/* runtime/CMakeLists.txt gives the definitions linkonce_odr linkage and takes off what depends on
 * the target CPU, so that they can be inlined into code compiled with any options. */
#define TANDEM_INLINE __attribute__((visibility("hidden"), always_inline)) inline

TANDEM_INLINE void _TANDEM_inline_global_lock_enter(const struct tandem_section *section) {
  if (__builtin_expect(_TANDEM_global_lock_depth != 0, 0)) {
    ++_TANDEM_global_lock_depth;
    return;
  }
  _TANDEM_global_lock_enter(section);
}

TANDEM_INLINE void _TANDEM_inline_global_lock_leave(const struct tandem_section *section) {
  if (__builtin_expect(_TANDEM_global_lock_depth > 1, 0)) {
    --_TANDEM_global_lock_depth;
    return;
  }
  _TANDEM_global_lock_leave(section);
}
