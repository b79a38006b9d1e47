// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/report/tables.h"

#include "cli/common/table.h"
#include "compiler/report/program_terms.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace tandem {
namespace {

constexpr std::size_t kShown = 12; // rows of a table that is cut

template <class Item> struct OfSection {
  const ProfileSection *section;
  const Item *item;
};

// All sections' items, the most frequent first.
template <class Item>
std::vector<OfSection<Item>> most_frequent(const Profile &profile,
                                           std::vector<Item> ProfileSection::*items) {
  std::vector<OfSection<Item>> found;
  for (const ProfileSection &section : profile.sections)
    for (const Item &item : section.*items)
      found.push_back({&section, &item});
  std::sort(found.begin(), found.end(), [](const auto &a, const auto &b) {
    return a.item->count != b.item->count ? a.item->count > b.item->count
                                          : std::less<>{}(a.item, b.item);
  });
  return found;
}

std::string sections_text(const Profile &profile, const Terminal &terminal, std::size_t limit) {
  using Align = Column::Align;
  Table table({{.header = "section", .least = 12, .cut = Cut::middle},
               {.header = "place", .least = 12, .cut = Cut::start, .optional = true},
               {.header = "commits", .align = Align::right},
               {.header = "aborts", .align = Align::right},
               {.header = "serial", .align = Align::right},
               {.header = "reads", .align = Align::right},
               {.header = "writes", .align = Align::right},
               {.header = "time", .align = Align::right},
               {.header = "waiting", .align = Align::right, .optional = true},
               {.header = "irrevocable", .align = Align::right, .optional = true}});
  std::vector<const ProfileSection *> sections;
  for (const ProfileSection &section : profile.sections)
    sections.push_back(&section);
  std::sort(sections.begin(), sections.end(), [](const auto *a, const auto *b) {
    return a->section_ns != b->section_ns ? a->section_ns > b->section_ns : std::less<>{}(a, b);
  });
  for (const ProfileSection *section : sections)
    table.add({TableCell(demangled(section->name), Colour::bold),
               place_text(section->file, section->line), thousands(section->commits),
               TableCell(thousands(section->aborted()),
                         section->aborted() > section->commits ? Colour::red : Colour::plain),
               thousands(section->serialised()), fmt::format("{:.1f}", section->read_set.mean()),
               fmt::format("{:.1f}", section->write_set.mean()), time_text(section->section_ns),
               time_text(section->waiting_ns), time_text(section->irrevocable_ns)});
  return table.text(terminal, limit);
}

std::string groups_text(const Profile &profile, const Terminal &terminal, std::size_t limit) {
  using Align = Column::Align;
  Table table({{.header = "group", .least = 10, .cut = Cut::end},
               {.header = "sections", .align = Align::right},
               {.header = "commits", .align = Align::right},
               {.header = "aborts", .align = Align::right},
               {.header = "serial", .align = Align::right},
               {.header = "time", .align = Align::right},
               {.header = "waiting", .align = Align::right, .optional = true}});
  for (const ProfileGroup &group : groups_of(profile))
    table.add({group.name, thousands(group.sections), thousands(group.commits),
               thousands(group.aborts), thousands(group.serial), time_text(group.section_ns),
               time_text(group.waiting_ns)});
  return table.rows() == 0 ? "" : "\nGroups\n" + table.text(terminal, limit);
}

std::string aborts_text(const Profile &profile, const Terminal &terminal, std::size_t limit) {
  Table table({{.header = "aborts", .align = Column::Align::right},
               {.header = "section", .least = 10, .cut = Cut::middle},
               {.header = "cause"},
               {.header = "memory", .least = 10, .cut = Cut::middle},
               {.header = "because of", .least = 10, .cut = Cut::middle},
               {.header = "at", .least = 10, .cut = Cut::start, .optional = true}});
  for (const auto &[section, abort] : most_frequent(profile, &ProfileSection::aborts))
    table.add({thousands(abort->count), demangled(section->name), abort->cause,
               location_text(*abort), demangled(abort->other), access_text(*abort)});
  return table.rows() == 0 ? "" : "\nAborts\n" + table.text(terminal, limit);
}

std::string serialisations_text(const Profile &profile, const Terminal &terminal,
                                std::size_t limit) {
  Table table({{.header = "attempts", .align = Column::Align::right},
               {.header = "section", .least = 10, .cut = Cut::middle},
               {.header = "cause"},
               {.header = "asked by", .least = 16, .cut = Cut::end}});
  for (const auto &[section, serialisation] :
       most_frequent(profile, &ProfileSection::serialisations)) {
    std::string calls;
    for (const ProfileFrame &frame : serialisation->stack) {
      if (frame.function.empty())
        continue;
      calls += (calls.empty() ? "" : " ← ") + demangled(frame.function);
      if (frame.line != 0)
        calls += " (" + place_text(frame.file, frame.line) + ")";
    }
    table.add(
        {thousands(serialisation->count), demangled(section->name), serialisation->cause, calls});
  }
  return table.rows() == 0 ? "" : "\nSerial or irrevocable\n" + table.text(terminal, limit);
}

std::string colour_waits_text(const Profile &profile, const Terminal &terminal, std::size_t limit) {
  Table table({{.header = "waits", .align = Column::Align::right},
               {.header = "section", .least = 10, .cut = Cut::middle},
               {.header = "for colour"},
               {.header = "waiting", .align = Column::Align::right}});
  for (const auto &[section, wait] : most_frequent(profile, &ProfileSection::colour_waits))
    table.add({thousands(wait->count), demangled(section->name), wait->colour,
               time_text(wait->waiting_ns)});
  return table.rows() == 0 ? "" : "\nColours\n" + table.text(terminal, limit);
}

std::string locks_text(const Profile &profile, const Terminal &terminal, std::size_t limit) {
  using Align = Column::Align;
  Table table({{.header = "lock", .least = 10, .cut = Cut::middle},
               {.header = "acquired by", .least = 10, .cut = Cut::middle},
               {.header = "at", .least = 10, .cut = Cut::start, .optional = true},
               {.header = "acquisitions", .align = Align::right},
               {.header = "contended", .align = Align::right},
               {.header = "waiting", .align = Align::right},
               {.header = "held", .align = Align::right},
               {.header = "longest", .align = Align::right, .optional = true}});
  std::vector<const ProfileLock *> locks;
  for (const ProfileLock &lock : profile.locks)
    locks.push_back(&lock);
  std::sort(locks.begin(), locks.end(), [](const auto *a, const auto *b) {
    return std::tie(a->wait_ns, a->hold_ns, b) > std::tie(b->wait_ns, b->hold_ns, a);
  });
  for (const ProfileLock *lock : locks)
    table.add({lock_text(*lock), demangled(lock->site.function),
               place_text(lock->site.file, lock->site.line), thousands(lock->acquisitions),
               thousands(lock->contended), time_text(lock->wait_ns), time_text(lock->hold_ns),
               time_text(lock->longest_hold_ns)});
  return table.rows() == 0 ? "" : "\nLocks\n" + table.text(terminal, limit);
}

std::string head_text(const Profile &profile) {
  std::uint64_t commits = 0;
  std::uint64_t aborts = 0;
  std::uint64_t cancels = 0;
  for (const ProfileSection &section : profile.sections) {
    commits += section.commits;
    aborts += section.aborted();
    cancels += section.cancelled();
  }
  const std::string threads = counted(profile.threads, "thread", "threads");
  if (profile.of_locks)
    return fmt::format("{}: {}{}, {:.2f} s; process {}{}", profile.program, threads,
                       profile.locks.empty() ? ", no lock was acquired" : "", profile.wall_seconds,
                       profile.pid, profile.end.empty() ? "" : ", ended by " + profile.end);
  return fmt::format(
      "{}: {}, {}, {} commits, {} aborts{}, {:.2f} s{}", profile.program, profile.algorithm,
      threads, thousands(commits), thousands(aborts),
      cancels == 0 ? "" : fmt::format(", {} cancelled by the program", thousands(cancels)),
      profile.wall_seconds, sampling_of(profile));
}

} // namespace

std::string demangled(const std::string &name) {
  const std::size_t end = std::min(name.find_first_of("+@"), name.size());
  return in_program_terms(name.substr(0, end)) + name.substr(end);
}

std::string place_text(const std::string &file, std::uint64_t line) {
  return file.empty() ? "" : fmt::format("{}:{}", file, line);
}

std::string sampling_of(const Profile &profile) {
  return profile.measured >= profile.executions
             ? ""
             : fmt::format("; estimates: {} of {} executions were measured",
                           thousands(profile.measured), thousands(profile.executions));
}

std::string location_text(const ProfileAbort &abort) {
  if (!abort.location || abort.location->kind == "unknown")
    return "";
  const ProfileLocation &location = *abort.location;
  std::string text = demangled(location.symbol);
  if (location.kind == "heap")
    text = text.empty() ? "the heap" : "allocated by " + text;
  else if (text.empty())
    text = location.kind;
  if (location.offset != 0)
    text += fmt::format("+{}", location.offset);
  if (!location.allocation_file.empty())
    text += " (" + place_text(location.allocation_file, location.allocation_line) + ")";
  return text;
}

std::string access_text(const ProfileAbort &abort) {
  return abort.location ? place_text(abort.location->access.file, abort.location->access.line) : "";
}

std::string lock_text(const ProfileLock &lock) {
  std::string text = demangled(lock.symbol);
  if (!lock.variable && !lock.file.empty())
    text += " (" + place_text(lock.file, lock.line) + ")";
  if (lock.locks > 1)
    text += fmt::format(", {} of them", thousands(lock.locks));
  return text;
}

std::string time_text(std::uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns < 1'000)
    return fmt::format("{} ns", ns);
  if (ns < 1'000'000)
    return fmt::format("{:.1f} µs", value / 1e3);
  if (ns < 1'000'000'000)
    return fmt::format("{:.1f} ms", value / 1e6);
  return fmt::format("{:.2f} s", value / 1e9);
}

std::string profile_text(const Profile &profile, const Terminal &terminal, bool all) {
  const std::size_t limit = all ? 0 : kShown;
  std::string text = terminal.paint(Colour::bold, head_text(profile));
  text += '\n';
  if (!profile.sections.empty())
    text += sections_text(profile, terminal, limit);
  text += groups_text(profile, terminal, limit);
  text += aborts_text(profile, terminal, limit);
  text += serialisations_text(profile, terminal, limit);
  text += colour_waits_text(profile, terminal, limit);
  text += locks_text(profile, terminal, limit);
  return text;
}

} // namespace tandem
