// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/findings/suppress.h"

#include "cli/common/suggest.h"
#include "cli/findings/comments.h"
#include "compiler/report/rules.h"

#include <algorithm>
#include <fnmatch.h>
#include <map>
#include <tuple>

namespace tandem {
namespace {

bool matches(const SuppressionEntry &entry, const ReportFinding &finding) {
  return entry.rule == finding.rule &&
         (entry.file.empty() || ::fnmatch(entry.file.c_str(), finding.file.c_str(), 0) == 0) &&
         (entry.function.empty() || entry.function == finding.function) &&
         (entry.section.empty() || entry.section == finding.section);
}

// The files that `report` names.
std::set<std::string> files_of(const Report &report) {
  std::set<std::string> files;
  for (const ReportSection &section : report.sections) {
    files.insert(section.file);
    for (const ReportAccess &access : section.accesses)
      files.insert(access.file);
  }
  for (const ReportLocation &location : report.locations)
    files.insert(location.file);
  for (const ReportLockSite &site : report.lock_sites)
    files.insert(site.file);
  for (const ReportFinding &finding : report.findings)
    files.insert(finding.file);
  files.erase("");
  return files;
}

std::string no_such_rule(const std::string &name) {
  std::vector<std::string> names;
  for (const Rule &rule : rules())
    names.emplace_back(rule.name);
  const std::string near = nearest(name, names);
  return fmt::format("'{}' is no rule{}", name,
                     near.empty() ? "; see docs/findings.md"
                                  : fmt::format("; did you mean '{}'?", near));
}

ReportFinding unused(const std::string &file, std::uint32_t line, const std::string &rule) {
  ReportFinding finding;
  finding.rule = "unused-suppression";
  finding.file = file;
  finding.line = line;
  finding.message = find_rule(rule) == nullptr
                        ? no_such_rule(rule)
                        : fmt::format("there is no finding of '{}' here to suppress", rule);
  return finding;
}

void judge_comments(std::vector<JudgedFinding> &findings, const std::string &file,
                    SourceFiles &sources, std::vector<ReportFinding> &more) {
  for (const AllowComment &comment : allow_comments(sources.lines(file)))
    for (const std::string &rule : comment.rules) {
      bool used = false;
      for (JudgedFinding &judged : findings)
        if (judged.finding.rule == rule && judged.finding.file == file &&
            judged.finding.line == comment.about) {
          used = true;
          judged.suppression = {true, fmt::format("{}:{}", file, comment.line), comment.reason};
        }
      if (!used)
        more.push_back(unused(file, comment.line, rule));
    }
}

} // namespace

std::vector<JudgedFinding> judge(const Report &report, const std::vector<SuppressionFile> &files,
                                 SourceFiles &sources) {
  std::vector<JudgedFinding> findings;
  for (const ReportFinding &finding : report.findings)
    findings.push_back({finding, std::nullopt});
  std::vector<ReportFinding> more;
  for (const std::string &file : files_of(report))
    judge_comments(findings, file, sources, more);
  for (const SuppressionFile &file : files)
    for (const SuppressionEntry &entry : file.entries) {
      bool used = false;
      for (JudgedFinding &judged : findings)
        if (matches(entry, judged.finding)) {
          used = true;
          if (!judged.suppression)
            judged.suppression = {false, fmt::format("{}:{}", file.path, entry.line), entry.reason};
        }
      if (!used)
        more.push_back(unused(file.path, entry.line, entry.rule));
    }
  for (ReportFinding &finding : more)
    findings.push_back({std::move(finding), std::nullopt});
  std::sort(findings.begin(), findings.end(), [](const auto &left, const auto &right) {
    const auto key = [](const JudgedFinding &judged) {
      const ReportFinding &finding = judged.finding;
      return std::tie(finding.file, finding.line, finding.rule, finding.message, finding.section,
                      finding.function);
    };
    return key(left) < key(right);
  });
  return findings;
}

void suppress_known(std::vector<JudgedFinding> &findings, const Report &baseline,
                    const std::string &path) {
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
  for (const ReportFinding &finding : baseline.findings)
    ++known[{finding.rule, finding.file, finding.message}];
  for (JudgedFinding &judged : findings) {
    const auto found =
        known.find({judged.finding.rule, judged.finding.file, judged.finding.message});
    if (judged.suppression || found == known.end() || found->second == 0)
      continue;
    --found->second;
    judged.suppression = Suppression{false, path, "known in the baseline"};
  }
}

std::size_t count_open(const std::vector<JudgedFinding> &findings,
                       const std::set<std::string, std::less<>> &rules) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [&](const JudgedFinding &judged) {
        return !judged.suppression &&
               (rules.empty() ? !is_doubtful(judged) : rules.contains(judged.finding.rule));
      }));
}

Result<std::set<std::string, std::less<>>> parse_rules(std::string_view text) {
  std::set<std::string, std::less<>> rules;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name(text.substr(begin, end - begin));
    if (find_rule(name) == nullptr)
      return Error{no_such_rule(name)};
    rules.insert(name);
    begin = end + 1;
  }
  return rules;
}

} // namespace tandem
