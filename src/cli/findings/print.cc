// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/findings/findings.h"
#include "compiler/report/rules.h"

#include <algorithm>
#include <map>

namespace tandem {
namespace {

std::string place(const std::string &file, std::uint32_t line, const Terminal &terminal) {
  const std::string name = printable(file.empty() ? "?" : file);
  return terminal.paint(Colour::bold, line == 0 ? name + ":" : fmt::format("{}:{}:", name, line));
}

std::string level_text(const JudgedFinding &judged, const Terminal &terminal) {
  if (judged.suppression)
    return terminal.paint(Colour::dim, "suppressed:");
  const Rule *rule = find_rule(judged.finding.rule);
  const RuleLevel level = rule == nullptr ? RuleLevel::warning : rule->level;
  return terminal.paint(level == RuleLevel::error ? Colour::red : Colour::magenta,
                        fmt::format("{}:", to_string(level)));
}

// Findings that are listed one by one are counted by the reader.
constexpr std::size_t kFew = 3;

std::string finding_text(const JudgedFinding &judged, const Terminal &terminal) {
  const ReportFinding &finding = judged.finding;
  std::string text = fmt::format("{} {} {} [{}]\n", place(finding.file, finding.line, terminal),
                                 level_text(judged, terminal), printable(finding.message),
                                 printable(finding.rule));
  for (const ReportNote &note : finding.notes)
    text += fmt::format("{} {} {}\n", place(note.file, note.line, terminal),
                        terminal.paint(Colour::dim, "note:"), printable(note.message));
  if (judged.suppression)
    text += fmt::format(
        "{} {} suppressed here{}\n",
        terminal.paint(Colour::bold, printable(judged.suppression->place) + ":"),
        terminal.paint(Colour::dim, "note:"),
        judged.suppression->reason.empty() ? "" : ": " + printable(judged.suppression->reason));
  return text;
}

// Advice is what one reads for its own sake; of a large program it is hundreds of lines.
bool is_advice(const JudgedFinding &judged) {
  const Rule *rule = find_rule(judged.finding.rule);
  return rule != nullptr && rule->level == RuleLevel::note && !rule->doubtful &&
         !judged.suppression;
}

// Takes the notes of rules that have more than a few out of what is shown. Result: by rule, these.
std::map<std::string, std::vector<const JudgedFinding *>>
fold_advice(std::vector<const JudgedFinding *> &shown) {
  std::map<std::string, std::vector<const JudgedFinding *>> folded;
  for (const JudgedFinding *judged : shown)
    if (is_advice(*judged))
      folded[judged->finding.rule].push_back(judged);
  std::erase_if(folded, [](const auto &entry) { return entry.second.size() <= kFew; });
  std::erase_if(shown, [&](const JudgedFinding *judged) {
    return is_advice(*judged) && folded.contains(judged->finding.rule);
  });
  return folded;
}

std::string folded_text(const std::vector<const JudgedFinding *> &notes, const Terminal &terminal) {
  const ReportFinding &first = notes.front()->finding;
  const Rule *rule = find_rule(first.rule);
  return fmt::format("{} {} {} [{}]: {} places, this the first; --all shows them\n",
                     place(first.file, first.line, terminal), level_text(*notes.front(), terminal),
                     rule->title, rule->name, notes.size());
}

// What stops a program comes before what may spoil its data, and that before what slows it.
constexpr std::string_view kGravest[] = {
    "strict-atomicity", "lock-order",      "missing-unlock",   "lock-in-handler",
    "lock-in-section",  "different-locks", "unguarded-access", "unprotected-access",
};

std::size_t gravity(const JudgedFinding &judged) {
  const auto *const found =
      std::find(std::begin(kGravest), std::end(kGravest), judged.finding.rule);
  return static_cast<std::size_t>(found - std::begin(kGravest));
}

void put_gravest_first(std::vector<const JudgedFinding *> &shown) {
  std::vector<std::pair<std::size_t, std::size_t>> order; // gravity, place
  for (std::size_t i = 0; i < shown.size(); ++i)
    order.emplace_back(gravity(*shown[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<const JudgedFinding *> sorted;
  for (const auto &[weight, place] : order)
    sorted.push_back(shown[place]);
  shown = std::move(sorted);
}

} // namespace

std::string findings_text(const std::vector<JudgedFinding> &findings, const FindingsView &view,
                          const Terminal &terminal) {
  std::vector<const JudgedFinding *> shown;
  std::size_t doubtful = 0;
  for (const JudgedFinding &judged : findings)
    if (!view.suppressed && judged.suppression)
      continue;
    else if (is_doubtful(judged) && !view.doubtful)
      ++doubtful;
    else
      shown.push_back(&judged);
  std::map<std::string, std::vector<const JudgedFinding *>> folded;
  if (!view.doubtful)
    folded = fold_advice(shown);
  const std::size_t count =
      view.most == 0 || shown.size() <= view.most + 1 ? shown.size() : view.most;
  if (count < shown.size())
    put_gravest_first(shown);
  std::string text;
  for (std::size_t index = 0; index < count; ++index)
    text += finding_text(*shown[index], terminal);
  if (count < shown.size())
    text += terminal.paint(Colour::dim,
                           fmt::format("… {} more; --all shows them", shown.size() - count)) +
            "\n";
  for (const auto &[rule, notes] : folded)
    text += folded_text(notes, terminal);
  if (doubtful > 0)
    text +=
        terminal.paint(Colour::dim,
                       fmt::format("… {} more that are less certain; --all shows them", doubtful)) +
        "\n";
  return text;
}

std::string findings_by_rule(const std::vector<JudgedFinding> &findings) {
  std::map<std::string, std::size_t> counts;
  std::size_t all = 0;
  for (const JudgedFinding &judged : findings)
    if (!judged.suppression) {
      ++counts[judged.finding.rule];
      ++all;
    }
  if (all <= kFew)
    return "";
  std::string text;
  for (const auto &[name, count] : counts) {
    const Rule *rule = find_rule(name);
    const bool doubtful = rule != nullptr && rule->doubtful;
    text += fmt::format("{}{}{} {}{}", text.empty() ? "" : ", ", doubtful ? "(" : "",
                        printable(name), count, doubtful ? ")" : "");
  }
  return "by rule: " + text;
}

bool is_doubtful(const JudgedFinding &judged) {
  const Rule *rule = find_rule(judged.finding.rule);
  return rule != nullptr && rule->doubtful;
}

std::string findings_count(const std::vector<JudgedFinding> &findings) {
  const std::size_t open = count_open(findings);
  const std::string text = counted(open, "finding", "findings");
  const auto suppressed =
      std::count_if(findings.begin(), findings.end(),
                    [](const JudgedFinding &judged) { return judged.suppression.has_value(); });
  return suppressed == 0 ? text : fmt::format("{}, {} suppressed", text, suppressed);
}

} // namespace tandem
