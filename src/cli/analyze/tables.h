// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report as text for people.
#pragma once

#include "cli/analyze/view.h"
#include "cli/common/terminal.h"
#include "cli/findings/findings.h"

#include <string>
#include <vector>

namespace tandem {

using Sections = std::vector<const ReportSection *>;

// The whole report: the program in one line and its sections as in the LockSTM paper's Figure 9,
// lock regions, locks, colours, findings, totals. `name` is the program's. Where a person is
// watching, long lists are cut, and a line says so.
std::string report_text(const Report &report, const std::string &name,
                        const std::vector<JudgedFinding> &findings, const View &view,
                        const Terminal &terminal);

// Everything about one section; long lists of what it conflicts on only if `view.all`. Error: there
// is none of that name, and the nearest.
Result<std::string> section_text(const Report &report, const std::string &name, const View &view,
                                 const Terminal &terminal);

// "260 lock regions: 244 mutex, 7 trylock, 9 wait; 237 same-function, 23 escape, 0 not nested; 35
// with more than one exit".
std::string region_line(const RegionTotals &totals);
// "23 non-revocable, 13 hybrid, 3 pure".
std::string class_line(const ClassTotals &totals);

// "items.c:74"; the file alone where the line is not known.
std::string place_of(const std::string &file, std::uint32_t line);
// "printf, 2 more"; empty where the section reaches none.
std::string irrevocable_cell(const ReportSection &section);
// "A, E, F"; more than `most` (0: no limit) give "A, E, 14 more".
std::string joined(const std::vector<std::string> &names, std::size_t most = 0);

// The parts of report_text() that are not tables of sections: the program, colours, and what is
// known about the analysis. Each ends with a newline, or is empty.
std::string program_text(const Report &report, const std::string &name,
                         const std::vector<JudgedFinding> &findings, const Terminal &terminal);
// The acquisitions of locks that the report has no whole region for, with the reasons.
std::string missed_text(const Report &report, const View &view, const Terminal &terminal);
std::string colours_text(const Report &report, const View &view, const Terminal &terminal);
std::string totals_text(const Report &report, const std::vector<JudgedFinding> &findings,
                        const View &view, const Terminal &terminal);

// How many of `count` rows are shown, and the line that says how many are not ("" if none).
std::size_t shown_rows(std::size_t count, std::size_t most, const View &view,
                       const Terminal &terminal);
std::string hidden_line(std::size_t hidden, const Terminal &terminal);

} // namespace tandem
