// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operations on converted locks are called in a module, between the conversion, which leaves
// them, and the end of the pass, which resolves them (compiler/convert). They do nothing that
// another thread could see.
#pragma once

namespace tandem {

// Those that are kept, followed by "plain_" or "held_" and the library's name; resolved by
// finish_own_locks(). The catalogue knows them.
inline constexpr const char *kOwnLock = "_TANDEM_own_";

// Of held.c: the list of the locks that the thread holds; how many they are, and to set that.
inline constexpr const char *kHeldAcquire = "_TANDEM_held_acquire";
inline constexpr const char *kHeldRelease = "_TANDEM_held_release";
inline constexpr const char *kHeldCount = "_TANDEM_held_count";
inline constexpr const char *kHeldRestore = "_TANDEM_held_restore";

} // namespace tandem
