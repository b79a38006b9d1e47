// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page: static HTML and SVG. Everything that comes from the profile goes through markup().
#include "base/page_filter.h"
#include "base/printable.h"
#include "cli/report/tables.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace tandem {
namespace {

constexpr const char *kStyle = R"(
:root{color-scheme:light dark;--line:#8884;--bar:#3b7dd8;--hot:214,69,65}
body{font:15px/1.45 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}
p.run{opacity:.75;margin:.2rem 0 1rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{position:sticky;top:0;background:Canvas}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font:.85em ui-monospace,monospace}
table.matrix td{min-width:3.2rem;text-align:right}
table.matrix th.top{writing-mode:vertical-rl;transform:rotate(180deg);text-align:left}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(20rem,1fr));gap:1rem}
figure{margin:0;border:1px solid var(--line);border-radius:.4rem;padding:.6rem}
figcaption{font-size:.85rem;margin-bottom:.3rem}
svg{width:100%;height:auto}svg rect{fill:var(--bar)}svg text{font-size:9px;fill:CanvasText}
ol{margin:0;padding-left:1.2rem}
)";

std::string name_of(const std::string &name) { return markup(demangled(name)); }
std::string number_cell(const std::string &text) {
  return fmt::format("<td class=\"n\">{}</td>", markup(text));
}
std::string cell(const std::string &text) { return fmt::format("<td>{}</td>", markup(text)); }
std::string cause_cell(const std::string &cause) {
  const std::string_view meaning = meaning_of(cause);
  return cell(meaning.empty() ? cause : fmt::format("{}: {}", cause, meaning));
}
std::string code_cell(const std::string &text) {
  return fmt::format("<td><code>{}</code></td>", text);
}

std::string head(std::initializer_list<const char *> columns) {
  std::string row = "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string column : columns) // a leading '#': numbers
    row += column.starts_with('#') ? fmt::format("<th class=\"n\">{}</th>", column.substr(1))
                                   : fmt::format("<th>{}</th>", column);
  return row + "</tr></thead><tbody>";
}
constexpr const char *kTail = "</tbody></table></div>";

// What of all attempts ran serially, by what they are called in libitm's statistics.
struct Serial {
  std::uint64_t in_flight = 0; // reached something irrevocable under way
  std::uint64_t at_start = 0;  // by plan
  std::uint64_t after_aborts = 0;
};

Serial serial_of(const Profile &profile) {
  Serial serial;
  for (const ProfileSection &section : profile.sections)
    for (const ProfileSerialisation &one : section.serialisations)
      if (one.cause == "irrevocable-call" || one.cause == "requested")
        serial.in_flight += one.count;
      else if (one.cause == "irrevocable-begin" || one.cause == "algorithm")
        serial.at_start += one.count;
      else
        serial.after_aborts += one.count;
  return serial;
}

// `part` of `all` in a hundred; empty where there is nothing.
std::string share_text(std::uint64_t part, std::uint64_t all) {
  if (all == 0 || part == 0)
    return "";
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(all);
  return share < 0.0001 ? "< 0.0001 %" : fmt::format("{:.{}f} %", share, share < 0.1 ? 4 : 1);
}

// The run in a few figures, before the tables.
std::string summary(const Profile &profile) {
  std::uint64_t starts = 0, commits = 0, aborts = 0, cancels = 0;
  std::uint64_t time = 0, waiting = 0, irrevocable = 0;
  for (const ProfileSection &section : profile.sections) {
    starts += section.starts;
    commits += section.commits;
    aborts += section.aborted();
    cancels += section.cancelled();
    time += section.section_ns;
    waiting += section.waiting_ns;
    irrevocable += section.irrevocable_ns;
  }
  if (starts == 0)
    return "";
  const Serial serial = serial_of(profile);
  std::string page = "<h2>Summary</h2>" + head({"", "#", "#share", "of"});
  const auto row = [&page](const char *what, const std::string &count, const std::string &share,
                           const char *of) {
    page += "<tr>" + cell(what) + number_cell(count) + number_cell(share) +
            cell(share.empty() ? "" : of) + "</tr>";
  };
  row("attempts", thousands(starts), "", "");
  row("committed", thousands(commits), share_text(commits, starts), "attempts");
  row("aborted", thousands(aborts), share_text(aborts, starts), "attempts");
  row("cancelled by the program", thousands(cancels), share_text(cancels, starts), "attempts");
  row("serial or irrevocable: by a call under way", thousands(serial.in_flight),
      share_text(serial.in_flight, starts), "attempts");
  row("serial or irrevocable: planned so", thousands(serial.at_start),
      share_text(serial.at_start, starts), "attempts");
  row("serial or irrevocable: after aborts", thousands(serial.after_aborts),
      share_text(serial.after_aborts, starts), "attempts");
  row("time in sections", time_text(time), "", "");
  row("of it waiting", time_text(waiting), share_text(waiting, time), "time in sections");
  row("of it irrevocable", time_text(irrevocable), share_text(irrevocable, time),
      "time in sections");
  return page + kTail;
}

// Those that took most of the time first.
std::vector<const ProfileSection *> by_time(const Profile &profile) {
  std::vector<const ProfileSection *> sections;
  for (const ProfileSection &section : profile.sections)
    sections.push_back(&section);
  std::sort(sections.begin(), sections.end(), [](const auto *a, const auto *b) {
    return a->section_ns != b->section_ns ? a->section_ns > b->section_ns : std::less<>{}(a, b);
  });
  return sections;
}

std::string sections_table(const Profile &profile) {
  if (profile.of_locks)
    return "";
  std::string page =
      "<h2>Sections</h2><p class=\"run\">Those that took most time first.</p>" +
      head({"section", "place", "#starts", "#commits", "#aborts", "#cancels", "#serial", "#reads",
            "#writes", "#retries", "#time", "#waiting", "#irrevocable"});
  for (const ProfileSection *section : by_time(profile)) {
    page += "<tr>" + code_cell(name_of(section->name)) +
            cell(place_text(section->file, section->line)) +
            number_cell(thousands(section->starts)) + number_cell(thousands(section->commits)) +
            number_cell(thousands(section->aborted())) +
            number_cell(thousands(section->cancelled())) +
            number_cell(thousands(section->serialised()));
    for (const ProfileHistogram *set : {&section->read_set, &section->write_set, &section->retries})
      page += number_cell(fmt::format("{:.1f} (≤ {})", set->mean(), set->max));
    for (const std::uint64_t ns :
         {section->section_ns, section->waiting_ns, section->irrevocable_ns})
      page += number_cell(time_text(ns));
    page += "</tr>";
  }
  return page + kTail;
}

std::string groups_table(const Profile &profile) {
  std::string rows;
  for (const ProfileGroup &group : groups_of(profile))
    rows += "<tr>" + cell(group.name) + number_cell(thousands(group.sections)) +
            number_cell(thousands(group.commits)) + number_cell(thousands(group.aborts)) +
            number_cell(thousands(group.serial)) + number_cell(time_text(group.section_ns)) +
            number_cell(time_text(group.waiting_ns)) + "</tr>";
  if (rows.empty())
    return "";
  return "<h2>Groups</h2>" +
         head({"group", "#sections", "#commits", "#aborts", "#serial", "#time", "#waiting"}) +
         rows + kTail;
}

// Rows: who was aborted. Columns: because of whom.
std::string matrix(const Profile &profile) {
  const std::string unknown = "(not known)";
  std::map<std::string, std::map<std::string, std::uint64_t>> counts;
  std::map<std::string, std::uint64_t> winners;
  std::uint64_t most = 0;
  for (const ProfileSection &section : profile.sections)
    for (const ProfileAbort &abort : section.aborts) {
      if (abort.is_cancel() || abort.cause == "retry")
        continue; // nobody's doing
      const std::string &winner = abort.other.empty() ? unknown : abort.other;
      std::uint64_t &count = counts[section.name][winner];
      count += abort.count;
      winners[winner] += abort.count;
      most = std::max(most, count);
    }
  if (counts.empty())
    return "";
  std::string page =
      "<h2>Who aborts whom</h2><p class=\"run\">A row's section was aborted because "
      "of a column's.</p><div class=\"scroll\"><table class=\"matrix\"><tr><th></th>";
  for (const auto &[winner, count] : winners)
    page += fmt::format("<th class=\"top\"><code>{}</code></th>", name_of(winner));
  page += "</tr>";
  for (const auto &[loser, row] : counts) {
    page += fmt::format("<tr><th><code>{}</code></th>", name_of(loser));
    for (const auto &[winner, sum] : winners) {
      const auto found = row.find(winner);
      const std::uint64_t count = found == row.end() ? 0 : found->second;
      const double share = static_cast<double>(count) / static_cast<double>(most);
      page += fmt::format("<td style=\"background:rgba(var(--hot),{:.2f})\">{}</td>", share * 0.7,
                          count == 0 ? "" : thousands(count));
    }
    page += "</tr>";
  }
  return page + "</table></div>";
}

std::string aborts_table(const Profile &profile) {
  std::vector<std::pair<const ProfileSection *, const ProfileAbort *>> aborts;
  for (const ProfileSection &section : profile.sections)
    for (const ProfileAbort &abort : section.aborts)
      aborts.emplace_back(&section, &abort);
  std::sort(aborts.begin(), aborts.end(), [](const auto &a, const auto &b) {
    return a.second->count != b.second->count ? a.second->count > b.second->count : a < b;
  });
  std::string rows;
  for (const auto &[section, abort] : aborts)
    rows += "<tr>" + code_cell(name_of(section->name)) + cause_cell(abort->cause) +
            number_cell(thousands(abort->count)) + code_cell(markup(location_text(*abort))) +
            code_cell(name_of(abort->other)) + cell(access_text(*abort)) + "</tr>";
  if (rows.empty())
    return "";
  return "<h2>Aborts</h2>" +
         head({"section", "cause", "#count", "memory", "because of", "access"}) + rows + kTail;
}

std::string serialisations_table(const Profile &profile) {
  std::string rows;
  for (const ProfileSection &section : profile.sections)
    for (const ProfileSerialisation &serialisation : section.serialisations) {
      rows += "<tr>" + code_cell(name_of(section.name)) + cause_cell(serialisation.cause) +
              number_cell(thousands(serialisation.count)) + "<td><ol>";
      for (const ProfileFrame &frame : serialisation.stack)
        if (!frame.function.empty())
          rows += fmt::format("<li><code>{}</code> {}</li>", name_of(frame.function),
                              markup(place_text(frame.file, frame.line)));
      rows += "</ol></td></tr>";
    }
  if (rows.empty())
    return "";
  return "<h2>Serial or irrevocable</h2>" + head({"section", "cause", "#count", "asked by"}) +
         rows + kTail;
}

std::string colour_waits_table(const Profile &profile) {
  std::string rows;
  for (const ProfileSection &section : profile.sections)
    for (const ProfileColourWait &wait : section.colour_waits)
      rows += "<tr>" + code_cell(name_of(section.name)) + cell(wait.colour) +
              number_cell(thousands(wait.count)) + number_cell(time_text(wait.waiting_ns)) +
              "</tr>";
  if (rows.empty())
    return "";
  return "<h2>Waits for colours</h2>" + head({"section", "colour", "#count", "#waiting"}) + rows +
         kTail;
}

std::string locks_table(const Profile &profile) {
  std::string rows;
  for (const ProfileLock &lock : profile.locks)
    rows += "<tr>" + code_cell(markup(lock_text(lock))) + code_cell(name_of(lock.site.function)) +
            cell(place_text(lock.site.file, lock.site.line)) +
            number_cell(thousands(lock.acquisitions)) + number_cell(thousands(lock.contended)) +
            number_cell(time_text(lock.wait_ns)) + number_cell(time_text(lock.hold_ns)) + "</tr>";
  if (rows.empty())
    return "";
  return "<h2>Locks</h2>" +
         head(
             {"lock", "acquired by", "place", "#acquisitions", "#contended", "#waiting", "#held"}) +
         rows + kTail;
}

// "0", "1", "2–3", "4–7", ...
std::string bucket_name(std::size_t bucket) {
  if (bucket <= 1)
    return fmt::format("{}", bucket);
  return fmt::format("{}–{}", std::uint64_t{1} << (bucket - 1),
                     (std::uint64_t{1} << (bucket - 1)) * 2 - 1);
}

std::string histogram(const char *what, const ProfileHistogram &values) {
  constexpr double kWidth = 300;
  constexpr double kHeight = 80;
  const std::size_t bars = std::max<std::size_t>(values.counts.size(), 1);
  const std::uint64_t most =
      values.counts.empty() ? 0 : *std::max_element(values.counts.begin(), values.counts.end());
  if (most == 0)
    return "";
  std::string svg = fmt::format("<figcaption>{}: mean {:.1f}, at most {}</figcaption>"
                                "<svg viewBox=\"0 0 {} {}\" role=\"img\">",
                                what, values.mean(), values.max, kWidth, kHeight + 24);
  const double width = kWidth / static_cast<double>(bars);
  for (std::size_t bar = 0; bar < values.counts.size(); ++bar) {
    const std::uint64_t count = values.counts[bar];
    const double height = kHeight * static_cast<double>(count) / static_cast<double>(most);
    const double left = width * static_cast<double>(bar);
    svg += fmt::format("<g><title>{}: {}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                       "height=\"{:.1f}\"/><text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}"
                       "</text></g>",
                       bucket_name(bar), thousands(count), left + 1, kHeight - height, width - 2,
                       std::max(height, count == 0 ? 0.0 : 1.0), left + width / 2, kHeight + 12,
                       bucket_name(bar));
  }
  return svg + "</svg>";
}

std::string histograms(const Profile &profile) {
  std::string cards;
  for (const ProfileSection *section : by_time(profile))
    cards += fmt::format("<figure><code>{}</code>{}{}{}</figure>", name_of(section->name),
                         histogram("reads of a commit", section->read_set),
                         histogram("writes of a commit", section->write_set),
                         histogram("aborts before a commit", section->retries));
  return cards.empty() ? ""
                       : "<h2>Set sizes and retries</h2><div class=\"cards\">" + cards + "</div>";
}

} // namespace

std::string profile_html(const Profile &profile) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src '{13}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0} – profile</title><style>{1}</style></head><body>\n"
      "<h1>{0}</h1><p class=\"run\">{2}{3}, from {4}, {5:.2f} s{15}</p>\n"
      "{12}\n{6}\n{7}\n{8}\n{9}\n{10}\n{11}\n<script>{14}</script></body></html>\n",
      markup(profile.program), kStyle,
      profile.of_locks ? "the program's own locks, "
                       : fmt::format("{}, policy {}, back-off {}, ", markup(profile.algorithm),
                                     markup(profile.contention), markup(profile.backoff)),
      counted(profile.threads, "thread", "threads"), markup(profile.start), profile.wall_seconds,
      groups_table(profile) + sections_table(profile), matrix(profile), aborts_table(profile),
      serialisations_table(profile) + colour_waits_table(profile), histograms(profile),
      locks_table(profile), summary(profile), kPageFilterHash, kPageFilterScript,
      sampling_of(profile));
}

} // namespace tandem
