// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ThreadSanitizer is told where the program has it: it sees neither our words nor what orders
// transactions. There all of them run one at a time (settings.cc), and this says which follows
// which.
#pragma once

// Of its interface, in gcc's library and in compiler-rt.
extern "C" [[gnu::weak]] void __tsan_acquire(void *address);
extern "C" [[gnu::weak]] void __tsan_release(void *address);

namespace tandem::races {

// Whether the process has ThreadSanitizer.
inline bool are_looked_for() noexcept { return __tsan_acquire != nullptr; }

// The calling thread has acquired, or is about to release, the lock at `lock`.
inline void acquired(void *lock) noexcept {
  if (__tsan_acquire != nullptr) [[unlikely]]
    __tsan_acquire(lock);
}
inline void about_to_release(void *lock) noexcept {
  if (__tsan_release != nullptr) [[unlikely]]
    __tsan_release(lock);
}

} // namespace tandem::races
