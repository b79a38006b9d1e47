// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/suggest.h"

#include "base/characters.h"
#include "compiler/report/program_terms.h"

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

// How the C++ library throws and ends a program: every guard leads there, and most containers.
constexpr std::array<std::string_view, 3> kThrows = {"__cxa_", "std::__throw_", "std::terminate"};

bool throws(std::string_view callee) {
  return std::any_of(kThrows.begin(), kThrows.end(),
                     [&](std::string_view begin) { return callee.starts_with(begin); });
}

template <typename List> bool is_in(const List &list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

struct Lock {
  std::vector<std::string> names; // in the file
  std::set<std::string> paths;    // as the report names it
  std::vector<const ReportSection *> regions;
};

std::string place(const ReportSection &region) {
  return fmt::format("{}:{}", region.file, region.line);
}

const ReportRegion &lock_of(const ReportSection &region) { return region.lock.front(); }

// By their first names in the file.
std::map<std::string, Lock> locks_of(const Report &report) {
  std::map<std::string, Lock> locks;
  std::map<std::string, std::string> fields; // by path: the first field that it is a name of
  for (const ReportSection &section : report.sections) {
    if (section.kind != SectionKind::lock_region)
      continue;
    const ReportRegion &region = lock_of(section);
    for (const std::string &name : region.names) {
      const bool is_field = !region.field.empty() && region.names.size() == 1;
      const std::string &key = is_field ? region.field : name;
      Lock &lock = locks[key];
      lock.names = {key};
      lock.paths.insert(name);
      lock.regions.push_back(&section);
      if (is_field)
        fields.try_emplace(name, key);
    }
  }
  // A path that some regions have as a field, and others have no field for, is one lock.
  for (const auto &[path, field] : fields)
    if (const auto found = locks.find(path); found != locks.end() && path != field) {
      Lock &lock = locks[field];
      lock.names.push_back(path);
      lock.regions.insert(lock.regions.end(), found->second.regions.begin(),
                          found->second.regions.end());
      locks.erase(found);
    }
  return locks;
}

// The first action of the region that `matches`, with where it happens.
template <typename Matches>
std::optional<std::string> action(const ReportSection &region, Matches matches) {
  for (const ReportIrrevocable &call : region.irrevocable)
    if (matches(call.callee))
      return fmt::format("{} (in the region at {})", in_program_terms(call.callee), place(region));
  return std::nullopt;
}

bool is_paused_through(const ReportSection &region) {
  return lock_of(region).kind == "mutex" && lock_of(region).shape == RegionShape::escapes &&
         lock_of(region).exits == 0;
}

// Kinds of locks that become sections, beside those of the C++ library, of which the compiler knows
// more.
constexpr std::array<std::string_view, 3> kConvertible = {"pthread-mutex", "pthread-rwlock",
                                                          "pthread-spinlock"};

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
    if (!is_in(kConvertible, here.primitive) && !here.primitive.starts_with("std-"))
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
    if (auto acted =
            action(*region, [](std::string_view x) { return !is_in(kOutput, x) && !throws(x); }))
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

// What profiles say of a lock, and of the sections that it became.
struct Use {
  bool locks_known =
      false; // there is a profile of locks, and all of its sites are the program's own
  std::uint64_t acquisitions = 0;
  std::uint64_t contended = 0;
  std::uint64_t starts = 0; // attempts of sections
  std::uint64_t commits = 0;
  std::uint64_t aborted = 0;
  std::uint64_t serialised = 0;
  std::uint64_t reads = 0; // logged, of all commits together
  std::uint64_t writes = 0;
};

bool is_at(const std::string &file, std::uint64_t line, const ReportSection &region) {
  return region.line == line && last_part(region.file) == last_part(file);
}

bool has_region_at(const Lock &lock, const std::string &file, std::uint64_t line) {
  return std::any_of(lock.regions.begin(), lock.regions.end(),
                     [&](const ReportSection *region) { return is_at(file, line, *region); });
}

// Whether one of the names is the variable, a part of it, or an element.
bool is_in_variable(const Lock &lock, const std::string &variable) {
  const auto begins = [&](std::string_view name) {
    return name.substr(0, name.find_first_of(".[")) == variable;
  };
  return std::any_of(lock.names.begin(), lock.names.end(), begins) ||
         std::any_of(lock.paths.begin(), lock.paths.end(), begins);
}

// Whether the profile's entry is about the lock.
bool is_of(const ProfileLock &used, const Lock &lock) {
  return (used.variable && is_in_variable(lock, in_program_terms(used.symbol))) ||
         has_region_at(lock, used.site.file, used.site.line);
}

// Whether there is an entry that may be about any lock: of a function that acquires for its
// callers.
bool has_shared_entry(const std::map<std::string, Lock> &locks,
                      const std::vector<Profile> &profiles) {
  return std::any_of(profiles.begin(), profiles.end(), [&](const Profile &profile) {
    return std::any_of(profile.locks.begin(), profile.locks.end(), [&](const ProfileLock &used) {
      return std::none_of(locks.begin(), locks.end(),
                          [&](const auto &lock) { return is_of(used, lock.second); });
    });
  });
}

// `shared`: as has_shared_entry().
Use use_of(const Lock &lock, const std::vector<Profile> &profiles, bool shared) {
  Use use;
  for (const Profile &profile : profiles) {
    use.locks_known = use.locks_known || profile.of_locks;
    for (const ProfileLock &used : profile.locks)
      if (is_of(used, lock)) {
        use.acquisitions += used.acquisitions;
        use.contended += used.contended;
      }
    for (const ProfileSection &ran : profile.sections)
      if (has_region_at(lock, ran.file, ran.line)) {
        use.starts += ran.starts;
        use.commits += ran.commits;
        use.aborted += ran.aborted();
        use.serialised += ran.serialised();
        use.reads += ran.read_set.sum;
        use.writes += ran.write_set.sum;
      }
  }
  if (shared && use.acquisitions == 0)
    use.locks_known = false;
  return use;
}

// A section that reads so much, and writes hardly anything, takes longer as a transaction than
// under its lock (docs/design/0245).
constexpr std::uint64_t kLongReads = 1000;
constexpr std::uint64_t kReadsForOneWrite = 10;
// At most one attempt of so many may be undone, one section of so many run by itself.
constexpr std::uint64_t kAbortShare = 4;
constexpr std::uint64_t kSerialShare = 2;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// Why a section would not pay, by what was measured; nothing where it may.
std::optional<std::string> why_it_does_not_pay(const Use &use) {
  if (use.locks_known && use.contended == 0)
    return fmt::format("never waited for: acquired {} times in the profile", use.acquisitions);
  if (use.commits == 0)
    return std::nullopt;
  if (use.aborted * kAbortShare >= use.starts)
    return fmt::format("as a section it is undone: {:.0f} % of {} attempts in the profile",
                       percent(use.aborted, use.starts), use.starts);
  if (use.serialised * kSerialShare >= use.commits)
    return fmt::format("as a section it runs by itself: {:.0f} % of {} times in the profile",
                       percent(use.serialised, use.commits), use.commits);
  if (use.reads >= kLongReads * use.commits && use.writes * kReadsForOneWrite <= use.reads)
    return fmt::format("long, and reads mostly: {} reads and {} writes each time in the profile",
                       use.reads / use.commits, use.writes / use.commits);
  return std::nullopt;
}

std::string used(const Use &use) {
  std::string text;
  if (use.locks_known)
    text += fmt::format("; acquired {} times in the profile, {:.1f} % of them contended",
                        use.acquisitions, percent(use.contended, use.acquisitions));
  if (use.commits > 0)
    text += fmt::format("; {:.1f} % of {} attempts undone in the profile",
                        percent(use.aborted, use.starts), use.starts);
  return text;
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

std::string entry(std::string_view kind, const Lock &lock, const std::string &reason) {
  std::string names;
  for (const std::string &name : lock.names)
    names += (names.empty() ? "" : ", ") + toml_string(name);
  return fmt::format("\n[[{}]]\nlocks = [{}]\nreason = {}\n", kind, names, toml_string(reason));
}

} // namespace

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
                                       const std::vector<Profile> &profiles,
                                       const Refusals &refused) {
  std::string sections;
  std::string kept_locks;
  std::string first_reason; // why a lock stays
  const std::string waits_kept = keeps_waits(report);
  const std::map<std::string, Lock> locks = locks_of(report);
  const bool shared = has_shared_entry(locks, profiles);
  for (const auto &[name, lock] : locks) {
    const Use use = use_of(lock, profiles, shared);
    const auto known = refused.find(name);
    std::optional<std::string> stays =
        known != refused.end() ? known->second : why_it_stays(lock, waits_kept);
    if (stays)
      *stays += used(use);
    else
      stays = why_it_does_not_pay(use);
    if (!stays) {
      sections += entry("section", lock, section_reason(lock) + used(use));
      continue;
    }
    kept_locks += entry("lock", lock, *stays);
    if (first_reason.empty())
      first_reason = fmt::format("'{}': {}", name, *stays);
  }
  if (sections.empty())
    return Error{first_reason.empty()
                     ? "the program has no lock with a region that is understood"
                     : "no lock would be better as a section; the first, " + first_reason};
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
