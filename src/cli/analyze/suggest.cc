// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/suggest.h"

#include "base/characters.h"
#include "base/json.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace tandem {
namespace {

// A lock whose regions wait or pause in at least one of so many is one that threads are stopped
// with. Of memcached's locks that are, one region in five does so or more; of those that guard
// data, fewer than one in eight.
constexpr std::size_t kGateShare = 6;

// What a thread waits in for time, for others, or for the world. Output is not among them: most of
// it is on paths that report errors.
constexpr std::array<std::string_view, 26> kWaits = {
    "accept",        "accept4",    "clock_nanosleep", "connect",
    "epoll_pwait",   "epoll_wait", "nanosleep",       "pause",
    "poll",          "ppoll",      "pselect",         "pthread_join",
    "recv",          "recvfrom",   "recvmsg",         "select",
    "sem_timedwait", "sem_wait",   "sigwait",         "sleep",
    "thrd_join",     "thrd_sleep", "usleep",          "wait",
    "waitid",        "waitpid"};
constexpr std::array<std::string_view, 11> kOutput = {"abort",  "exit",  "fflush",  "fprintf",
                                                      "fputc",  "fputs", "fwrite",  "perror",
                                                      "printf", "puts",  "vfprintf"};

template <typename List> bool is_in(const List &list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

struct Lock {
  std::set<std::string> paths; // as the report names it
  std::vector<const ReportSection *> regions;
};

std::string place(const ReportSection &region) {
  return fmt::format("{}:{}", region.file, region.line);
}

const ReportRegion &lock_of(const ReportSection &region) { return region.lock.front(); }

std::map<std::string, Lock> locks_of(const Report &report) {
  std::map<std::string, Lock> locks;
  for (const ReportSection &section : report.sections) {
    if (section.kind != SectionKind::lock_region)
      continue;
    const ReportRegion &region = lock_of(section);
    for (const std::string &name : region.names) {
      Lock &lock = locks[region.field.empty() || region.names.size() > 1 ? name : region.field];
      lock.paths.insert(name);
      lock.regions.push_back(&section);
    }
  }
  return locks;
}

// The first action of the region that `matches`, with where it happens.
template <typename Matches>
std::optional<std::string> action(const ReportSection &region, Matches matches) {
  for (const ReportIrrevocable &call : region.irrevocable)
    if (matches(call.callee))
      return fmt::format("{} (in the region at {})", call.callee, place(region));
  return std::nullopt;
}

bool is_paused_through(const ReportSection &region) {
  return lock_of(region).kind == "mutex" && lock_of(region).shape == RegionShape::escapes &&
         lock_of(region).exits == 0;
}

// Functions of a program whose waits for conditions cannot end a section.
constexpr std::array<std::string_view, 2> kKeepWaits = {"pthread_cancel",
                                                        "pthread_condattr_setpshared"};

// What the program calls of those; empty: none.
std::string keeps_waits(const Report &report) {
  for (const std::string &external : report.externals)
    if (is_in(kKeepWaits, external))
      return external;
  return "";
}

// Why the lock must stay real; nothing where it may become a section.
std::optional<std::string> why_it_stays(const Lock &lock, const std::string &keeps_waits) {
  for (const ReportSection *region : lock.regions) {
    const ReportRegion &here = lock_of(*region);
    if (here.kind == "wait" && !keeps_waits.empty())
      return fmt::format("threads wait for a condition with it, at {}, and the program calls {}",
                         place(*region), keeps_waits);
    if (here.primitive == "pthread-rwlock")
      return "a readers' and writers' lock: its readers run side by side as it is";
    if (here.primitive.starts_with("std-"))
      return fmt::format("a {}: where a section names it, the compiler says whether it can be one",
                         here.primitive);
    if (here.primitive != "pthread-mutex" && here.primitive != "pthread-spinlock")
      return fmt::format("a {}, which cannot become a section", here.primitive);
    if (here.names.size() > 1)
      return fmt::format("acquired together with others at {}", place(*region));
  }
  std::vector<std::string> stops;
  std::vector<std::string> acts;
  for (const ReportSection *region : lock.regions) {
    if (auto waits = action(*region, [](std::string_view x) { return is_in(kWaits, x); }))
      stops.push_back("held across " + *waits);
    else if (is_paused_through(*region))
      stops.push_back(fmt::format("acquired at {} and released by another function, which may be a "
                                  "pause",
                                  place(*region)));
    if (auto acted = action(*region, [](std::string_view x) { return !is_in(kOutput, x); }))
      acts.push_back(*acted);
  }
  if (stops.size() * kGateShare >= lock.regions.size() && !stops.empty())
    return fmt::format("{}; {} of {} regions are like that", stops.front(), stops.size(),
                       lock.regions.size());
  if (acts.size() * 2 >= lock.regions.size() && !acts.empty())
    return fmt::format("{} of {} regions do what cannot be undone, as {}", acts.size(),
                       lock.regions.size(), acts.front());
  return std::nullopt;
}

std::string section_reason(const Lock &lock) {
  const auto wait =
      std::find_if(lock.regions.begin(), lock.regions.end(),
                   [](const ReportSection *region) { return lock_of(*region).kind == "wait"; });
  std::string reason = fmt::format(
      "{} region{}, the first at {}; {}", lock.regions.size(), lock.regions.size() == 1 ? "" : "s",
      place(*lock.regions.front()),
      wait == lock.regions.end()
          ? "nothing waits with it"
          : fmt::format("a wait for a condition, as at {}, ends its section", place(**wait)));
  for (const ReportSection *region : lock.regions) {
    if (auto waits = action(*region, [](std::string_view x) { return is_in(kWaits, x); }))
      return reason + fmt::format("; but {}", *waits);
    if (is_paused_through(*region))
      reason += fmt::format("; released by another function than that at {}", place(*region));
  }
  return reason;
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Of the lock, as the profile knows it: its variable, or one of its acquisitions.
std::string used(const std::string &name, const Lock &lock, const std::vector<LockUse> &uses) {
  std::uint64_t acquisitions = 0;
  std::uint64_t contended = 0;
  const std::string_view variable = std::string_view(name).substr(0, name.find('['));
  for (const LockUse &use : uses)
    if (use.symbol == variable ||
        std::any_of(lock.regions.begin(), lock.regions.end(), [&](const ReportSection *region) {
          return region->line == use.line && last_part(region->file) == last_part(use.file);
        })) {
      acquisitions += use.acquisitions;
      contended += use.contended;
    }
  if (uses.empty())
    return "";
  return fmt::format("; acquired {} times in the profile, {:.1f} % of them contended", acquisitions,
                     acquisitions == 0 ? 0.0
                                       : 100.0 * static_cast<double>(contended) /
                                             static_cast<double>(acquisitions));
}

std::string toml_string(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const Character next = take_character(text);
    if (next.code == '"' || next.code == '\\')
      result += fmt::format("\\{}", static_cast<char>(next.code));
    else if (!next.valid || is_control(next.code)) // TOML is UTF-8, and its strings have one line
      result += fmt::format("\\u{:04x}", next.valid ? static_cast<unsigned>(next.code) : 0xfffdU);
    else
      result += next.bytes;
  }
  return result + '"';
}

std::string entry(std::string_view kind, const std::string &name, const std::string &reason) {
  return fmt::format("\n[[{}]]\nlocks = [{}]\nreason = {}\n", kind, toml_string(name),
                     toml_string(reason));
}

} // namespace

Result<std::vector<LockUse>> lock_uses_from_json(std::string_view text, const std::string &name) {
  const auto no = [&](std::string_view why) {
    return Error{fmt::format(
        "{}: is not a profile of locks: {}; write one with TANDEM_LOCK_PROFILE", name, why)};
  };
  const Result<nlohmann::json> document = parse_json(text, name);
  if (!document)
    return document.error();
  const nlohmann::json &json = *document;
  if (!json.contains("locks") || !json["locks"].is_array())
    return no("it has no list of locks");
  std::vector<LockUse> uses;
  for (const nlohmann::json &lock : json["locks"]) {
    if (!lock.is_object() || !lock.value("object", nlohmann::json()).is_object() ||
        !lock.value("site", nlohmann::json()).is_object() ||
        !lock.value("acquisitions", nlohmann::json()).is_number_unsigned() ||
        !lock.value("contended", nlohmann::json()).is_number_unsigned())
      return no("a lock has no object, site, acquisitions or contended");
    const auto text_of = [](const nlohmann::json &object, const char *key) {
      const auto found = object.find(key);
      return found != object.end() && found->is_string() ? found->get<std::string>() : "";
    };
    const nlohmann::json &site = lock["site"];
    const auto line = site.find("line");
    uses.push_back(
        {text_of(lock["object"], "kind") == "global" ? text_of(lock["object"], "symbol")
                                                     : std::string(),
         text_of(site, "file"),
         line != site.end() && line->is_number_unsigned() ? line->get<std::uint64_t>() : 0,
         lock["acquisitions"].get<std::uint64_t>(), lock["contended"].get<std::uint64_t>()});
  }
  return uses;
}

bool refuse(const Report &report, const std::string &why, Refusals &refused) {
  const std::map<std::string, Lock> locks = locks_of(report);
  for (std::size_t begin = why.find('\''); begin != std::string::npos;) {
    const std::size_t end = why.find('\'', begin + 1);
    if (end == std::string::npos)
      return false;
    const std::string quoted = why.substr(begin + 1, end - begin - 1);
    for (const auto &[name, lock] : locks)
      if ((name == quoted || lock.paths.contains(quoted)) && refused.try_emplace(name, why).second)
        return true;
    begin = why.find('\'', end + 1);
  }
  return false;
}

Result<std::string> suggest_conversion(const Report &report, const std::string &program,
                                       const std::vector<LockUse> &uses, const Refusals &refused) {
  std::string sections;
  std::string kept_locks;
  const std::string waits_kept = keeps_waits(report);
  for (const auto &[name, lock] : locks_of(report)) {
    const std::string profile = used(name, lock, uses);
    if (const auto known = refused.find(name); known != refused.end())
      kept_locks += entry("lock", name, known->second + profile);
    else if (const std::optional<std::string> why = why_it_stays(lock, waits_kept))
      kept_locks += entry("lock", name, *why + profile);
    else
      sections += entry("section", name, section_reason(lock) + profile);
  }
  if (sections.empty())
    return Error{refused.empty()
                     ? "there is no lock that could become a section; see docs/convert.md for what "
                       "can"
                     : "no lock can become a section: " + refused.begin()->second};
  std::string text =
      "# Which locks become atomic sections: a first file, from the analysis. What the "
      "compiler\n# refuses of it stays a lock, and it says which, with the place and the reason.\n"
      "version = 1\n"
      "refused-stay-locks = true\n";
  if (!program.empty())
    text += fmt::format("programs = [{}]\n", toml_string(program));
  return text + sections + kept_locks;
}

} // namespace tandem
