// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What synthetic traffic is like: how much of which kind of sharing, over which footprints.
// Stand-ins for the workloads of the papers are profiles with names; they are not those programs.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tandem::machine {

// A part of memory. A block of it is chosen as blocks * u^skew for a uniform u: 1 is uniform, the
// more, the hotter its beginning.
struct Region {
  std::uint32_t weight = 0; // of a thousand accesses to data that are not repeated ones
  std::uint32_t blocks = 0; // 64 bytes each
  std::uint32_t skew = 1;   // 1 to 32
};

struct Profile {
  std::string name;
  std::string family; // server, numerical, multi-programmed, kernel
  std::string about;

  std::uint32_t gap = 2;            // instructions between accesses to data, on average
  std::uint32_t store_percent = 30; // of accesses to private data; shared classes have their own
  // Accesses to data that go to one of the 16 blocks used last: spatial and short-term locality.
  std::uint32_t repeat_permille = 900;
  std::uint32_t stream_percent = 0; // private accesses that walk through memory block by block

  std::uint32_t code_blocks = 512; // instructions, shared by all cores (a copy each: private_code)
  std::uint32_t code_skew = 4;
  std::uint32_t code_run = 6; // blocks fetched one after the other, on average
  bool private_code = false;

  Region own;                  // private data, of each core
  Region read_only;            // read by all, written by nobody
  Region migratory;            // read and then written, by one core after the other
  Region producer_consumer;    // a buffer of each core: it writes, its neighbours read
  Region false_sharing;        // words of the same blocks, read and written by all
  Region locks;                // an atomic, some accesses to what it protects, a store
  std::uint32_t lock_work = 4; // accesses under a lock
  // A device's buffers, without skew. The device walks through them: it writes the first half and
  // reads the second. Cores read of the first and write to the second.
  Region device;
  std::uint32_t device_period = 0; // accesses of all cores between two of the device's; 0: none

  std::uint32_t phase = 0; // accesses of a core after which its private data moves on; 0: never
  // Loads that the instructions behind them wait for; nothing: what the machine says.
  std::optional<std::uint32_t> dependent_percent;
  std::uint32_t idle_cores = 0; // the last ones do next to nothing (operating-system services)
};

// The ten stand-ins (stand_ins/*.toml), and kernels of one kind of sharing each.
std::span<const Profile> profiles();
// By name, or a TOML file: what contains a '/' or ends in ".toml".
Result<Profile> find_profile(const std::string &name_or_path);

// A profile of TOML text; `place` stands for the file in messages.
Result<Profile> parse_profile(std::string_view text, const std::string &place);
Result<Profile> load_profile(const std::string &path);

} // namespace tandem::machine
