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

// Of held.c, all of which begin so: the list of the locks that the thread holds; how many they are,
// and to set that.
inline constexpr char kHeldPrefix[] = "_TANDEM_held_";
inline constexpr char kHeldAcquire[] = "_TANDEM_held_acquire";
inline constexpr char kHeldRelease[] = "_TANDEM_held_release";
inline constexpr char kHeldCount[] = "_TANDEM_held_count";
inline constexpr char kHeldRestore[] = "_TANDEM_held_restore";

// Of held.c, for regions of a converted lock that stay real: such a region has begun and ends;
// which lock an acquisition found to be held by one (null: none), to set that and to ask for it; to
// wait until that lock is free; to set whether the thread is where it must not wait, which gives
// what was set before.
inline constexpr char kHeldReally[] = "_TANDEM_held_really";
inline constexpr char kHeldNoMore[] = "_TANDEM_held_no_more";
inline constexpr char kHeldRefuse[] = "_TANDEM_held_refuse";
inline constexpr char kHeldRefused[] = "_TANDEM_held_refused";
inline constexpr char kHeldWait[] = "_TANDEM_held_wait";
inline constexpr char kHeldNest[] = "_TANDEM_held_nest";

// Of held.c: gives the processor away, before a word is looked at again.
inline constexpr char kHeldYield[] = "_TANDEM_held_yield";

// Of a pthread_mutex_t, the offset of the word that says that it is held, in bytes: glibc uses it
// for robust mutexes only.
inline constexpr unsigned kHeldWord = 24;

// Operations on locks that are words (compiler/convert/words.h), as pthread's on mutexes; the
// module defines them.
inline constexpr char kWordPrefix[] = "_TANDEM_word_";
inline constexpr char kWordLock[] = "_TANDEM_word_lock";
inline constexpr char kWordTrylock[] = "_TANDEM_word_trylock";
inline constexpr char kWordUnlock[] = "_TANDEM_word_unlock";

// Beside operations on locks, where some locks guard their data (runtime/transaction/guarded_by.h):
// before an acquisition of one that does; behind a successful attempt at one, 0 or EBUSY; before an
// acquisition of another lock; at the begin of a section of one. The catalogue has them replaced in
// transactions; elsewhere finish_guarded_by() takes them out.
inline constexpr char kGuardedByAcquire[] = "_TANDEM_guarded_by_acquire";
inline constexpr char kGuardedByTry[] = "_TANDEM_guarded_by_try";
inline constexpr char kGuardedByOther[] = "_TANDEM_guarded_by_other";
inline constexpr char kGuardedByFirst[] = "_TANDEM_guarded_by_first";

// Of sleepers.c, for waits with converted locks: a section takes a ticket, and where it waits asks
// for that; sleeps for a condition; signals one.
inline constexpr char kHeldTicket[] = "_TANDEM_held_ticket";
inline constexpr char kHeldTaken[] = "_TANDEM_held_taken";
inline constexpr char kHeldAttributes[] = "_TANDEM_held_attributes";
inline constexpr char kHeldSleep[] = "_TANDEM_held_sleep";
inline constexpr char kHeldSignal[] = "_TANDEM_held_signal";
inline constexpr char kHeldBroadcast[] = "_TANDEM_held_broadcast";

} // namespace tandem
