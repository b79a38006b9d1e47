// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/report/profile.h"

#define JSON_DIAGNOSTICS 1 // the reader's messages name the place
#include "base/json.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace tandem {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

const json &list_of(const json &value, const char *key) {
  const json &list = value.at(key);
  if (!list.is_array())
    throw json::type_error::create(302, "not a list", &list);
  return list;
}

ProfileHistogram histogram_of(const json &value) {
  return {value.at("counts").get<std::vector<std::uint64_t>>(), value.at("sum"), value.at("max")};
}

ProfileFrame frame_of(const json &value) {
  return {value.at("function"), value.at("file"), value.at("line")};
}

ProfileLocation location_of(const json &value) {
  return {value.at("kind"),
          value.at("symbol"),
          value.at("offset"),
          frame_of(value),
          value.value("allocation_file", ""),
          value.value("allocation_line", std::uint64_t{0})};
}

ProfileAbort abort_of(const json &value) {
  ProfileAbort abort{value.at("cause"), value.at("count"), std::nullopt, value.value("other", "")};
  if (value.contains("location"))
    abort.location = location_of(value.at("location"));
  return abort;
}

ProfileSerialisation serialisation_of(const json &value) {
  ProfileSerialisation serialisation{value.at("cause"), value.at("count"), {}};
  for (const json &frame : list_of(value, "stack"))
    serialisation.stack.push_back(frame_of(frame));
  return serialisation;
}

ProfileSection section_of(const json &value) {
  ProfileSection section;
  section.name = value.at("name");
  section.group = value.value("group", "");
  section.output = value.at("output");
  section.file = value.at("file");
  section.line = value.at("line");
  section.starts = value.at("starts");
  section.commits = value.at("commits");
  section.unfinished = value.at("unfinished");
  for (const json &abort : list_of(value, "aborts"))
    section.aborts.push_back(abort_of(abort));
  for (const json &serialisation : list_of(value, "serialisations"))
    section.serialisations.push_back(serialisation_of(serialisation));
  for (const json &wait : value.value("colour_waits", json::array()))
    section.colour_waits.push_back({wait.at("colour"), wait.at("count"), wait.at("waiting_ns")});
  section.read_set = histogram_of(value.at("read_set"));
  section.write_set = histogram_of(value.at("write_set"));
  section.retries = histogram_of(value.at("retries"));
  const json &time = value.at("time");
  section.section_ns = time.at("section_ns");
  section.waiting_ns = time.at("waiting_ns");
  section.irrevocable_ns = time.at("irrevocable_ns");
  return section;
}

ProfileLock lock_of(const json &value) {
  const json &object = value.at("object");
  return {value.at("kind"),           value.at("mode"),           object.at("kind") == "global",
          object.at("symbol"),        object.at("file"),          object.at("line"),
          object.at("locks"),         frame_of(value.at("site")), value.at("acquisitions"),
          value.at("contended"),      value.at("wait_ns"),        value.at("hold_ns"),
          value.at("longest_hold_ns")};
}

Profile profile_of(const json &value) {
  Profile profile;
  const json &run = value.at("run");
  profile.program = run.at("program");
  profile.pid = run.at("pid");
  profile.end = run.value("end", "");
  profile.algorithm = run.at("algorithm");
  profile.contention = run.at("policy").at("contention");
  profile.backoff = run.at("policy").at("backoff");
  profile.threads = run.at("threads");
  profile.executions = run.value("executions", std::uint64_t{0});
  profile.measured = run.value("measured", profile.executions);
  profile.start = run.at("start");
  profile.wall_seconds = run.at("wall_seconds");
  for (const json &section : list_of(value, "sections"))
    profile.sections.push_back(section_of(section));
  profile.of_locks = value.contains("locks");
  if (profile.of_locks)
    for (const json &lock : list_of(value, "locks"))
      profile.locks.push_back(lock_of(lock));
  return profile;
}

template <class Items> std::uint64_t counts_of(const Items &items) {
  return std::accumulate(items.begin(), items.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto &item) { return sum + item.count; });
}

} // namespace

std::uint64_t ProfileHistogram::total() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

double ProfileHistogram::mean() const {
  const std::uint64_t values = total();
  return values == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(values);
}

std::uint64_t ProfileSection::aborted() const { return counts_of(aborts) - cancelled(); }
std::uint64_t ProfileSection::cancelled() const {
  std::uint64_t count = 0;
  for (const ProfileAbort &abort : aborts)
    count += abort.is_cancel() ? abort.count : 0;
  return count;
}
std::uint64_t ProfileSection::serialised() const { return counts_of(serialisations); }

std::string_view meaning_of(std::string_view cause) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kMeanings = {{
      {"validation", "what it had read was changed by a commit of another"},
      {"locked", "another owned the memory, and it gave way"},
      {"killed", "another needed the memory, and made it give way"},
      {"colour-taken", "a section with the same colour became irrevocable"},
      {"serial-pending", "some section was about to run serially"},
      {"irrevocable-reached", "it came to what cannot be undone, and began again for that"},
      {"hardware-conflict", "the processor saw another access to its memory"},
      {"hardware-capacity", "it did not fit the processor"},
      {"hardware-other", "an interrupt, a fault, or what only software does"},
      {"retry", "the program waits for a change"},
      {"cancel", "the program ended it without effect; it is no conflict"},
      {"other-lock", "it came to another lock than the one that it ran in place with"},
      {"irrevocable-begin", "by plan: what cannot be undone is on its usual way"},
      {"irrevocable-call", "it called what cannot be undone"},
      {"requested", "the program or its compiler asked for it"},
      {"retries", "it was aborted too often, or only looked at its reads again"},
      {"algorithm", "the algorithm is one at a time, by choice or since auto found it faster"},
      {"no-memory", "there was no memory for its log"},
  }};
  const auto *found = std::find_if(kMeanings.begin(), kMeanings.end(),
                                   [&](const auto &entry) { return entry.first == cause; });
  return found == kMeanings.end() ? "" : found->second;
}

namespace {

// Throws where a number is below 0, or is none that counts; only seconds have fractions.
void expect_counts(const json &value) {
  std::vector<const json *> left{&value};
  while (!left.empty()) {
    const json *next = left.back();
    left.pop_back();
    if (next->is_structured())
      for (const auto &[key, member] : next->items())
        if (key != "wall_seconds" || member.is_structured() || member < 0)
          left.push_back(&member);
    if (next->is_number() && next->get<double>() < 0)
      throw json::type_error::create(302, "a number is below 0", next);
    if (next->is_number_float())
      throw json::type_error::create(302, "a number is not whole, or too large", next);
  }
}

} // namespace

std::vector<ProfileGroup> groups_of(const Profile &profile) {
  std::map<std::string, ProfileGroup> groups;
  for (const ProfileSection &section : profile.sections) {
    if (section.group.empty())
      continue;
    ProfileGroup &group = groups[section.group];
    group.name = section.group;
    ++group.sections;
    group.commits += section.commits;
    group.aborts += section.aborted();
    group.serial += section.serialised();
    group.section_ns += section.section_ns;
    group.waiting_ns += section.waiting_ns;
  }
  std::vector<ProfileGroup> sorted;
  for (auto &[name, group] : groups)
    sorted.push_back(std::move(group));
  std::ranges::stable_sort(sorted, std::greater<>(), &ProfileGroup::section_ns);
  return sorted;
}

Result<Profile> profile_from_json(const std::string &text, const std::string &file) {
  // The reader of JSON throws.
  try {
    const Result<json> parsed = parse_json<json>(text, file);
    if (!parsed)
      return parsed.error();
    const json &value = *parsed;
    if (value.contains("version") && value.at("version") != kVersion)
      return Error{fmt::format("{}: version {} of the format is not known, only {}", file,
                               value.at("version").dump(), kVersion)};
    if (!value.contains("run") || !value.contains("version"))
      return Error{fmt::format(
          "{}: not a profile: run the program with TANDEM_PROFILE=FILE or TANDEM_LOCK_PROFILE=FILE",
          file)};
    expect_counts(value);
    return profile_of(value);
  } catch (const json::exception &error) {
    std::string message = error.what();
    if (const std::size_t end = message.find("] "); end != std::string::npos)
      message.erase(0, end + 2);
    return Error{fmt::format("{}: not a profile: {}", file, message)};
  }
}

} // namespace tandem
