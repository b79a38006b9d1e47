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
  const std::size_t count =
      view.most == 0 || shown.size() <= view.most + 1 ? shown.size() : view.most;
  std::string text;
  for (std::size_t index = 0; index < count; ++index)
    text += finding_text(*shown[index], terminal);
  if (count < shown.size())
    text += terminal.paint(Colour::dim,
                           fmt::format("… {} more; --all shows them", shown.size() - count)) +
            "\n";
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
