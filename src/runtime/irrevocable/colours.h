// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colours at run time: who holds which exclusively, and who shares them. Lives in libtandem.so,
// once per process; libitm.so.1, which has the transactions, works on the same state (struct
// Shared).
//
// A colour is one word, a mutex: free, held, held with waiters. Who holds it exclusively has the
// word. Who shares it has stored its plan in a mark, in a cache line of its own thread, and has
// found the word free afterwards. Both sides store and then look at what the other one stores, with
// a locked instruction in between:
//
//     exclusive   word: free -> held (locked), for each colour in order; then wait until no mark of
//                 another thread shares one of them
//     shared      mark := plan; locked instruction; if a word of the plan's guard is not free:
//                 mark := 0, wait for the words, again
//
// So of two that exclude each other one sees the other, and if both do, the sharing one withdraws:
// an exclusive one waits only for those that share already (it is preferred), and a thread never
// waits for a word while it has a mark, but for a serial transaction, when sections with colours
// are inside it. Then whoever holds some of them and waits for its mark releases them until it has
// them (Entering).
//
// Lock order: colours with TANDEM_COLOUR_PROCESS by name, then the output's by index; then the word
// of serial transactions (irrevocable/serial.h), which is only tried and never waited for while
// colours are held, except by a transaction of gcc's that begins inside a section with colours. A
// serial transaction that enters such a section is the one place where a colour is waited for while
// that word is held.
#pragma once

#include "runtime/phases/inline.h"

#include <tandem/abi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::colours {

inline constexpr std::uint32_t kFree = 0;
inline constexpr std::uint32_t kHeld = 1;
inline constexpr std::uint32_t kHeldWithWaiters = 2; // somebody sleeps on the word

// Begins as tandem_colour_state.
// Some tens of microseconds, about what sleeping and being woken take.
inline constexpr std::uint32_t kMostPatience = 2048;

struct alignas(64) Colour {
  std::atomic<std::uint32_t> word{kFree};
  std::uint32_t flags; // tandem_colour_flags
  // Acquisitions so far. Written by who holds the word; who waits sees by it whether that is still
  // the one of before.
  std::atomic<std::uint32_t> acquired{0};
  const char *name; // copied: the output may be unloaded
  Colour *next;     // of the process's colours, by name
  // Pauses that waiting for it takes before it sleeps, as far as that was worth it lately.
  std::atomic<std::uint32_t> patience{kMostPatience};
};

// What a section needs, found once. Never freed, and no pointer in it but `section` leads into the
// output, so that any thread may look at it at any time.
struct Plan {
  const tandem_section *section;
  Colour **colours; // all of the section's, in the order of acquisition
  Colour **guard;   // those that it shares from its begin
  std::uint32_t colour_count;
  std::uint32_t guard_count;
  std::uint32_t section_class;
  bool scans;   // somebody may share one of `colours`
  bool process; // one of `colours` is the whole process's
};

// What a thread shares: plans, from the first slot on. More than one only where sections of
// different outputs nest in one transaction. Written by its own thread.
inline constexpr std::size_t kSlots = 8;
struct alignas(64) Mark {
  std::atomic<const Plan *> held[kSlots];
};
inline constexpr std::size_t kMostMarks = 32768; // threads, as kMostThreads
inline constexpr std::size_t kNoMark = ~std::size_t{0};

// What the engine does for a section with exclusive colours that is entered by
// _TANDEM_colours_enter. All are called by the thread that enters.
struct Engine {
  // Before the colours are acquired. False: the thread is in a transaction, which is serial by now.
  // May not return: a transaction that holds its own colours begins again instead.
  bool (*prepare)(const Plan &plan);
  // The word of serial transactions, for a section with a colour of the whole process: tries to
  // acquire it, and waits until it has been free.
  bool (*try_serial)();
  void (*wait_serial)();
  // The section has its colours, and leaves; `leave` releases them by release_held.
  void (*entered)(const Plan &plan);
  void (*leave)(const Plan &plan);
  // The calling thread's own mark: kNoMark if it has none.
  std::size_t (*identity)();
  // It waits for an exclusive holder or for those that share: for the profile.
  void (*waits)(const Colour &colour);
  void (*waited)();
};

struct Shared {
  std::atomic<std::size_t> marks_end{0}; // marks from here on have never been used
  std::atomic<const Engine *> engine{nullptr};
  // Exclusive threads that sleep until a mark is cleared, and how often one was cleared for them.
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<std::uint32_t> cleared{0};
  // 1 + the identity of the serial transaction that waits for colours, with its marks. 0: none.
  std::atomic<std::size_t> enters_with_mark{0};
  // Between the program's phases (phases/) and the choice of an algorithm (algorithms/automatic):
  // phases of locks that have begun, in which no transaction runs; and how often comparing
  // algorithms has begun or ended, odd while what transactions get done is partly that of the wrong
  // one.
  std::atomic<std::uint32_t> lock_phases{0};
  std::atomic<std::uint32_t> comparisons{0};
  Mark marks[kMostMarks];
};

// An output's plans (tandem_colour_table::runtime).
struct Table {
  Colour **colours;
  std::uint32_t colour_count;
  std::uint32_t section_count;
  std::atomic<const Plan *> *plans;
  Table *next;
};

} // namespace tandem::colours

// Between the two libraries; no ABI for programs.
extern "C" {
#define TANDEM_COLOURS __attribute__((visibility("default")))

TANDEM_COLOURS extern tandem::colours::Shared _TANDEM_colours_shared;

// Makes the plan of a section that has none. Ends the process where the descriptor is of another
// version or against the ABI's rules.
TANDEM_COLOURS const tandem::colours::Plan *
_TANDEM_colours_make_plan(const tandem_section *section);

// Acquires the colours of `plan` exclusively for the calling thread, which holds none and has no
// mark, and counts one enter. release: the colours of the outermost enter, without counting.
TANDEM_COLOURS void _TANDEM_colours_take(const tandem::colours::Plan *plan);
TANDEM_COLOURS void _TANDEM_colours_release(void);

// Whether another thread wants or holds a word of the guard exclusively. As guard_taken.
TANDEM_COLOURS bool _TANDEM_colours_others_hold(const tandem::colours::Plan *plan);

// Waits until each colour of the guard that the caller does not hold itself has been free for a
// moment. The caller has no marks, or is Entering.
TANDEM_COLOURS void _TANDEM_colours_wait(const tandem::colours::Plan *plan);

// After a mark was cleared: wakes those that sleep for it.
TANDEM_COLOURS void _TANDEM_colours_wake(void);

// Around fork: before it, and in the parent. The engine calls both itself, to acquire colours and
// word in their order; further calls do nothing.
TANDEM_COLOURS void _TANDEM_colours_before_fork(void);
TANDEM_COLOURS void _TANDEM_colours_after_fork(void);
}

namespace tandem::colours {

// Sections that the calling thread is in by enter, or by take, or with its colours in the phase of
// locks.
[[gnu::always_inline]] inline std::uint32_t &depth() noexcept { return _TANDEM_phase_mark.depth; }

// The plan of a section. Acquire: its partner is the release store of who made it.
[[gnu::always_inline]] inline const Plan &plan_of(const tandem_section &section) noexcept {
  const auto *table =
      static_cast<const Table *>(__atomic_load_n(&section.table->runtime, __ATOMIC_ACQUIRE));
  if (table != nullptr && section.index < table->section_count) [[likely]]
    if (const Plan *plan = table->plans[section.index].load(std::memory_order_acquire);
        plan != nullptr) [[likely]]
      return *plan;
  return *_TANDEM_colours_make_plan(&section);
}

// Whether a word of the guard is wanted or held exclusively. After the mark and a locked
// instruction. Acquire: what the last exclusive holder did is seen.
[[gnu::always_inline]] inline bool guard_taken(const Plan &plan) noexcept {
  for (std::uint32_t i = 0; i < plan.guard_count; ++i)
    if (plan.guard[i]->word.load(std::memory_order_acquire) != kFree)
      return true;
  return false;
}

// Stores a mark; a locked instruction of the caller follows.
[[gnu::always_inline]] inline void set_mark(std::size_t identity, std::size_t slot,
                                            const Plan *plan) noexcept {
  _TANDEM_colours_shared.marks[identity].held[slot].store(plan, std::memory_order_release);
}

// Clears `count` marks. Release: what the transaction did is over for whoever waits for them. A
// sleeper is not missed: it adds itself to `sleepers`, makes this thread's stores and loads happen
// in order (membarrier, or it looks again after a millisecond), and looks at the marks once more.
[[gnu::always_inline]] inline void clear_marks(std::size_t identity, std::size_t count) noexcept {
  for (std::size_t slot = 0; slot < count; ++slot)
    _TANDEM_colours_shared.marks[identity].held[slot].store(nullptr, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (_TANDEM_colours_shared.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
    _TANDEM_colours_wake();
}

// While it lives the calling thread, a serial transaction, waits for colours and may have marks.
class Entering {
public:
  explicit Entering(std::size_t identity) noexcept { tell(identity + 1); }
  Entering(const Entering &) = delete;
  Entering &operator=(const Entering &) = delete;
  ~Entering() { tell(0); }

private:
  static void tell(std::size_t who) noexcept {
    _TANDEM_colours_shared.enters_with_mark.store(who); // seq_cst: before the load of sleepers
    if (_TANDEM_colours_shared.sleepers.load() != 0)
      _TANDEM_colours_wake();
  }
};

} // namespace tandem::colours
