// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A profile (docs/formats/profile.md) as plain data.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

struct ProfileHistogram {
  std::vector<std::uint64_t> counts; // of 0, of 1, of 2 to 3, of 4 to 7, ...
  std::uint64_t sum = 0;
  std::uint64_t max = 0;

  [[nodiscard]] std::uint64_t total() const;
  [[nodiscard]] double mean() const; // 0 where there is nothing
};

struct ProfileFrame {
  std::string function;
  std::string file;
  std::uint64_t line = 0; // 0: unknown
};

struct ProfileLocation {
  std::string kind;
  std::string symbol;
  std::uint64_t offset = 0;
  ProfileFrame access;
  std::string allocation_file; // where it was allocated; empty: unknown
  std::uint64_t allocation_line = 0;
};

struct ProfileAbort {
  std::string cause;
  std::uint64_t count = 0;
  std::optional<ProfileLocation> location;
  std::string other; // empty: not known

  [[nodiscard]] bool is_cancel() const { return cause == "cancel"; }
};

struct ProfileSerialisation {
  std::string cause;
  std::uint64_t count = 0;
  std::vector<ProfileFrame> stack;
};

struct ProfileColourWait {
  std::string colour;
  std::uint64_t count = 0;
  std::uint64_t waiting_ns = 0;
};

struct ProfileSection {
  std::string name;
  std::string group; // as a kernel's subsystem; may be empty
  std::string output;
  std::string file;
  std::uint64_t line = 0;
  std::uint64_t starts = 0;
  std::uint64_t commits = 0;
  std::uint64_t unfinished = 0;
  std::vector<ProfileAbort> aborts;
  std::vector<ProfileSerialisation> serialisations;
  std::vector<ProfileColourWait> colour_waits;
  ProfileHistogram read_set;
  ProfileHistogram write_set;
  ProfileHistogram retries;
  std::uint64_t section_ns = 0;
  std::uint64_t waiting_ns = 0;
  std::uint64_t irrevocable_ns = 0;

  // Attempts that ran again, but for those that the program ended itself: these are cancelled.
  [[nodiscard]] std::uint64_t aborted() const;
  [[nodiscard]] std::uint64_t cancelled() const;
  [[nodiscard]] std::uint64_t serialised() const;
};

// The program's own locks that go by one name, as acquired at one site.
struct ProfileLock {
  std::string kind; // mutex, rwlock, spin
  std::string mode; // exclusive, shared
  bool variable = false;
  std::string symbol; // the variable, else the function that initialised them, there:
  std::string file;
  std::uint64_t line = 0;
  std::uint64_t locks = 0; // that go by the name
  ProfileFrame site;
  std::uint64_t acquisitions = 0;
  std::uint64_t contended = 0;
  std::uint64_t wait_ns = 0;
  std::uint64_t hold_ns = 0;
  std::uint64_t longest_hold_ns = 0;
};

struct Profile {
  std::string program;
  std::string algorithm;
  std::string contention;
  std::string backoff;
  std::uint64_t threads = 0;
  std::string start;
  double wall_seconds = 0;
  std::uint64_t executions = 0; // of sections; 0: not known
  std::uint64_t measured = 0;   // of them
  std::vector<ProfileSection> sections;
  std::uint64_t pid = 0;
  std::string end;       // how the process ended; empty: not recorded
  bool of_locks = false; // of the program's own locks, not of transactions
  std::vector<ProfileLock> locks;
};

// The sections of one group together.
struct ProfileGroup {
  std::string name;
  std::uint64_t sections = 0;
  std::uint64_t commits = 0;
  std::uint64_t aborts = 0;
  std::uint64_t serial = 0;
  std::uint64_t section_ns = 0;
  std::uint64_t waiting_ns = 0;
};

// Those that took most time first; sections without a group are in none.
std::vector<ProfileGroup> groups_of(const Profile &profile);

// What a cause of an abort or a serialisation means, in a few words; empty for one that is not
// known.
std::string_view meaning_of(std::string_view cause);

// Error: `file: ...`, for text that is no profile of a version that is known.
Result<Profile> profile_from_json(const std::string &text, const std::string &file);

} // namespace tandem
