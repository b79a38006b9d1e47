// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/traffic/profile.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace tandem::machine {
namespace {

constexpr std::uint32_t kib(std::uint32_t number) { return number * 1024 / 64; }
constexpr std::uint32_t mib(std::uint32_t number) { return kib(number * 1024); }

// What the families have in common is what the FLASK paper says of them (section V.B): servers have
// a large instruction footprint that all cores share, much shared data; numerical programs share
// little, but contend for it; multi-programmed ones share nothing but some of the operating system.
// Footprints are chosen against the L2 (256 KB) and the LLC (16 MB) of its Table I.
Profile server() {
  Profile p;
  p.family = "server";
  p.gap = 2;
  p.store_percent = 30;
  p.repeat_permille = 930;
  p.code_blocks = mib(2);
  p.code_skew = 14;
  p.code_run = 5;
  p.own = {560, kib(1024), 5};
  p.read_only = {240, mib(6), 6};
  p.migratory = {100, kib(512), 2};
  p.producer_consumer = {50, kib(16), 1};
  p.false_sharing = {10, 64, 1};
  p.locks = {40, 512, 2};
  return p;
}

Profile numerical() {
  Profile p;
  p.family = "numerical";
  p.gap = 2;
  p.store_percent = 35;
  p.repeat_permille = 935;
  p.stream_percent = 60;
  p.code_blocks = kib(64);
  p.code_skew = 6;
  p.code_run = 12;
  p.own = {850, kib(1024), 4};
  p.read_only = {40, kib(512), 2};
  p.migratory = {20, kib(32), 1};
  p.producer_consumer = {80, kib(64), 1};
  p.false_sharing = {5, 16, 1};
  p.locks = {5, 16, 1};
  p.phase = 200'000;
  return p;
}

Profile rate() {
  Profile p;
  p.family = "multi-programmed";
  p.gap = 2;
  p.store_percent = 30;
  p.repeat_permille = 940;
  p.code_blocks = kib(96);
  p.code_skew = 6;
  p.code_run = 7;
  p.private_code = true;
  p.own = {990, kib(1024), 5};
  p.read_only = {6, kib(256), 3};
  p.migratory = {2, kib(16), 1};
  p.locks = {2, 32, 1};
  p.idle_cores = 1;
  return p;
}

Profile kernel() {
  Profile p;
  p.family = "kernel";
  p.code_blocks = 16;
  p.own = {1000, kib(16), 1};
  return p;
}

std::vector<Profile> make() {
  std::vector<Profile> all;
  const auto add = [&all](Profile p, std::string_view name, std::string_view about,
                          auto... change) {
    p.name = name;
    p.about = about;
    (change(p), ...);
    all.push_back(p);
  };
  add(server(), "oltp-like", "stands in for OLTP (DB2, TPC-C like): locks, migratory records",
      [](Profile &p) {
        p.migratory = {140, kib(768), 2};
        p.locks = {60, 1024, 2};
        p.own.weight = 500;
      });
  add(server(), "apache-like", "stands in for Apache (SpecWeb like): the most sharing of the ten",
      [](Profile &p) {
        p.own = {440, kib(512), 5};
        p.read_only = {320, mib(8), 6};
        p.migratory = {130, kib(512), 2};
        p.code_blocks = mib(3);
      });
  add(server(), "jbb-like", "stands in for SpecJBB: large private heaps, allocation walks",
      [](Profile &p) {
        p.own = {720, kib(1536), 4};
        p.stream_percent = 20;
        p.read_only = {150, mib(4), 6};
        p.migratory = {70, kib(256), 2};
        p.code_blocks = mib(1);
      });
  add(server(), "zeus-like", "stands in for Zeus (SpecWeb like): one process serves many",
      [](Profile &p) {
        p.own = {520, kib(768), 5};
        p.read_only = {280, mib(6), 6};
        p.code_blocks = mib(2);
      });
  add(numerical(), "mg-like", "stands in for NPB MG: grids walked level by level, halos exchanged",
      [](Profile &p) {
        p.own.blocks = kib(1536);
        p.stream_percent = 70;
      });
  add(numerical(), "ft-like", "stands in for NPB FT: transposes, every core reads every other's",
      [](Profile &p) {
        p.own.blocks = kib(1024);
        p.producer_consumer = {180, kib(128), 1};
        p.own.weight = 750;
      });
  add(numerical(), "lu-like", "stands in for NPB LU: a wave of small exchanges", [](Profile &p) {
    p.own.blocks = kib(1536);
    p.producer_consumer = {130, kib(16), 1};
    p.locks = {15, 32, 1};
    p.own.weight = 790;
  });
  add(rate(), "astar-like", "stands in for SPEC astar in rate mode: pointer chasing over 2 MB",
      [](Profile &p) { p.own = {990, kib(2048), 5}; });
  add(rate(), "hmmer-like", "stands in for SPEC hmmer in rate mode: a working set near the L2's",
      [](Profile &p) {
        p.own = {990, kib(320), 2};
        p.repeat_permille = 960;
        p.store_percent = 40;
      });
  add(rate(), "omnetpp-like",
      "stands in for SPEC omnetpp in rate mode: a working set beyond the LLC's share",
      [](Profile &p) { p.own = {990, mib(4), 4}; });
  add(kernel(), "mixed",
      "a little of everything at 1.5% L1 misses: what the simulator's speed is measured with",
      [](Profile &p) {
        p.repeat_permille = 968;
        p.code_blocks = kib(40);
        p.code_skew = 12;
        p.own = {800, kib(512), 16};
        p.read_only = {100, kib(512), 16};
        p.migratory = {40, kib(16), 4};
        p.producer_consumer = {40, kib(8), 1};
        p.locks = {20, 64, 1};
      });
  add(kernel(), "private", "private data only: what an ideal directory would cost nothing for",
      [](Profile &p) { p.own.blocks = kib(1024); });
  add(kernel(), "read-only", "all cores read the same data", [](Profile &p) {
    p.own.weight = 200;
    p.read_only = {800, kib(512), 1};
  });
  add(kernel(), "migratory", "records that one core after the other reads and writes",
      [](Profile &p) {
        p.own.weight = 500;
        p.migratory = {500, kib(64), 1};
      });
  add(kernel(), "producer-consumer", "each core writes a buffer that its neighbours read",
      [](Profile &p) {
        p.own.weight = 500;
        p.producer_consumer = {500, kib(16), 1};
      });
  add(kernel(), "false-sharing", "words of the same blocks", [](Profile &p) {
    p.own.weight = 700;
    p.false_sharing = {300, 64, 1};
  });
  add(kernel(), "locks", "short critical sections under a few locks", [](Profile &p) {
    p.own.weight = 700;
    p.locks = {300, 32, 1};
  });
  return all;
}

} // namespace

std::span<const Profile> profiles() {
  static const std::vector<Profile> all = make();
  return all;
}

Result<Profile> find_profile(std::string_view name) {
  std::string names;
  for (const Profile &profile : profiles()) {
    if (profile.name == name)
      return profile;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", profile.name);
  }
  return Error{fmt::format("there is no workload '{}'; there are {}", name, names)};
}

} // namespace tandem::machine
