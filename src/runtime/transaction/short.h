// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short sections: code without loops and calls that runs in place, by plain accesses, and without
// a log. What it holds meanwhile depends on the algorithm.
//
// norec: the clock. To all others it is a commit that lasts a little longer: who reads meanwhile
// sees the odd clock and looks again afterwards, who commits waits. It has no mark. Whoever must be
// serial (serial.h) sees it by the clock:
//
//     short section     clock odd (locked); the serial word taken? the algorithm another one? then
//                       even again, and nothing was done
//     who will be serial the word (locked); all marks 0; the clock even
//
// Either the section sees the word, or the other one sees the odd clock. As the algorithm changes
// only under the word (algorithms/automatic.h), a section that sees NOrec with the word free runs
// under NOrec to its end. Privatisation: it is not concurrent with any commit, and its own is
// followed by the same scan of the marks as others' (sync/quiescence.h).
//
// two-phase: the locks of all it accesses, as a writer, where these are known before it begins; it
// gives up where one is taken, and so never waits with locks. It has a mark, stored before the
// first lock is acquired (locked), and looks at the word after that.
//
// Under the other algorithms all sections are transactions; but those of locks that guard their
// data (guarded_by.h), which hold their lock's word under every algorithm that has such words.
//
// The compiler's side is compiler/enforce/short.h. Source of the idea: Dragojevic, Harris: STM in
// the small: trading generality for performance in software transactional memory (EuroSys 2012).
#pragma once

#include <cstdint>

// What a begin gives in a process that has one thread: nothing was acquired.
inline constexpr std::uint64_t kShortSingle = 1;

extern "C" {

// Memory that a section accesses.
struct tandem_short_place {
  const void *address;
  std::uint64_t bytes; // at least 1
};

// Begins one, where it may: not in a transaction, nor where sections are counted. Result: what
// _TANDEM_short_end is to be called with; 0: it has not begun, and is to be a transaction.
// `skipped`: of the section; how often it is not to be tried, since it was undone before. Null for
// one that is never undone. `places`: all that it may access, or none where that is not known.
std::uint64_t _TANDEM_short_begin(std::uint32_t *skipped, const tandem_short_place *places,
                                  std::uint32_t count) noexcept;

// It has done everything. `how`: what begin gave.
void _TANDEM_short_end(std::uint64_t how) noexcept;

// It has stored back what it had stored, and will be a transaction.
void _TANDEM_short_undone(std::uint64_t how, std::uint32_t *skipped) noexcept;

// The same for a section of `lock`, which guards its data (guarded_by.h). Begin and end are partly
// inline (abi/inline_barriers.cc).
std::uint64_t _TANDEM_short_begin_guarded_by(std::uint32_t *skipped, const void *lock) noexcept;
void _TANDEM_short_end_guarded_by(std::uint64_t how) noexcept;
void _TANDEM_short_undone_guarded_by(std::uint64_t how, std::uint32_t *skipped) noexcept;
}
