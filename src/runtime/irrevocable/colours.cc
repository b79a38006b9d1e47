// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Taking colours exclusively, waiting for them, and what sections do at the process's edges: exit
// of threads, fork.
//
// fork: a thread that is in no section acquires every colour first, so that the child's memory has
// no section half done. One that is in a section does not wait for sections of other colours; the
// child may find their data half done, as after a fork with any lock held. In the child all colours
// but its own are free.
#include "runtime/irrevocable/colours.h"

#include "runtime/fatal.h"
#include "runtime/irrevocable/barrier.h"
#include "runtime/irrevocable/plans.h"
#include "runtime/phases/inline.h"
#include "runtime/phases/phases.h"
#include "runtime/sync/futex.h"
#include "runtime/sync/races.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <pthread.h>

#define TANDEM_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

using namespace tandem;

extern "C" {
constinit colours::Shared _TANDEM_colours_shared{};
}

namespace tandem::colours {
namespace {

static_assert(offsetof(Colour, word) == offsetof(tandem_colour_state, word) &&
              offsetof(Colour, flags) == offsetof(tandem_colour_state, flags) &&
              offsetof(Colour, acquired) == offsetof(tandem_colour_state, acquired));

pthread_key_t exit_key; // its destructor runs when a thread exits

// Of the outermost enter, or of take. Null where the thread has the one colour of a section in the
// phase of locks: that is in its mark.
TANDEM_THREAD_LOCAL const Plan *held = nullptr;
TANDEM_THREAD_LOCAL bool engine_entered = false; // the engine knows of that enter
TANDEM_THREAD_LOCAL bool exit_watched = false;
TANDEM_THREAD_LOCAL bool forking = false;
TANDEM_THREAD_LOCAL Colours acquired_for_fork = {nullptr, 0};

// The thread's last outermost section, where that has one colour, which nobody shares, and no
// engine was there: a mutex. Looking it up in the output is a chain of loads, which a locked
// instruction before them does not let overlap with anything.
struct Last {
  const tandem_section *section;
  const void *table; // runtime state of its output: tells an output from one at the same place
  Colour *colour;
  const Plan *plan;
};
TANDEM_THREAD_LOCAL Last last = {nullptr, nullptr, nullptr, nullptr};

// Of what sections order ThreadSanitizer sees nothing: who enters one sees all that has left one
// with a colour in common.
[[gnu::noinline, gnu::cold]] void tell(const tandem_section &section,
                                       void (*what)(void *lock) noexcept) noexcept {
  for (std::uint32_t i = 0; i < section.table->colour_count; ++i)
    if (tandem_has_colour(section.colours, i))
      what(const_cast<void *>(static_cast<const void *>(&section.table->colours[i])));
}

void remember(const tandem_section &section, const Plan &plan) noexcept {
  const bool mutex = plan.colour_count == 1 && !plan.scans;
  last = {mutex ? &section : nullptr, section.table->runtime, mutex ? plan.colours[0] : nullptr,
          &plan};
}

Colour &colour_of(const tandem_phase_mark &mark) noexcept {
  return *reinterpret_cast<Colour *>(mark.colour);
}

// The outermost section that the thread is in with colours.
const tandem_section &entered_section() noexcept {
  return held != nullptr ? *held->section : *_TANDEM_phase_mark.section;
}

// By the calling thread, exclusively.
bool is_held(const Colour &colour) noexcept {
  if (held == nullptr)
    return depth() != 0 && &colour_of(_TANDEM_phase_mark) == &colour;
  for (std::uint32_t i = 0; i < held->colour_count; ++i)
    if (held->colours[i] == &colour)
      return true;
  return false;
}

const Engine *engine() noexcept {
  return _TANDEM_colours_shared.engine.load(std::memory_order_acquire);
}

// Tells the profile, where there is one, how long a wait for `colour` takes.
class Waiting {
public:
  explicit Waiting(const Colour &colour) noexcept : engine_(engine()) {
    if (engine_ != nullptr)
      engine_->waits(colour);
  }
  Waiting(const Waiting &) = delete;
  Waiting &operator=(const Waiting &) = delete;
  ~Waiting() {
    if (engine_ != nullptr)
      engine_->waited();
  }

private:
  const Engine *engine_;
};

// Waiting for a colour.
constexpr std::uint32_t kLeastPatience = 64;
constexpr std::uint32_t kMostPauses = 64;
constexpr std::uint32_t kClosePauses = 2;

// Looking was worth it, or was not: its holder sleeps or has lost its processor, so that looking
// only takes that from it. Patience stays where six waits of seven end before it does.
void learn(Colour &colour, bool slept) noexcept {
  const std::uint32_t present = colour.patience.load(std::memory_order_relaxed);
  const std::uint32_t next = slept ? std::max(present / 2, kLeastPatience)
                                   : std::min(present + present / 8, kMostPatience);
  if (next != present)
    colour.patience.store(next, std::memory_order_relaxed);
}

// The word is held: nobody else has it, and its line is here.
[[gnu::always_inline]] inline void count_acquisition(Colour &colour) noexcept {
  colour.acquired.store(colour.acquired.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
}

// While one holder is inside, its line is not asked for by anybody else, so that looking costs it
// nothing: the waiter looks closely, and follows at once. Where others come and go meanwhile, it
// looks ever more seldom, so that they need not fetch the line back each time. `sleeps` is called
// before the thread sleeps, `woken` each time that it has. Result: whether it has.
template <class Sleeps, class Woken>
bool lock_slowly(Colour &colour, const Sleeps &sleeps, const Woken &woken) noexcept {
  const Waiting waiting(colour);
  std::uint32_t last_seen = colour.acquired.load(std::memory_order_relaxed);
  const std::uint32_t patience = colour.patience.load(std::memory_order_relaxed);
  for (std::uint32_t pauses = 1, spent = 0; spent < patience;) {
    const std::uint32_t acquired = colour.acquired.load(std::memory_order_relaxed);
    const bool same = acquired == last_seen;
    last_seen = acquired;
    if (!same && pauses < kMostPauses)
      pauses *= 2;
    const std::uint32_t now = same ? kClosePauses : pauses;
    for (std::uint32_t i = 0; i < now; ++i)
      sync::pause();
    spent += now;
    std::uint32_t seen = kFree;
    if (colour.word.load(std::memory_order_relaxed) == kFree &&
        colour.word.compare_exchange_strong(seen, kHeld)) {
      count_acquisition(colour);
      learn(colour, false);
      return false;
    }
  }
  learn(colour, true);
  sleeps();
  // Who may have left others sleeping must wake them later, so the state is "with waiters".
  while (colour.word.exchange(kHeldWithWaiters) != kFree) {
    sync::wait_on(colour.word, kHeldWithWaiters);
    woken();
  }
  count_acquisition(colour);
  return true;
}

[[gnu::noinline]] void wait_to_lock(Colour &colour) noexcept {
  lock_slowly(colour, [] {}, [] {});
}

// seq_cst: before the loads of marks (colours.h).
[[gnu::always_inline]] inline void lock(Colour &colour) noexcept {
  std::uint32_t seen = kFree;
  if (!colour.word.compare_exchange_strong(seen, kHeld)) [[unlikely]]
    return wait_to_lock(colour);
  count_acquisition(colour);
}

void wake(Colour &colour) noexcept {
  if ((colour.flags & TANDEM_COLOUR_SHARED) != 0)
    sync::wake_all(colour.word); // who waits to share does not take the word, nor wake the next
  else
    sync::wake_one(colour.word);
}

[[gnu::always_inline]] inline void unlock(Colour &colour) noexcept {
  // Release: partner of the next holder's locked instruction, and of the load of who shares.
  if (colour.word.exchange(kFree, std::memory_order_acq_rel) == kHeldWithWaiters) [[unlikely]]
    wake(colour);
}

[[gnu::always_inline]] inline void unlock_all(const Plan &plan) noexcept {
  for (std::uint32_t i = plan.colour_count; i-- > 0;)
    unlock(*plan.colours[i]);
}

// A colour that `plan` wants exclusively and `other` shares; null: none.
const Colour *common(const Plan &plan, const Plan &other) noexcept {
  for (std::uint32_t i = 0; i < other.guard_count; ++i)
    for (std::uint32_t j = 0; j < plan.colour_count; ++j)
      if (other.guard[i] == plan.colours[j])
        return plan.colours[j];
  return nullptr;
}

// Whether the thread of that mark is a serial transaction that waits for colours. It keeps its mark
// until it ends, so nobody who holds colours may wait for it.
bool waits_with_mark(std::size_t identity) noexcept {
  return _TANDEM_colours_shared.enters_with_mark.load() == identity + 1;
}

// Returns when `over()`, which looks at marks or at who waits with one.
template <class Over> [[gnu::noinline]] void wait_for_others(const Over &over) noexcept {
  for (sync::Patience patience; !patience.is_over(); patience.round())
    if (over())
      return;
  Shared &shared = _TANDEM_colours_shared;
  shared.sleepers.fetch_add(1);
  for (;;) {
    const std::uint32_t cleared = shared.cleared.load(std::memory_order_acquire);
    const bool ordered = barrier::everywhere();
    if (over())
      break;
    sync::wait_on_for(shared.cleared, cleared, ordered ? 0 : barrier::kLookAgainNs);
  }
  shared.sleepers.fetch_sub(1);
}

// Returns true when every mark of another thread that shares one of the colours has been cleared
// since they were acquired. Acquire: what those transactions did happens before what the caller
// does. False: one of those threads waited for colours, so the caller has released its own, and
// that thread has what it waited for.
[[gnu::noinline]] bool wait_for_marks(const Plan &plan) noexcept {
  const Engine *present = engine();
  const std::size_t own = present != nullptr ? present->identity() : kNoMark;
  const std::size_t end = _TANDEM_colours_shared.marks_end.load();
  for (std::size_t i = 0; i < end; ++i) {
    if (i == own)
      continue;
    for (const std::atomic<const Plan *> &slot : _TANDEM_colours_shared.marks[i].held)
      // seq_cst: after the locked instructions on the words.
      for (const Plan *seen = slot.load(); seen != nullptr; seen = slot.load()) {
        const Colour *colour = common(plan, *seen);
        if (colour == nullptr)
          break;
        const Waiting waiting(*colour);
        // Where the value is `seen` again because the thread tries to share once more, that one
        // withdraws soon: the words are held.
        wait_for_others(
            [&] { return slot.load(std::memory_order_acquire) != seen || waits_with_mark(i); });
        if (waits_with_mark(i)) [[unlikely]] {
          unlock_all(plan);
          wait_for_others([&] { return !waits_with_mark(i); });
          return false;
        }
      }
  }
  return true;
}

[[gnu::always_inline]] inline void lock_all(const Plan &plan) noexcept {
  do
    for (std::uint32_t i = 0; i < plan.colour_count; ++i)
      lock(*plan.colours[i]);
  while (plan.scans && !wait_for_marks(plan));
}

[[gnu::noinline, gnu::cold]] void watch_exit() noexcept {
  exit_watched = true;
  // The value only has to be non-null for the destructor to run.
  if (const int error = pthread_setspecific(exit_key, &exit_key); error != 0)
    fatal("a thread cannot enter an atomic section: %s", std::strerror(error));
}

void on_thread_exit(void *) {
  if (depth() != 0)
    fatal("a thread exits inside the atomic section '%s' (%s:%u), which would stay locked for ever",
          entered_section().name, entered_section().file, entered_section().line);
  // Destructors of other keys may still enter sections; then the key is set again.
  exit_watched = false;
}

void free_after_fork() noexcept {
  for (std::size_t i = acquired_for_fork.count; i-- > 0;)
    unlock(*acquired_for_fork.list[i]);
  release_colours(acquired_for_fork);
  acquired_for_fork = {};
}

[[gnu::noinline]] void enter_beside(const Engine &present, const Plan &plan) noexcept {
  const bool begins = present.prepare(plan);
  if (begins) {
    lock_all(plan);
  } else {
    const Entering entering(present.identity());
    lock_all(plan);
  }
  while (begins && plan.process && !present.try_serial()) {
    unlock_all(plan);
    present.wait_serial();
    lock_all(plan);
  }
  held = &plan;
  depth() = 1;
  engine_entered = begins;
  if (begins)
    present.entered(plan);
}

[[gnu::noinline]] void enter_outermost(const tandem_section &section) noexcept {
  const Plan &plan = plan_of(section);
  if (!exit_watched) [[unlikely]]
    watch_exit();
  if (const Engine *present = engine(); present != nullptr) [[unlikely]] {
    last.section = nullptr;
    return enter_beside(*present, plan);
  }
  lock_all(plan);
  held = &plan;
  depth() = 1;
  remember(section, plan);
}

// --- sections in the phase of locks: nobody shares a colour, and the engine is not asked

[[gnu::noinline]] void wait_to_hold(Colour &colour) noexcept {
  const std::uint64_t began = phases::ticks();
  std::int64_t since = 0;
  const bool slept = lock_slowly(
      colour,
      [&] {
        phases::has_waited(phases::ticks() - began);
        since = phases::begin_waiting();
      },
      // Told each time: others may acquire it again and again before this thread does.
      [&] { since = phases::keep_waiting(since); });
  if (!slept)
    phases::has_waited(phases::ticks() - began);
}

[[gnu::always_inline]] inline bool try_hold(Colour &colour) noexcept {
  std::uint32_t seen = kFree;
  if (!colour.word.compare_exchange_strong(seen, kHeld)) [[unlikely]]
    return false;
  count_acquisition(colour);
  return true;
}

[[gnu::noinline]] void hold_outermost(const tandem_section &section) noexcept {
  const Plan &plan = plan_of(section);
  if (!exit_watched) [[unlikely]]
    watch_exit();
  for (std::uint32_t i = 0; i < plan.colour_count; ++i)
    if (!try_hold(*plan.colours[i]))
      wait_to_hold(*plan.colours[i]);
  tandem_phase_mark &mark = _TANDEM_phase_mark;
  const bool one = plan.colour_count == 1;
  mark.section = one ? &section : nullptr;
  mark.runtime = section.table->runtime;
  mark.colour = one ? reinterpret_cast<tandem_colour_state *>(plan.colours[0]) : nullptr;
  held = one ? nullptr : &plan;
  mark.depth = 1;
}

[[noreturn, gnu::cold]] void refuse_leave(const tandem_section &section) noexcept {
  if (depth() == 0)
    fatal("the atomic section '%s' (%s:%u) is left by a thread that is in none", section.name,
          section.file, section.line);
  fatal("the atomic section '%s' (%s:%u) is left, but '%s' was entered", section.name, section.file,
        section.line, entered_section().name);
}

} // namespace
} // namespace tandem::colours

extern "C" {

TANDEM_COLOURS void _TANDEM_colours_enter(const tandem_section *section) {
  using namespace colours;
  if (depth() != 0) {
    ++depth();
    return;
  }
  if (last.section == section && section->table->runtime == last.table && engine() == nullptr)
      [[likely]] {
    lock(*last.colour);
    held = last.plan;
    depth() = 1;
  } else {
    enter_outermost(*section);
  }
  if (races::are_looked_for()) [[unlikely]]
    tell(*section, races::acquired);
}

TANDEM_COLOURS void _TANDEM_phase_hold(const tandem_section *section) {
  using namespace colours;
  tandem_phase_mark &mark = _TANDEM_phase_mark;
  if (mark.depth != 0) {
    ++mark.depth;
    return;
  }
  if (mark.section != section || section->table->runtime != mark.runtime)
    return hold_outermost(*section);
  // The section may have tried already, so not before a look.
  Colour &colour = colour_of(mark);
  if (colour.word.load(std::memory_order_relaxed) != kFree || !try_hold(colour))
    wait_to_hold(colour);
  mark.depth = 1;
}

TANDEM_COLOURS void _TANDEM_phase_release(const tandem_section *section) {
  using namespace colours;
  tandem_phase_mark &mark = _TANDEM_phase_mark;
  if (mark.depth > 1) {
    --mark.depth;
    return;
  }
  if (mark.depth == 0 || &entered_section() != section) [[unlikely]]
    refuse_leave(*section);
  if (held != nullptr)
    return _TANDEM_colours_release();
  mark.depth = 0;
  unlock(colour_of(mark));
}

TANDEM_COLOURS void _TANDEM_phase_wake(tandem_colour_state *colour) {
  colours::wake(*reinterpret_cast<colours::Colour *>(colour));
}

TANDEM_COLOURS void _TANDEM_colours_leave(const tandem_section *section) {
  using namespace colours;
  if (depth() > 1) {
    --depth();
    return;
  }
  if (depth() == 0 || held == nullptr || held->section != section) [[unlikely]]
    refuse_leave(*section);
  if (races::are_looked_for()) [[unlikely]]
    tell(*section, races::about_to_release);
  if (last.section == section) [[likely]] {
    held = nullptr;
    depth() = 0;
    return unlock(*last.colour);
  }
  if (engine_entered) [[unlikely]] {
    engine_entered = false;
    return engine()->leave(*held);
  }
  _TANDEM_colours_release();
}

void _TANDEM_colours_take(const colours::Plan *plan) {
  using namespace colours;
  const Engine &present = *engine(); // only the engine calls this
  if (!exit_watched)
    watch_exit();
  last.section = nullptr;
  lock_all(*plan);
  while (plan->process && !present.try_serial()) {
    unlock_all(*plan);
    present.wait_serial();
    lock_all(*plan);
  }
  held = plan;
  depth() = 1;
}

void _TANDEM_colours_release(void) {
  const colours::Plan &plan = *colours::held;
  colours::held = nullptr;
  colours::depth() = 0;
  colours::unlock_all(plan);
}

bool _TANDEM_colours_others_hold(const colours::Plan *plan) {
  using namespace colours;
  for (std::uint32_t i = 0; i < plan->guard_count; ++i)
    if (plan->guard[i]->word.load(std::memory_order_acquire) != kFree && !is_held(*plan->guard[i]))
      return true;
  return false;
}

void _TANDEM_colours_wait(const colours::Plan *plan) {
  using namespace colours;
  for (std::uint32_t i = 0; i < plan->guard_count; ++i) {
    std::atomic<std::uint32_t> &word = plan->guard[i]->word;
    if (word.load(std::memory_order_acquire) == kFree || is_held(*plan->guard[i]))
      continue;
    const Waiting waiting(*plan->guard[i]);
    for (sync::Patience patience; patience.rounds() < sync::Patience::kSpins; patience.round())
      if (word.load(std::memory_order_acquire) == kFree)
        break;
    for (std::uint32_t seen = kHeld;
         word.load(std::memory_order_acquire) != kFree &&
         (word.compare_exchange_strong(seen, kHeldWithWaiters) || seen != kFree);
         seen = kHeld)
      sync::wait_on(word, kHeldWithWaiters);
  }
}

void _TANDEM_colours_wake(void) {
  // Release: partner of the load before the sleeper's last look at the marks.
  _TANDEM_colours_shared.cleared.fetch_add(1, std::memory_order_release);
  sync::wake_all(_TANDEM_colours_shared.cleared);
}

void _TANDEM_colours_before_fork(void) {
  using namespace colours;
  if (forking)
    return;
  forking = true;
  for (;;) {
    lock_registry();
    if (depth() != 0)
      return;
    acquired_for_fork = all_colours();
    unlock_registry();
    for (std::size_t i = 0; i < acquired_for_fork.count; ++i)
      lock(*acquired_for_fork.list[i]);
    // Who waits for the registry may share colours, so it is locked last.
    lock_registry();
    if (colours_made() == acquired_for_fork.count)
      return;
    unlock_registry();
    free_after_fork();
  }
}

void _TANDEM_colours_after_fork(void) {
  using namespace colours;
  if (!forking)
    return;
  forking = false;
  unlock_registry();
  free_after_fork();
}

} // extern "C"

namespace tandem::colours {
namespace {

void after_fork_in_child() {
  const Colours all = all_colours();
  for (std::size_t i = 0; i < all.count; ++i)
    if (!is_held(*all.list[i]))
      all.list[i]->word.store(kFree, std::memory_order_relaxed);
  release_colours(all);
  release_colours(acquired_for_fork);
  acquired_for_fork = {};
  const Engine *present = engine();
  const std::size_t own = present != nullptr ? present->identity() : kNoMark;
  for (std::size_t i = 0; i < _TANDEM_colours_shared.marks_end.load(); ++i)
    for (std::atomic<const Plan *> &slot : _TANDEM_colours_shared.marks[i].held)
      if (i != own)
        slot.store(nullptr, std::memory_order_relaxed);
  _TANDEM_colours_shared.sleepers.store(0, std::memory_order_relaxed);
  _TANDEM_colours_shared.enters_with_mark.store(0, std::memory_order_relaxed);
  forking = false;
  unlock_registry();
}

// Before the engine's, whose fork handler then comes first.
[[gnu::constructor(200)]] void prepare_process() {
  int error = pthread_key_create(&exit_key, on_thread_exit);
  if (error == 0)
    error = pthread_atfork(_TANDEM_colours_before_fork, _TANDEM_colours_after_fork,
                           after_fork_in_child);
  if (error != 0)
    fatal("the runtime cannot start: %s", std::strerror(error));
}

} // namespace
} // namespace tandem::colours
