// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/transaction/guarded_by.h"

#include "runtime/abi/itm.h"
#include "runtime/abi/itm_export.h"
#include "runtime/algorithms/automatic.h"
#include "runtime/algorithms/hardware.h"
#include "runtime/algorithms/norec.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/profile/profile.h"
#include "runtime/sync/futex.h"
#include "runtime/transaction/transaction.h"
#include "runtime/wait/wait.h"

#include <algorithm>
#include <cerrno>

namespace tandem::guarded_by {

constinit Word words[std::size_t{1} << kCountLog2] = {};

namespace {

// Words that threads have looked at, so that who wants to run serially need not look at all of
// them. A word is in the list before it is held for the first time.
std::atomic<Word *> used[std::size_t{1} << kCountLog2];
std::atomic<std::size_t> used_end{0};

// Attempts, each after a longer pause, before a short section is rather a transaction.
constexpr std::uint32_t kAttempts = 6;
// Rounds of waiting before a transaction rather begins again: the holder's is as short as the
// program made what it does with the lock held, unless it is off its processor.
constexpr std::uint32_t kRounds = 64;

// Executions of a section that has come to another lock which do not begin in Mode::guarded_by: one
// that always does is tried now and then.
constexpr std::uint8_t kSkips = 15;

// Sections that share a place only disturb one another's guesses.
std::uint8_t &skip_of(Thread &thread) noexcept {
  static_assert(kGuardedByPlaces == 64);
  return thread
      .guarded_by_skip[reinterpret_cast<std::uintptr_t>(thread.descriptor) * kGolden >> 58];
}

[[gnu::cold, gnu::noinline]] void note_use(Word &word) noexcept {
  std::uint64_t unused = kUnused;
  // A value that nobody has, while it is put in the list.
  if (!word.value.compare_exchange_strong(unused, held_short(kMostThreads)))
    return;
  used[used_end.fetch_add(1)].store(&word);
  word.value.store(kFree, std::memory_order_release);
}

bool try_acquire(Word &word, std::uint64_t holder) noexcept {
  std::uint64_t seen = word.value.load(std::memory_order_relaxed);
  // seq_cst: before the load of the serial word.
  if (seen == kFree && word.value.compare_exchange_strong(seen, holder)) [[likely]]
    return true;
  if (seen == kUnused) [[unlikely]]
    note_use(word);
  return false;
}

} // namespace

bool in_use() noexcept { return used_end.load() != 0; }

bool acquire(Word &word, const Thread &thread) noexcept {
  const std::uint64_t holder = held_short(thread.identity);
  for (std::uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    if (try_acquire(word, holder)) [[likely]]
      return true;
    for (std::uint32_t i = 0; i < 1U << attempt; ++i)
      sync::pause();
  }
  return false;
}

namespace {

// For the profile: the lock, and who holds its word.
[[gnu::cold, gnu::noinline]] void blame(Thread &thread, const Word &word,
                                        const void *lock) noexcept {
  profile::blame_access(thread, lock, nullptr);
  const std::uint64_t seen = word.value.load(std::memory_order_relaxed);
  const std::uint64_t holder = (seen >> 2) - 1;
  if (seen > kFree && holder < marks_end.load(std::memory_order_acquire))
    profile::blame_holder(thread, thread_of(holder));
}

[[gnu::noinline]] void wait(Thread &thread, Word &word, const void *lock) noexcept {
  const std::uint64_t holder = held_long(thread.identity);
  const profile::Waiting waiting(thread);
  for (sync::Patience patience; patience.rounds() < kRounds; patience.round()) {
    if (try_acquire(word, holder))
      return;
    if (serial::taken()) // who has it may be waiting for this one
      transaction::restart(thread, transaction::Reason::serial);
  }
  if (is_profiled(thread)) [[unlikely]]
    blame(thread, word, lock);
  transaction::restart(thread, transaction::Reason::conflict);
}

} // namespace

namespace {

// Else nobody else runs, or nobody looks at the words. Then they do not tell `auto` of themselves.
// Who is serial waits for marks, not for words that are held for long.
bool holds_words(Thread &thread) noexcept {
  norec::join(thread);
  if (thread.mode >= Mode::eager && thread.mode != Mode::hardware && !hardware::in_use())
    return true;
  automatic::found_section_of_lock();
  return false;
}

} // namespace

void enter(Thread &thread, const void *lock) noexcept {
  if (!holds_words(thread))
    return;
  Word &word = word_of(lock);
  const std::uint64_t holder = held_long(thread.identity);
  if (word.value.load(std::memory_order_relaxed) == holder)
    return;
  thread.guarded_by.reserve(); // without memory for it the word would stay
  if (!try_acquire(word, holder)) [[unlikely]]
    wait(thread, word, lock);
  thread.guarded_by.push_unchecked(&word);
}

bool try_enter(Thread &thread, const void *lock) noexcept {
  if (!holds_words(thread))
    return true;
  Word &word = word_of(lock);
  const std::uint64_t holder = held_long(thread.identity);
  if (word.value.load(std::memory_order_relaxed) == holder)
    return true;
  thread.guarded_by.reserve();
  // The second attempt is one at a word that nobody had looked at before.
  if (!try_acquire(word, holder) && !try_acquire(word, holder))
    return false;
  thread.guarded_by.push_unchecked(&word);
  return true;
}

void begin(Thread &thread) noexcept {
  // Depth 1: nobody counts it, and it shares no colours.
  if ((thread.properties & itm::kBeginsGuardedBy) == 0 || thread.mode != Mode::norec ||
      thread.depth != 1 || !thread.values.empty() || !thread.writes.empty() ||
      !thread.undo.empty() || !thread.guarded_by.empty())
    return;
  norec::join(thread);
  thread.only_guarded_by = true;
  // Nobody waits for it to look at the clock.
  thread.mark->store(kMarkNewest, std::memory_order_release);
}

bool looks_at_words(Algorithm algorithm) noexcept {
  return algorithm != Algorithm::serial && algorithm != Algorithm::htm;
}

bool begins_so(Thread &thread) noexcept {
  if (!looks_at_words(settings.algorithm.load(std::memory_order_relaxed))) {
    automatic::found_section_of_lock();
    return false;
  }
  std::uint8_t &skip = skip_of(thread);
  if (skip == 0)
    return true;
  --skip;
  return false;
}

// Played back from the end, the oldest entry that has a byte decides what it becomes: a later one
// of the same cell does nothing.
void shrink_log(Thread &thread) noexcept {
  memory::Log<memory::CellValue> &log = thread.undo;
  if (log.capacity() == 0)
    return log.enlarge();
  // Cells that have an entry, as far as they do not displace each other.
  while (thread.logged.capacity() < log.capacity())
    thread.logged.enlarge();
  memory::Cell *known = thread.logged.begin();
  std::fill_n(known, log.capacity(), memory::Cell());
  const std::size_t mask = log.capacity() - 1; // capacities are powers of two
  std::size_t kept = 0;
  for (const memory::CellValue &entry : log) {
    constexpr std::size_t kPlaces = 8;
    std::size_t place = entry.cell.address() * kGolden >> 32;
    const std::size_t end = place + kPlaces;
    while (place != end && known[place & mask] != entry.cell &&
           known[place & mask] != memory::Cell())
      ++place;
    if (place != end && known[place & mask] == entry.cell)
      continue;
    known[place & mask] = entry.cell;
    log[kept++] = entry;
  }
  log.truncate(kept);
  if (kept > log.capacity() / 2)
    log.enlarge();
}

void commit(Thread &thread) noexcept {
  if (wait::anybody()) [[unlikely]]
    norec::tell_waiting(thread);
  thread.only_guarded_by = false;
}

void join_others(Thread &thread) noexcept {
  if (thread.mode == Mode::guarded_by) {
    skip_of(thread) = kSkips;
    transaction::restart(thread, transaction::Reason::joins);
  }
  thread.only_guarded_by = false;
  if (norec::owns_clock(thread))
    return; // nobody commits before it does
  // As a begin. What it has read so far nobody else may change.
  const std::uint64_t time = norec::even_time();
  thread.mark->exchange(encode_mark(time));
  thread.snapshot = time;
  thread.known_quiesced = sync::global_clock.quiesced.load(std::memory_order_acquire);
}

void leave_all(Thread &thread) noexcept {
  for (Word *word : thread.guarded_by)
    word->value.store(kFree, std::memory_order_release);
  thread.guarded_by.clear();
}

void wait_for_short_ones() noexcept {
  const std::size_t end = used_end.load();
  for (std::size_t i = 0; i < end; ++i) {
    sync::Patience patience;
    Word *word = used[i].load();
    for (; word == nullptr; word = used[i].load())
      patience.round();
    while (is_held_short(word->value.load()))
      patience.round();
  }
}

void forget_other_threads() noexcept {
  const Thread *thread = current_thread;
  std::size_t end = 0;
  for (Word &word : words) {
    const std::uint64_t seen = word.value.load(std::memory_order_relaxed);
    if (seen == kUnused)
      continue;
    if (thread == nullptr || seen != held_long(thread->identity))
      word.value.store(kFree, std::memory_order_relaxed);
    used[end++].store(&word); // another thread may just have been putting it there
  }
  used_end.store(end);
}

} // namespace tandem::guarded_by

using namespace tandem;

// What the pass leaves of the marks in transactions (compiler/sections/converted_operations.h).
TANDEM_ITM int _TANDEM_guarded_by_enter(const void *lock) noexcept {
  guarded_by::enter(*current_thread, lock);
  return 0;
}
TANDEM_ITM int _TANDEM_guarded_by_try_enter(const void *lock) noexcept {
  return guarded_by::try_enter(*current_thread, lock) ? 0 : EBUSY;
}
TANDEM_ITM int _TANDEM_guarded_by_join(const void *) noexcept {
  guarded_by::join(*current_thread);
  return 0;
}
TANDEM_ITM int _TANDEM_guarded_by_only(const void *) noexcept {
  guarded_by::begin(*current_thread);
  return 0;
}
