// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/tables.h"

#include "cli/common/table.h"
#include "cli/graph/graph.h"
#include "compiler/report/coverage.h"
#include "compiler/report/program_terms.h"

#include <algorithm>
#include <set>

namespace tandem {
namespace {

constexpr std::size_t kColourRows = 12;
constexpr std::size_t kMissedRows = 12;
// Locations named in a cell unless all are asked for.
constexpr std::size_t kLocationsInCell = 6;

// "label: a, b, c", or only how many where they are not asked for.
std::string names_text(const std::vector<std::string> &names, const std::string &what,
                       const View &view, const Terminal &terminal) {
  if (!view.all || names.empty())
    return "";
  return wrap(fmt::format("{}: {}", what, printable(joined(names))), terminal.width, 2) + "\n";
}

} // namespace

std::string program_text(const Report &report, const std::string &name,
                         const std::vector<JudgedFinding> &findings, const Terminal &terminal) {
  Sections sections;
  std::set<std::string_view> taken; // NRC: the colours of non-revocable sections
  for (const ReportSection &section : report.sections) {
    sections.push_back(&section);
    if (section.klass == SectionClass::non_revocable)
      taken.insert(section.colours.begin(), section.colours.end());
  }
  const ClassTotals totals = count_classes(sections);
  constexpr auto kRight = Column::Align::right;
  Table table({{.header = "PROGRAM", .least = 12, .cut = Cut::end},
               {.header = "SECTIONS", .align = kRight},
               {.header = "NON-REVOC", .align = kRight},
               {.header = "HYBRID", .align = kRight},
               {.header = "PURE", .align = kRight},
               {.header = "SHARED", .align = kRight},
               {.header = "CONFLICTS", .align = kRight, .optional = true},
               {.header = "COLOURS", .align = kRight},
               {.header = "NRC", .align = kRight},
               {.header = "FINDINGS", .align = kRight, .optional = true},
               {.header = "SECONDS", .align = kRight}});
  const auto number = [](std::size_t value) { return TableCell(std::to_string(value)); };
  table.add({name, number(sections.size()), number(totals.non_revocable), number(totals.hybrid),
             number(totals.pure), number(report.shared.size()),
             number(conflict_edges(report).size()), number(report.colours.size()),
             number(taken.size()), number(count_open(findings)),
             fmt::format("{:.3f}", report.analysis.seconds)});
  const std::string coverage = coverage_text(lock_coverage(report));
  return (coverage.empty() ? "" : wrap(coverage, terminal.width, 2) + "\n") + table.text(terminal);
}

std::string missed_text(const Report &report, const View &view, const Terminal &terminal) {
  const LockCoverage coverage = lock_coverage(report);
  if (coverage.missed.empty())
    return "";
  Table table({{.header = "NOT UNDERSTOOD", .least = 12},
               {.header = "PLACE", .least = 12},
               {.header = "LOCK", .least = 8},
               {.header = "REASON", .least = 20}});
  for (const ReportLockSite *site : coverage.missed)
    table.add({in_program_terms(site->function), fmt::format("{}:{}", site->file, site->line),
               site->lock, site->reason});
  const std::size_t shown = shown_rows(table.rows(), kMissedRows, view, terminal);
  Terminal wide = terminal;
  if (view.all)
    wide.width = 0; // nothing is cut
  return table.text(wide, shown) + hidden_line(table.rows() - shown, terminal);
}

std::string colours_text(const Report &report, const View &view, const Terminal &terminal) {
  if (report.colours.empty())
    return "";
  Table table({{.header = "COLOUR"},
               {.header = "SECTIONS", .align = Column::Align::right},
               {.header = "LOCATIONS", .least = 20}});
  for (const ReportColour &colour : report.colours) {
    const auto has = [&](const ReportSection &section) {
      return std::find(section.colours.begin(), section.colours.end(), colour.name) !=
             section.colours.end();
    };
    table.add({colour.name,
               std::to_string(std::count_if(report.sections.begin(), report.sections.end(), has)),
               joined(colour.locations, view.all ? 0 : kLocationsInCell)});
  }
  const std::size_t shown = shown_rows(table.rows(), kColourRows, view, terminal);
  Terminal wide = terminal;
  if (view.all)
    wide.width = 0; // nothing is cut
  return table.text(wide, shown) + hidden_line(table.rows() - shown, terminal);
}

std::string totals_text(const Report &report, const std::vector<JudgedFinding> &findings,
                        const View &view, const Terminal &terminal) {
  const ReportAnalysis &analysis = report.analysis;
  std::string text = names_text(report.shared, "shared", view, terminal) +
                     names_text(in_program_terms(report.externals), "external", view, terminal);
  std::string counts =
      fmt::format("{}, {}, {}, {}", counted(report.colours.size(), "colour", "colours"),
                  counted(report.shared.size(), "shared location", "shared locations"),
                  counted(report.externals.size(), "external function or object",
                          "external functions and objects"),
                  findings_count(findings));
  if (!view.all && !(report.shared.empty() && report.externals.empty()))
    counts += "; --all names them";
  text += wrap(counts, terminal.width, 2) + "\n";
  const std::string cost =
      fmt::format("analysis: {} points-to, {}, {:.3f} s, {:.1f} MiB",
                  printable(analysis.mode == "sensitive"     ? "context-sensitive"
                            : analysis.mode == "insensitive" ? "context-insensitive"
                                                             : analysis.mode),
                  counted(analysis.instructions, "instruction", "instructions"), analysis.seconds,
                  analysis.peak_mib);
  text += terminal.paint(Colour::dim, wrap(cost, terminal.width, 2)) + "\n";
  for (const AnalysisLimit limit : analysis.limits)
    text += terminal.paint(Colour::yellow, wrap(fmt::format("less precise: {}", explain(limit)),
                                                terminal.width, 2)) +
            "\n";
  return text;
}

} // namespace tandem
