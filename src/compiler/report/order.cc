// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/report.h"

#include <algorithm>
#include <tuple>

namespace tandem {
namespace {

template <typename T, typename Key> void sort_unique(std::vector<T> &items, Key key) {
  std::sort(items.begin(), items.end(),
            [&](const T &left, const T &right) { return key(left) < key(right); });
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

void sort_names(std::vector<std::string> &names) {
  sort_unique(names, [](const std::string &name) { return std::string_view(name); });
}

// The order in which colours are handed out, A, ..., Z, AA: shorter names first.
struct ColourLess {
  bool operator()(const std::string &left, const std::string &right) const {
    return std::make_tuple(left.size(), std::string_view(left)) <
           std::make_tuple(right.size(), std::string_view(right));
  }
};

void sort_section(ReportSection &section) {
  std::sort(section.colours.begin(), section.colours.end(), ColourLess());
  section.colours.erase(std::unique(section.colours.begin(), section.colours.end()),
                        section.colours.end());
  std::sort(section.locks.begin(), section.locks.end(),
            [](const ReportLock &left, const ReportLock &right) {
              return left.colour == right.colour ? left.mode < right.mode
                                                 : ColourLess()(left.colour, right.colour);
            });
  sort_names(section.reads);
  sort_names(section.writes);
  sort_unique(section.irrevocable,
              [](const ReportIrrevocable &call) { return std::tie(call.callee, call.chain); });
  for (ReportConflict &conflict : section.conflicts)
    sort_names(conflict.on);
  sort_unique(section.conflicts,
              [](const ReportConflict &conflict) { return std::tie(conflict.with, conflict.on); });
  for (ReportRegion &region : section.lock)
    sort_names(region.names);
}

} // namespace

void sort_report(Report &report) {
  for (ReportSection &section : report.sections)
    sort_section(section);
  std::sort(report.sections.begin(), report.sections.end(),
            [](const ReportSection &left, const ReportSection &right) {
              return std::tie(left.file, left.line, left.name) <
                     std::tie(right.file, right.line, right.name);
            });
  for (ReportColour &colour : report.colours)
    sort_names(colour.locations);
  std::sort(report.colours.begin(), report.colours.end(),
            [](const ReportColour &left, const ReportColour &right) {
              return ColourLess()(left.name, right.name);
            });
  sort_names(report.shared);
  sort_names(report.externals);
  sort_unique(report.findings, [](const ReportFinding &finding) {
    return std::tie(finding.file, finding.line, finding.rule, finding.message);
  });
}

} // namespace tandem
