// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the profiler counts: private to this folder. All memory is pages of the kernel, so that
// counting never calls the program's malloc.
#pragma once

#include "runtime/memory/log.h"
#include "runtime/profile/description.h"
#include "runtime/profile/destination.h"
#include "runtime/profile/module.h"
#include "runtime/profile/profile.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tandem::profile {

// counts[0]: how often the value was 0; counts[k]: from 2^(k-1) to 2^k - 1.
struct Histogram {
  std::array<std::uint64_t, 65> counts;
  std::uint64_t sum;
  std::uint64_t max;

  void add(std::uint64_t value, std::uint64_t times) noexcept {
    counts[static_cast<std::size_t>(std::bit_width(value))] += times;
    sum += times * value;
    max = value > max ? value : max;
  }
  void add(const Histogram &other) noexcept {
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] += other.counts[i];
    sum += other.sum;
    max = other.max > max ? other.max : max;
  }
};

// Of one section, in one thread. Ticks are the time-stamp counter's.
struct SectionCounts {
  std::uint64_t starts;
  std::uint64_t commits;
  std::uint64_t aborts;
  Histogram reads;
  Histogram writes;
  Histogram retries;
  std::uint64_t section_ticks;
  std::uint64_t waiting_ticks;
  std::uint64_t irrevocable_ticks;

  void add(const SectionCounts &other) noexcept {
    starts += other.starts;
    commits += other.commits;
    aborts += other.aborts;
    reads.add(other.reads);
    writes.add(other.writes);
    retries.add(other.retries);
    section_ticks += other.section_ticks;
    waiting_ticks += other.waiting_ticks;
    irrevocable_ticks += other.irrevocable_ticks;
  }
};

enum class MemoryKind : std::uint8_t { none, global, heap, stack, unknown };

struct AbortKey {
  std::uint32_t section;
  std::uint32_t other; // section; 0: not known
  Cause cause;
  MemoryKind kind;
  std::uint64_t place;  // global: address; heap: return address of the allocation, 0 unknown
  std::uint64_t offset; // heap: bytes from the allocation's start
  std::uint64_t from;   // return address of the access, 0 unknown
  bool operator==(const AbortKey &) const = default;
};

inline constexpr std::size_t kStackDepth = 24; // calls that are kept of a demand

struct StackKey {
  std::uint32_t section;
  SerialCause cause;
  std::array<std::uint64_t, kStackDepth> frames; // return addresses, innermost first; 0: none
  bool operator==(const StackKey &) const = default;
};

// A wait for a colour: how often (kind 0) or how many ticks (kind 1).
struct ColourKey {
  std::uint32_t section;
  std::uint32_t kind;
  const char *colour; // its name, which lives as long as the process; equal ones may differ here
  bool operator==(const ColourKey &) const = default;
};

// A hash table from keys to counts that only grows.
template <class Key> class CountTable {
public:
  struct Entry {
    Key key;
    std::uint64_t count;
  };

  void add(const Key &key, std::uint64_t count) noexcept {
    if (2 * (entries_.size() + 1) > slots_)
      grow();
    std::size_t slot = hash(key) & (slots_ - 1);
    for (; index_[slot] != 0; slot = (slot + 1) & (slots_ - 1))
      if (entries_[index_[slot] - 1].key == key) {
        entries_[index_[slot] - 1].count += count;
        return;
      }
    entries_.push({key, count});
    index_[slot] = static_cast<std::uint32_t>(entries_.size());
  }
  [[nodiscard]] Entry *begin() noexcept { return entries_.begin(); }
  [[nodiscard]] Entry *end() noexcept { return entries_.end(); }
  void clear() noexcept {
    entries_.clear();
    for (std::size_t slot = 0; slot < slots_; ++slot)
      index_[slot] = 0;
  }

private:
  static std::uint64_t mix(std::uint64_t hash, std::uint64_t word) noexcept {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29);
  }
  static std::uint64_t hash(const AbortKey &key) noexcept {
    std::uint64_t result = mix(key.section, key.other);
    result = mix(result,
                 static_cast<std::uint64_t>(key.cause) << 8 | static_cast<std::uint64_t>(key.kind));
    return mix(mix(mix(result, key.place), key.offset), key.from);
  }
  static std::uint64_t hash(const ColourKey &key) noexcept {
    return mix(mix(key.section, key.kind), reinterpret_cast<std::uintptr_t>(key.colour));
  }
  static std::uint64_t hash(const StackKey &key) noexcept {
    std::uint64_t result = mix(key.section, static_cast<std::uint64_t>(key.cause));
    for (const std::uint64_t frame : key.frames)
      result = mix(result, frame);
    return result;
  }
  void grow() noexcept {
    const std::size_t larger = slots_ == 0 ? 1024 : 2 * slots_;
    auto *index = static_cast<std::uint32_t *>(
        memory::allocate_pages(larger * sizeof(std::uint32_t), "the profile"));
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::size_t slot = hash(entries_[i].key) & (larger - 1);
      while (index[slot] != 0)
        slot = (slot + 1) & (larger - 1);
      index[slot] = static_cast<std::uint32_t>(i + 1);
    }
    if (slots_ != 0)
      memory::release_pages(index_, slots_ * sizeof(std::uint32_t));
    index_ = index;
    slots_ = larger;
  }

  memory::Log<Entry> entries_;
  std::uint32_t *index_ = nullptr; // 1 + position in entries_; 0: free
  std::size_t slots_ = 0;          // a power of two, at least twice the entries
};

// A section is known by its descriptor, or by the return address of its begin. Sections have the
// numbers 1 to kMostSections; the last one stands for all that came after it.
inline constexpr std::size_t kMostSections = 8192;

// Where a read was made: Access n belongs to Thread::reads[n].
struct Access {
  const void *address;
  const void *from;
};

// Executions of one section in one thread; sections whose begins have the same hash share it.
struct Stratum {
  std::atomic<std::uint32_t> distance{
      0};                             // executions between the last that was measured and the next
  std::atomic<std::uint32_t> left{0}; // of them, those that are still to pass
  std::uint32_t first = kMeasuredFirst; // that are to be measured without a distance
};
inline constexpr std::size_t kStrata = 256;

// What is known about an abort that may follow.
struct Blame {
  const void *address;
  const void *from;
  std::uint64_t winner; // how its execution began; 0: not known
};

} // namespace tandem::profile

namespace tandem {

// The counters of one thread (Thread::counters).
struct ThreadProfile {
  std::atomic<std::uint32_t> busy{0};    // inside a function of this folder
  std::atomic<std::uint32_t> section{0}; // of the execution that is measured; others read it
  // How the present execution began, measured or not: the section's descriptor, or the return
  // address of its begin. Others read it.
  std::atomic<std::uint64_t> begin{0};
  std::atomic<std::uint64_t> killer{0}; // the same of who asked for the restart; others write it
  std::atomic<const void *> wanted{nullptr}; // the memory that it wanted; others write it
  std::uint64_t weight = 1;                  // executions that the present one stands for
  std::uint64_t own_weight = 1;              // the same of the one that begins; for the thread only
  std::uint64_t measured = 0;                // executions
  std::uint64_t executions = 0;              // that these stand for; of threads that ended, all
  contention::Xorshift random{1};
  std::array<profile::Stratum, profile::kStrata> strata;
  bool counted = false;                // in the number of threads, since the thread began
  bool executing = false;              // between the first attempt's begin and the end
  bool serialised = false;             // the execution, once: then it stays serial to its end
  std::uint64_t began = 0;             // ticks at the execution's first attempt
  std::uint64_t aborted = 0;           // attempts of the execution
  std::uint64_t waiting_since = 0;     // 0: it does not wait
  std::uint64_t irrevocable_since = 0; // 0: it is revocable
  profile::Blame blame{};
  memory::Log<profile::Access> accesses;
  std::array<profile::SectionCounts *, profile::kMostSections + 1> sections{};
  profile::CountTable<profile::AbortKey> aborts;
  profile::CountTable<profile::StackKey> stacks;
  profile::CountTable<profile::ColourKey> colours;
  const char *colour = nullptr;   // that it waits for
  std::uint64_t colour_since = 0; // ticks
};

} // namespace tandem

namespace tandem::profile {

// Attempts of one thread, or of several of which each ended before the next one began.
struct ThreadCounts {
  std::uint64_t commits;
  std::uint64_t aborts;
};

// What the process did, for whoever writes it.
struct Process {
  Destination destination; // TANDEM_PROFILE's; without a path: not profiled
  std::int64_t start_ns;   // CLOCK_REALTIME
  std::int64_t steady_ns;  // CLOCK_MONOTONIC at the same moment
  std::uint64_t ticks;     // the time-stamp counter at the same moment
  std::int32_t pid;
  std::uint64_t threads; // that ran at least one section
  std::uint64_t executions;
  std::uint64_t measured; // of them
  ThreadCounts *each_thread;
  std::size_t each_threads; // entries
  std::uint32_t sections;   // numbers given out
  std::uint64_t *begin_of;  // by number: return address of the section's begin, or its descriptor
  const Description **description_of; // by number; null: begun without a descriptor
  const Module **module_of; // by number: what the begin is in; null: no program and no library
};

// Writes the profile; `counts` has the sums by section number. Threads are quiet.
void write(const Process &process, SectionCounts *counts, CountTable<AbortKey> &aborts,
           CountTable<StackKey> &stacks, CountTable<ColourKey> &colours) noexcept;

} // namespace tandem::profile
