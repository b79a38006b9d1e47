// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile of locks as JSON (docs/formats/profile.md), at the end of the process.
#include "runtime/locks/counters.h"
#include "runtime/processor.h"
#include "runtime/profile/command_line.h"
#include "runtime/profile/json.h"
#include "runtime/profile/symbols.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <time.h>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace tandem::locks {
namespace {

using profile::Place;

// Of locks that were initialised by a call; guarded by a flag of its own, because a mutex would be
// profiled.
struct Initialised {
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  std::map<std::uint64_t, std::uint64_t> sites;
};
Initialised &initialised() noexcept {
  static auto *made = new Initialised; // never destroyed: threads outlive it
  return *made;
}

// A copy; empty where a thread that was interrupted in the middle keeps it.
std::map<std::uint64_t, std::uint64_t> initialised_now() {
  constexpr int kMostTries = 1000;
  Initialised &all = initialised();
  for (int i = 0; i < kMostTries; ++i) {
    if (!all.busy.test_and_set(std::memory_order_acquire)) {
      std::map<std::uint64_t, std::uint64_t> sites = all.sites;
      all.busy.clear(std::memory_order_release);
      return sites;
    }
    ::usleep(100);
  }
  return {};
}

struct Sum {
  std::uint64_t acquired = 0, contended = 0, failed = 0, waits = 0, waited = 0, held = 0,
                longest = 0;

  void add(const Counts &counts) noexcept {
    acquired += counts.acquired.get();
    contended += counts.contended.get();
    failed += counts.failed.get();
    waits += counts.waits.get();
    waited += counts.waited.get();
    held += counts.held.get();
    longest = std::max(longest, counts.longest.get());
  }
  void add(const Sum &other) noexcept {
    acquired += other.acquired;
    contended += other.contended;
    failed += other.failed;
    waits += other.waits;
    waited += other.waited;
    held += other.held;
    longest = std::max(longest, other.longest);
  }
};

// Where locks are acquired: calls of one line are one site.
struct Site {
  std::string function, file;
  std::uint32_t line = 0;
  bool shared = false;

  bool operator<(const Site &other) const noexcept {
    return std::tie(file, line, function, shared) <
           std::tie(other.file, other.line, other.function, other.shared);
  }
};

// Locks that the program has one name for: a variable, or what one call initialises.
struct Group {
  Kind kind = Kind::mutex;
  std::set<std::uint64_t> locks;
  std::map<Site, Sum> sites;
};

std::string path_of(const Place &place) {
  const std::string folder = place.folder;
  return folder.empty() ? place.file : folder + "/" + place.file;
}

// As the linker knows it; of a module without symbols the module and the offset in it, for
// `addr2line` and the like.
std::string symbol_of(const Place &place) {
  if (*place.symbol != '\0' || *place.output == '\0')
    return place.symbol;
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(place.offset));
  return place.output + std::string(offset);
}

struct Name {
  bool variable = false;
  std::string output, symbol, file; // of a variable, or of the call that initialised the lock
  std::uint32_t line = 0;

  bool operator<(const Name &other) const noexcept {
    return std::tie(variable, output, symbol, file, line) <
           std::tie(other.variable, other.output, other.symbol, other.file, other.line);
  }
};

class Profile {
public:
  void collect() {
    std::vector<const Counts *> all;
    for (Thread *thread = all_threads.load(std::memory_order_acquire); thread != nullptr;
         thread = thread->next) {
      const std::size_t before = all.size();
      for (Table *table = thread->table.load(std::memory_order_acquire); table != nullptr;
           table = table->older)
        for (std::size_t i = 0; i <= table->mask; ++i)
          if (table->entries[i].lock.load(std::memory_order_acquire) != 0)
            all.push_back(&table->entries[i]);
      threads += all.size() > before;
    }
    find_names(all);
    for (const Counts *counts : all) {
      Group &group = groups[name_of(*counts)];
      Sum sum;
      sum.add(*counts);
      group.kind = counts->kind;
      group.locks.insert(counts->lock.load(std::memory_order_relaxed));
      group.sites[site_of(*counts)].add(sum);
    }
  }

  // The place of a call that returns to `site`; null: not in a module.
  const Place *call(std::uint64_t site) const noexcept {
    return profile::place_of(places_.data(), places_.size(), site - 1);
  }

  std::map<Name, Group> groups;
  std::map<std::string, std::string> modules; // build-ids of what locks and sites are in
  std::size_t threads = 0;

private:
  void find_names(const std::vector<const Counts *> &all) {
    std::set<std::pair<std::uint64_t, bool>> wanted; // address, and whether data
    for (const Counts *counts : all) {
      wanted.emplace(counts->lock.load(std::memory_order_relaxed), true);
      wanted.emplace(counts->site - 1, false);
    }
    made_at_ = initialised_now();
    for (const auto &[lock, site] : made_at_)
      wanted.emplace(site - 1, false);
    for (const auto &[address, data] : wanted) {
      places_.emplace_back();
      places_.back().address = address;
      places_.back().data = data;
    }
    profile::find_places(places_.data(), places_.size());
    for (const Place &place : places_)
      if (*place.output != '\0')
        modules[place.output] = place.build_id;
  }

  Site site_of(const Counts &counts) const {
    const Place *place = call(counts.site);
    if (place == nullptr)
      return {"", "", 0, counts.shared};
    return {symbol_of(*place), path_of(*place), place->line, counts.shared};
  }

  Name name_of(const Counts &counts) const {
    const std::uint64_t lock = counts.lock.load(std::memory_order_relaxed);
    const Place *variable = profile::place_of(places_.data(), places_.size(), lock);
    if (variable != nullptr && *variable->output != '\0')
      return {true, variable->output, symbol_of(*variable), "", 0};
    const auto site = made_at_.find(lock);
    const Place *made = site == made_at_.end() ? nullptr : call(site->second);
    if (made == nullptr) // a lock within a record that was copied or zeroed: by who takes it
      made = call(counts.site);
    if (made == nullptr)
      return {};
    return {false, made->output, symbol_of(*made), path_of(*made), made->line};
  }

  std::vector<Place> places_;
  std::map<std::uint64_t, std::uint64_t> made_at_;
};

class Writer {
public:
  Writer(std::FILE *file, Began began, const char *end, const Profile &profile)
      : json_(file), profile_(profile), began_(began), end_(end) {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    wall_ns_ = now.tv_sec * 1'000'000'000LL + now.tv_nsec - began.ns;
    ns_per_tick_ =
        static_cast<double>(wall_ns_) /
        static_cast<double>(std::max<std::uint64_t>(processor::ticks() - began.ticks, 1));
  }

  void write() {
    json_.open('{');
    json_.line();
    json_.number("version", 1);
    json_.line();
    write_run();
    json_.line();
    json_.open('[', "sections");
    json_.close(']');
    json_.line();
    json_.open('[', "locks");
    for (const auto &[name, group] : profile_.groups)
      for (const auto &[site, sum] : group.sites) {
        json_.line();
        write_lock(name, group, site, sum);
      }
    json_.close(']');
    json_.close('}');
  }

private:
  void write_run() {
    char program[4096];
    const ssize_t length = ::readlink("/proc/thread-self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char start[64];
    const std::time_t seconds = began_.wall_ns / 1'000'000'000;
    std::tm utc;
    ::gmtime_r(&seconds, &utc);
    const std::size_t end = std::strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%S", &utc);
    std::snprintf(start + end, sizeof start - end, ".%03dZ",
                  static_cast<int>(began_.wall_ns / 1'000'000 % 1000));
    json_.open('{', "run");
    json_.text("program", program);
    write_command_line(json_);
    json_.number("pid", static_cast<std::uint64_t>(::getpid()));
    json_.number("parent", static_cast<std::uint64_t>(::getppid()));
    json_.text("end", end_);
    json_.text("algorithm", "none");
    json_.open('{', "policy");
    json_.text("contention", "none");
    json_.text("backoff", "none");
    json_.number("serialise_after", 0);
    json_.close('}');
    json_.number("threads", profile_.threads);
    json_.text("start", start);
    json_.seconds("wall_seconds", wall_ns_);
    json_.open('[', "modules");
    for (const auto &[output, id] : profile_.modules) {
      json_.open('{');
      json_.text("output", output.c_str());
      json_.text("build_id", id.c_str());
      json_.close('}');
    }
    json_.close(']');
    json_.close('}');
  }

  void write_lock(const Name &name, const Group &group, const Site &site, const Sum &sum) {
    constexpr const char *kKinds[] = {"mutex", "rwlock", "spin"};
    json_.open('{');
    json_.text("kind", kKinds[static_cast<int>(group.kind)]);
    json_.text("mode", site.shared ? "shared" : "exclusive");
    json_.open('{', "object");
    json_.text("kind", name.variable ? "global" : "unknown");
    json_.text("symbol", name.symbol.c_str());
    json_.text("output", name.output.c_str());
    json_.text("file", name.file.c_str());
    json_.number("line", name.line);
    json_.number("locks", group.locks.size());
    json_.close('}');
    json_.open('{', "site");
    json_.text("function", site.function.c_str());
    json_.text("file", site.file.c_str());
    json_.number("line", site.line);
    json_.close('}');
    write_sum(sum);
    json_.close('}');
  }

  void write_sum(const Sum &sum) {
    json_.number("acquisitions", sum.acquired);
    json_.number("contended", sum.contended);
    json_.number("failed", sum.failed);
    json_.number("condition_waits", sum.waits);
    json_.number("wait_ns", ns(sum.waited));
    json_.number("hold_ns", ns(sum.held));
    json_.number("longest_hold_ns", ns(sum.longest));
  }

  [[nodiscard]] std::uint64_t ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }

  profile::Json json_;
  const Profile &profile_;
  Began began_;
  const char *end_;
  std::int64_t wall_ns_ = 0;
  double ns_per_tick_ = 0;
};

} // namespace

void note_initialised(const void *lock, const void *site) noexcept {
  Initialised &all = initialised();
  while (all.busy.test_and_set(std::memory_order_acquire)) {
  }
  all.sites[reinterpret_cast<std::uint64_t>(lock)] = reinterpret_cast<std::uint64_t>(site);
  all.busy.clear(std::memory_order_release);
}

void write_profile(std::FILE *file, Began began, const char *end) noexcept {
  Profile profile;
  profile.collect();
  Writer(file, began, end, profile).write();
}

} // namespace tandem::locks
