// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Closing: who writes the profile sets `closed` and then waits until every thread's `busy` is 0;
// a thread sets `busy` by an exchange and then loads `closed`. One of the two sees the other.
#include "runtime/profile/profile.h"

#include "base/output_file.h"
#include "runtime/algorithms/orec.h"
#include "runtime/fatal.h"
#include "runtime/processor.h"
#include "runtime/profile/counters.h"
#include "runtime/settings/environment.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/futex.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <new>
#include <time.h>
#include <unistd.h>

namespace tandem::profile {
namespace {

Process process;
std::atomic<bool> closed{false};
std::atomic<std::uint64_t> begin_of[kMostSections + 1]; // by number, filled by `sections`
std::atomic<const Description *> description_of[kMostSections + 1];
std::atomic<const Module *> module_at[kMostSections + 1]; // what its begin is in
std::atomic<std::uint32_t> sections{0};
std::atomic<std::uint64_t> threads{0};
std::atomic<std::uint32_t> number_at[2 * kMostSections]; // hash of begin -> number, 0: free

// The last commits, by time: an entry is valid where `time` is the one that is asked for.
struct Commit {
  std::atomic<std::uint64_t> time;
  std::atomic<std::uint64_t> words; // a Bloom filter of the addresses that it wrote; 0: not known
  std::atomic<std::uint64_t> begin; // how the execution began
};
constexpr std::size_t kCommits = 1 << 14;
Commit commits[kCommits];

std::uint64_t bloom_bit(std::uintptr_t address) noexcept {
  return std::uint64_t{1} << (((address >> 3) * 0x9e3779b97f4a7c15U) >> 58);
}

// Of libtandem_allocations.so, where that is preloaded: the return address of the allocation that
// `address` is in, and its start; 0 where there is none.
using FindAllocation = std::uintptr_t (*)(std::uintptr_t address, std::uintptr_t *start);
FindAllocation find_allocation = nullptr;
using NameAllocation = void (*)(void *memory, const void *site);
NameAllocation name_allocation_there = nullptr;

class Hook {
public:
  explicit Hook(Thread &thread) noexcept : profile_(*thread.counters) {
    // seq_cst: before the load of `closed`; partner: finish().
    profile_.busy.exchange(1);
    open_ = !closed.load();
  }
  Hook(const Hook &) = delete;
  Hook &operator=(const Hook &) = delete;
  ~Hook() { profile_.busy.store(0, std::memory_order_release); }

  [[nodiscard]] bool open() const noexcept { return open_; }

private:
  ThreadProfile &profile_;
  bool open_;
};

std::uint32_t number_of(std::uint64_t begin, const tandem_section *descriptor) noexcept {
  // A library that is loaded where another was has sections of its own.
  const Module *module = module_of(reinterpret_cast<const void *>(begin - 1));
  std::size_t slot = (begin * 0x9e3779b97f4a7c15U) >> 50;
  static_assert(2 * kMostSections == std::size_t{1} << (64 - 50));
  for (;; slot = (slot + 1) % (2 * kMostSections)) {
    std::uint32_t number = number_at[slot].load(std::memory_order_acquire);
    if (number == 0) {
      // A number may be lost where two threads meet the section together; its begin is 0 then.
      const std::uint32_t given = sections.fetch_add(1, std::memory_order_relaxed) + 1;
      if (given >= kMostSections) {
        sections.store(kMostSections, std::memory_order_relaxed);
        return kMostSections;
      }
      begin_of[given].store(begin, std::memory_order_relaxed);
      module_at[given].store(module, std::memory_order_relaxed);
      if (descriptor != nullptr)
        description_of[given].store(describe(*descriptor), std::memory_order_relaxed);
      if (number_at[slot].compare_exchange_strong(number, given, std::memory_order_acq_rel))
        return given;
      begin_of[given].store(0, std::memory_order_relaxed);
    }
    if (begin_of[number].load(std::memory_order_relaxed) == begin &&
        module_at[number].load(std::memory_order_relaxed) == module)
      return number;
  }
}

// Of a section that was measured before; else 0. Who won may be gone, with its library: so nothing
// but the number is looked at. Of libraries at the same place it is the one met last.
std::uint32_t known_number(std::uint64_t begin) noexcept {
  std::uint32_t found = 0;
  for (std::size_t slot = (begin * 0x9e3779b97f4a7c15U) >> 50; begin != 0;
       slot = (slot + 1) % (2 * kMostSections)) {
    const std::uint32_t number = number_at[slot].load(std::memory_order_acquire);
    if (number == 0)
      return found;
    if (begin_of[number].load(std::memory_order_relaxed) == begin)
      found = std::max(found, number);
  }
  return 0;
}

// How the outermost transaction of the thread begins.
std::uint64_t present_begin(const Thread &thread) noexcept {
  if (thread.descriptor != nullptr)
    return reinterpret_cast<std::uintptr_t>(thread.descriptor);
  return thread.section != 0 ? thread.section : thread.jump.target;
}

bool is_measured_next(ThreadProfile &profile, Thread &thread, std::uint64_t begin) noexcept {
  static_assert(kStrata == std::size_t{1} << (64 - 56));
  Stratum &stratum = profile.strata[(begin * 0x9e3779b97f4a7c15U) >> 56];
  profile.begin.store(begin, std::memory_order_relaxed);
  const std::uint32_t left = stratum.left.load(std::memory_order_relaxed);
  if (left != 0) {
    stratum.left.store(left - 1, std::memory_order_relaxed);
    thread.profile = nullptr;
    return false;
  }
  thread.profile = &profile;
  profile.own_weight = std::uint64_t{1} + stratum.distance.load(std::memory_order_relaxed);
  std::uint32_t distance = 0;
  if (stratum.first != 0)
    --stratum.first;
  else // nothing that recurs is met, or missed, each time
    distance = static_cast<std::uint32_t>(profile.random() % (2 * settings.profile_period - 1));
  stratum.distance.store(distance, std::memory_order_relaxed);
  stratum.left.store(distance, std::memory_order_relaxed);
  return true;
}

// Of a thread that executes a section, which counts it from then on.
ThreadProfile &counted_profile(Thread &thread) noexcept {
  ThreadProfile &profile = *thread.counters;
  if (!profile.counted) {
    profile.counted = true;
    threads.fetch_add(1, std::memory_order_relaxed);
  }
  return profile;
}

SectionCounts &counts_of(ThreadProfile &profile, std::uint32_t section) noexcept {
  SectionCounts *&counts = profile.sections[section];
  if (counts == nullptr)
    counts = static_cast<SectionCounts *>(
        memory::allocate_pages(sizeof(SectionCounts), "the profile of a section"));
  return *counts;
}

void stop_waiting(ThreadProfile &profile, SectionCounts &counts, std::uint64_t weight) noexcept {
  if (profile.waiting_since == 0)
    return;
  // What is waited for while it cannot be undone counts as irrevocable.
  if (profile.irrevocable_since == 0)
    counts.waiting_ticks += weight * (processor::ticks() - profile.waiting_since);
  profile.waiting_since = 0;
}

void stop_irrevocable(ThreadProfile &profile, SectionCounts &counts,
                      std::uint64_t weight) noexcept {
  if (profile.irrevocable_since != 0)
    counts.irrevocable_ticks += weight * (processor::ticks() - profile.irrevocable_since);
  profile.irrevocable_since = 0;
}

// What the address is in: the program or a library; null: neither. Unlike dladdr without a lock of
// the dynamic linker's, which one may have who loads a library and waits for this thread.
const void *object_of(const void *address) noexcept {
  dl_find_object found;
  return ::_dl_find_object(const_cast<void *>(address), &found) == 0 ? found.dlfo_link_map
                                                                     : nullptr;
}

bool on_own_stack(const Thread &thread, std::uintptr_t address) noexcept {
  return address >= thread.stack_low && address < thread.stack_high;
}

// Fills in what memory the abort was about.
void locate(Thread &thread, const void *memory, AbortKey &key) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (address == 0)
    return;
  std::uintptr_t start = 0;
  const std::uintptr_t allocation =
      find_allocation != nullptr ? find_allocation(address, &start) : 0;
  if (allocation != 0) {
    key.kind = MemoryKind::heap;
    key.place = allocation;
    key.offset = address - start;
    return;
  }
  if (object_of(memory) != nullptr) {
    key.kind = MemoryKind::global;
    key.place = address;
    return;
  }
  key.kind = on_own_stack(thread, address) ? MemoryKind::stack : MemoryKind::unknown;
}

// Where an attempt that was killed has read what the other one wanted; 0: it has only written it,
// or its reads are not kept.
std::uintptr_t own_access(const ThreadProfile &profile, const void *wanted) noexcept {
  for (const Access &access : profile.accesses)
    if (wanted != nullptr && access.address != nullptr &&
        &orec::of(access.address) == &orec::of(wanted))
      return reinterpret_cast<std::uintptr_t>(access.from);
  return 0;
}

[[noreturn]] void refuse_file(const char *path, int error) noexcept {
  refuse("TANDEM_PROFILE=%s: cannot be written: %s", path, output_error(error));
}

// Executions since the last ones that were measured. The thread may still run.
std::uint64_t passed(const ThreadProfile &profile) noexcept {
  std::uint64_t sum = 0;
  for (const Stratum &stratum : profile.strata) {
    const std::uint32_t left = stratum.left.load(std::memory_order_relaxed);
    const std::uint32_t distance = stratum.distance.load(std::memory_order_relaxed);
    sum += distance > left ? distance - left : 0;
  }
  return sum;
}

// All are measured for a while.
void measure_first(ThreadProfile &profile) noexcept {
  for (Stratum &stratum : profile.strata) {
    stratum.distance.store(0, std::memory_order_relaxed);
    stratum.left.store(0, std::memory_order_relaxed);
    stratum.first = kMeasuredFirst;
  }
}

// Every thread's counters, added up.
void finish() noexcept {
  if (process.destination.path() == nullptr || closed.exchange(true))
    return;
  const std::size_t end = marks_end.load(std::memory_order_acquire);
  process.sections = std::min<std::uint32_t>(sections.load(), kMostSections);
  process.threads = threads.load();
  auto *begins = static_cast<std::uint64_t *>(
      memory::allocate_pages((kMostSections + 1) * sizeof(std::uint64_t), "the profile"));
  for (std::size_t i = 0; i <= process.sections; ++i)
    begins[i] = begin_of[i].load(std::memory_order_relaxed);
  process.begin_of = begins;
  auto *descriptions = static_cast<const Description **>(
      memory::allocate_pages((kMostSections + 1) * sizeof(const Description *), "the profile"));
  for (std::size_t i = 0; i <= process.sections; ++i)
    descriptions[i] = description_of[i].load(std::memory_order_relaxed);
  process.description_of = descriptions;
  auto **modules = static_cast<const Module **>(
      memory::allocate_pages((kMostSections + 1) * sizeof(const Module *), "the profile"));
  for (std::size_t i = 0; i <= process.sections; ++i)
    modules[i] = module_at[i].load(std::memory_order_relaxed);
  process.module_of = modules;
  auto *sums = static_cast<SectionCounts *>(
      memory::allocate_pages((kMostSections + 1) * sizeof(SectionCounts), "the profile"));
  process.each_thread = static_cast<ThreadCounts *>(
      memory::allocate_pages((end + 1) * sizeof(ThreadCounts), "the profile"));
  process.each_threads = 0;
  CountTable<AbortKey> aborts;
  CountTable<StackKey> stacks;
  CountTable<ColourKey> colours;
  for (std::size_t i = 0; i < end; ++i) {
    ThreadProfile *profile = thread_of(i).counters;
    if (profile == nullptr)
      continue;
    for (sync::Patience patience; profile->busy.load() != 0;)
      patience.round();
    if (profile->executing) {
      SectionCounts &counts = counts_of(*profile, profile->section.load(std::memory_order_relaxed));
      // One that has not ended stands for itself.
      counts.starts -= profile->weight - 1;
      stop_waiting(*profile, counts, 1);
      stop_irrevocable(*profile, counts, 1);
      counts.section_ticks += processor::ticks() - profile->began;
    }
    process.executions += profile->executions + passed(*profile);
    process.measured += profile->measured;
    ThreadCounts counts{};
    for (std::size_t section = 1; section <= process.sections; ++section)
      if (profile->sections[section] != nullptr) {
        sums[section].add(*profile->sections[section]);
        counts.commits += profile->sections[section]->commits;
      }
    for (const auto &entry : profile->aborts) {
      aborts.add(entry.key, entry.count);
      counts.aborts += entry.count;
    }
    if (counts.commits + counts.aborts != 0)
      process.each_thread[process.each_threads++] = counts;
    for (const auto &entry : profile->stacks)
      stacks.add(entry.key, entry.count);
    for (const auto &entry : profile->colours)
      colours.add(entry.key, entry.count);
  }
  write(process, sums, aborts, stacks, colours);
}

// Before the program's own destructors have taken anything away that names are read from.
[[gnu::destructor]] void finish_at_exit() { finish(); }

void remember_start() noexcept {
  timespec real;
  timespec steady;
  ::clock_gettime(CLOCK_REALTIME, &real);
  ::clock_gettime(CLOCK_MONOTONIC, &steady);
  process.ticks = processor::ticks();
  process.start_ns = real.tv_sec * 1'000'000'000LL + real.tv_nsec;
  process.steady_ns = steady.tv_sec * 1'000'000'000LL + steady.tv_nsec;
  process.pid = ::getpid();
}

} // namespace

void prepare_process() noexcept {
  const char *path = any_variable() ? variable("TANDEM_PROFILE") : nullptr;
  if (path == nullptr || *path == '\0')
    return;
  if (const int error = process.destination.prepare(path); error != 0)
    refuse_file(path, error);
  settings.special |= kSpecialProfile;
  void *unused[1];
  ::backtrace(unused, 1); // loads the unwinder now, not inside a transaction
  find_allocation =
      reinterpret_cast<FindAllocation>(::dlsym(RTLD_DEFAULT, "tandem_find_allocation"));
  name_allocation_there =
      reinterpret_cast<NameAllocation>(::dlsym(RTLD_DEFAULT, "tandem_name_allocation"));
  remember_start();
}

void after_fork_in_child() noexcept {
  if (process.destination.path() == nullptr)
    return;
  // Only the calling thread is left. What it and the others have done so far is the parent's.
  process.destination.follow_fork();
  closed.store(false);
  threads.store(0);
  for (std::size_t i = 0; i < marks_end.load(std::memory_order_relaxed); ++i) {
    ThreadProfile *profile = thread_of(i).counters;
    if (profile == nullptr)
      continue;
    for (SectionCounts *counts : profile->sections)
      if (counts != nullptr)
        *counts = SectionCounts{};
    profile->aborts.clear();
    profile->stacks.clear();
    profile->colours.clear();
    profile->counted = false;
    profile->measured = 0;
    profile->executions = 0;
    measure_first(*profile);
    profile->busy.store(0);
    if (profile->executing && &thread_of(i) == current_thread) {
      ++counts_of(*profile, profile->section.load(std::memory_order_relaxed)).starts;
      profile->weight = 1;
      profile->measured = 1;
      profile->executions = 1;
      profile->counted = true;
      threads.store(1);
    }
  }
  remember_start();
}

void prepare_thread(Thread &thread) noexcept {
  if (process.destination.path() == nullptr)
    return;
  if (thread.counters == nullptr) {
    thread.counters =
        new (memory::allocate_pages(sizeof(ThreadProfile), "the profile")) ThreadProfile();
    thread.counters->random = contention::Xorshift(thread.identity + 1);
  }
  thread.profile = thread.counters;
  thread.counters->counted = false;
  thread.counters->executions += passed(*thread.counters); // of the thread that had these before
  measure_first(*thread.counters);
}

bool is_measured_next(Thread &thread) noexcept {
  return is_measured_next(*thread.counters, thread, present_begin(thread));
}

bool is_measured_next(Thread &thread, const tandem_section &section) noexcept {
  return is_measured_next(*thread.counters, thread, reinterpret_cast<std::uintptr_t>(&section));
}

void begin(Thread &thread) noexcept {
  const Hook hook(thread);
  if (!hook.open())
    return;
  ThreadProfile &profile = counted_profile(thread);
  const std::uint64_t begin = present_begin(thread);
  const std::uint32_t section = number_of(begin, thread.descriptor);
  profile.section.store(section, std::memory_order_relaxed);
  profile.executing = true;
  profile.aborted = 0;
  profile.serialised = false;
  profile.waiting_since = 0;
  profile.irrevocable_since = 0;
  profile.blame = Blame();
  profile.accesses.clear();
  profile.began = processor::ticks();
  profile.weight = profile.own_weight;
  ++profile.measured;
  profile.executions += profile.weight;
  counts_of(profile, section).starts += profile.weight;
}

void count_single(Thread &thread, const tandem_section &section) noexcept {
  const Hook hook(thread);
  if (!hook.open())
    return;
  ThreadProfile &profile = counted_profile(thread);
  SectionCounts &counts =
      counts_of(profile, number_of(reinterpret_cast<std::uintptr_t>(&section), &section));
  if (thread.depth == 0) {
    profile.weight = profile.own_weight;
    ++profile.measured;
    profile.executions += profile.weight;
  }
  counts.starts += profile.weight;
  counts.commits += profile.weight;
}

void abort(Thread &thread, Cause cause) noexcept {
  const Hook hook(thread);
  if (!hook.open())
    return;
  ThreadProfile &profile = *thread.profile;
  const std::uint32_t section = profile.section.load(std::memory_order_relaxed);
  SectionCounts &counts = counts_of(profile, section);
  counts.aborts += profile.weight;
  ++profile.aborted;
  AbortKey key{};
  key.section = section;
  key.cause = cause;
  if (cause == Cause::killed) {
    key.other = known_number(profile.killer.load(std::memory_order_relaxed));
    const void *wanted = profile.wanted.load(std::memory_order_relaxed);
    key.from = own_access(profile, wanted);
    locate(thread, wanted, key);
  } else if (cause == Cause::validation || cause == Cause::locked) {
    key.other = known_number(profile.blame.winner);
    key.from = reinterpret_cast<std::uintptr_t>(profile.blame.from);
    locate(thread, profile.blame.address, key);
  }
  profile.aborts.add(key, profile.weight);
  profile.blame = Blame();
  profile.accesses.clear();
  stop_waiting(profile, counts, profile.weight);
  stop_irrevocable(profile, counts, profile.weight);
  if (cause == Cause::cancel) {
    counts.section_ticks += profile.weight * (processor::ticks() - profile.began);
    profile.executing = false;
  }
}

void again(Thread &thread) noexcept {
  const Hook hook(thread);
  if (!hook.open())
    return;
  ThreadProfile &profile = *thread.profile;
  counts_of(profile, profile.section.load(std::memory_order_relaxed)).starts += profile.weight;
}

void serialise(Thread &thread, SerialCause cause) noexcept {
  const Hook hook(thread);
  if (!hook.open() || thread.profile->serialised)
    return;
  thread.profile->serialised = true;
  StackKey key{};
  key.section = thread.profile->section.load(std::memory_order_relaxed);
  key.cause = cause;
  if (cause != SerialCause::retries && cause != SerialCause::algorithm) {
    constexpr int kOwnFrames = 8; // calls inside the runtime, at most; they are left out later
    void *frames[kStackDepth + kOwnFrames];
    const int found = ::backtrace(frames, kStackDepth + kOwnFrames);
    const void *own = object_of(&process);
    std::size_t kept = 0;
    for (int i = 0; i < found && kept < kStackDepth; ++i)
      if (kept != 0 || object_of(frames[i]) != own)
        key.frames[kept++] = reinterpret_cast<std::uint64_t>(frames[i]);
  }
  thread.profile->stacks.add(key, thread.profile->weight);
}

void irrevocable(Thread &thread) noexcept {
  const Hook hook(thread);
  if (hook.open() && thread.profile->irrevocable_since == 0)
    thread.profile->irrevocable_since = processor::ticks();
}

Ending before_commit(Thread &thread) noexcept {
  const ThreadProfile &profile = *thread.counters;
  Ending ending{};
  ending.weight = profile.weight;
  ending.section = profile.section.load(std::memory_order_relaxed);
  ending.aborted = profile.aborted;
  ending.began = profile.began;
  if (thread.mode == Mode::guarded_by) {
    ending.writes = thread.undo.size();
  } else if (thread.mode == Mode::norec) {
    ending.reads = thread.values.size();
    ending.writes = thread.writes.size();
  } else if (thread.mode != Mode::direct && thread.mode != Mode::undo) {
    ending.reads = thread.reads.size() - 1;
    ending.writes = thread.mode == Mode::lazy ? thread.writes.size() : thread.undo.size();
  }
  return ending;
}

void after_commit(Thread &thread, const Ending &ending) noexcept {
  const Hook hook(thread);
  if (!hook.open())
    return;
  // Actions of the commit may have run other executions, measured or not.
  ThreadProfile &profile = *thread.counters;
  SectionCounts &counts = counts_of(profile, ending.section);
  counts.commits += ending.weight;
  counts.reads.add(ending.reads, ending.weight);
  counts.writes.add(ending.writes, ending.weight);
  counts.retries.add(ending.aborted, ending.weight);
  stop_waiting(profile, counts, ending.weight);
  stop_irrevocable(profile, counts, ending.weight);
  // Last: the others are parts of it.
  counts.section_ticks += ending.weight * (processor::ticks() - ending.began);
  profile.executing = false;
}

void publish(Thread &thread, std::uint64_t time) noexcept {
  std::uint64_t words = 0;
  for (const memory::WriteMap::Entry &entry : thread.writes)
    words |= bloom_bit(entry.word);
  Commit &commit = commits[time % kCommits];
  commit.time.store(0, std::memory_order_relaxed);
  commit.begin.store(thread.counters->begin.load(std::memory_order_relaxed),
                     std::memory_order_relaxed);
  commit.words.store(words, std::memory_order_relaxed);
  commit.time.store(time, std::memory_order_release);
}

void blame_access(Thread &thread, const void *address, const void *from) noexcept {
  thread.counters->blame.address = address;
  thread.counters->blame.from = from;
}

void blame_holder(Thread &thread, const Thread &holder) noexcept {
  thread.profile->blame.winner = holder.counters->begin.load(std::memory_order_relaxed);
}

void blame_commit(Thread &thread, std::uint64_t time) noexcept {
  const Commit &commit = commits[time % kCommits];
  const std::uint64_t begin = commit.begin.load(std::memory_order_relaxed);
  thread.profile->blame.winner = commit.time.load(std::memory_order_acquire) == time ? begin : 0;
}

void blame_commit_since(Thread &thread, const void *address, std::uint64_t since) noexcept {
  const std::uint64_t bit =
      bloom_bit(reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{7});
  thread.profile->blame.winner = 0;
  // NOrec's times are even. The oldest commit that may have written the word changed it first.
  for (std::uint64_t time = since + 2; time < since + kCommits; time += 2) {
    const Commit &commit = commits[time % kCommits];
    if (commit.time.load(std::memory_order_acquire) != time)
      return;
    if ((commit.words.load(std::memory_order_relaxed) & bit) != 0) {
      thread.profile->blame.winner = commit.begin.load(std::memory_order_relaxed);
      return;
    }
  }
}

void name_killer(Thread &thread, Thread &holder) noexcept {
  holder.counters->killer.store(thread.counters->begin.load(std::memory_order_relaxed),
                                std::memory_order_relaxed);
  holder.counters->wanted.store(is_profiled(thread) ? thread.profile->blame.address : nullptr,
                                std::memory_order_relaxed);
}

void name_allocation(void *memory, const void *site) noexcept {
  if (name_allocation_there != nullptr)
    name_allocation_there(memory, site);
}

void note_read(Thread &thread, const void *address, const void *from) noexcept {
  // Reads that were logged without an address leave a gap.
  while (thread.profile->accesses.size() + 1 < thread.reads.size())
    thread.profile->accesses.push({nullptr, nullptr});
  thread.profile->accesses.push({address, from});
}

void blame_read(Thread &thread, std::size_t index) noexcept {
  if (index >= thread.profile->accesses.size())
    return;
  const Access &access = thread.profile->accesses[index];
  blame_access(thread, access.address, access.from);
}

void wait_for_colour(Thread &thread, const char *name) noexcept {
  ThreadProfile &profile = *thread.profile;
  if (!profile.executing)
    return;
  profile.colour = name;
  profile.colour_since = processor::ticks();
  if (profile.waiting_since == 0)
    profile.waiting_since = profile.colour_since;
}

void stop_waiting(Thread &thread) noexcept {
  const Hook hook(thread);
  ThreadProfile &profile = *thread.profile;
  if (!hook.open() || !profile.executing)
    return;
  const std::uint32_t section = profile.section.load(std::memory_order_relaxed);
  if (profile.colour != nullptr) {
    profile.colours.add({section, 0, profile.colour}, profile.weight);
    profile.colours.add({section, 1, profile.colour},
                        profile.weight * (processor::ticks() - profile.colour_since));
    profile.colour = nullptr;
  }
  if (profile.waiting_since != 0)
    stop_waiting(profile, counts_of(profile, section), profile.weight);
}

void Waiting::start(Thread &thread) noexcept {
  if (!thread.profile->executing || thread.profile->waiting_since != 0)
    return;
  thread.profile->waiting_since = processor::ticks();
  waits_ = &thread;
}

void Waiting::stop() noexcept {
  const Hook hook(*waits_);
  ThreadProfile &profile = *waits_->counters;
  if (hook.open() && profile.waiting_since != 0)
    stop_waiting(profile, counts_of(profile, profile.section.load(std::memory_order_relaxed)),
                 profile.weight);
}

} // namespace tandem::profile
