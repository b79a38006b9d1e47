// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/traffic/profile.h"

#include "base/check.h"
#include "machine/traffic/builtin.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace tandem::machine {
namespace {

constexpr std::uint32_t kib(std::uint32_t number) { return number * 1024 / 64; }

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
  for (const BuiltinProfile &each : builtin_profiles()) {
    Result<Profile> profile = parse_profile(each.text, each.name);
    CHECK(profile.ok(), "{}", profile.error().message);
    all.push_back(std::move(*profile));
  }
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
  add(kernel(), "device", "buffers that a device fills and empties, without a cache",
      [](Profile &p) {
        p.own.weight = 700;
        p.device = {300, kib(256), 1};
        p.device_period = 10;
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

Result<Profile> find_profile(const std::string &name_or_path) {
  if (name_or_path.ends_with(".toml") || name_or_path.find('/') != std::string::npos)
    return load_profile(name_or_path);
  std::string names;
  for (const Profile &profile : profiles()) {
    if (profile.name == name_or_path)
      return profile;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", profile.name);
  }
  return Error{
      fmt::format("there is no workload '{}'; there are {}, or a TOML file", name_or_path, names)};
}

} // namespace tandem::machine
