// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// irrevocable-in-section: a section may do what cannot be undone. One finding for each callee of a
// marked section; one for each lock region, since it is a region's author's right to do so, and
// the finding only says what its conversion would meet.
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/report/program_terms.h"

#include <fmt/format.h>

#include <set>

namespace tandem {
namespace {

constexpr const char *kRule = "irrevocable-in-section";

// Where the section takes its first step to the callee.
Place begin_of(const Section &section, const ReportIrrevocable &irrevocable) {
  if (irrevocable.places.empty())
    return {section.file, section.line};
  return parse_place(irrevocable.places.front());
}

// The steps after the first; not those inside the C++ library.
void add_steps(const ReportIrrevocable &irrevocable, Findings::reference finding) {
  for (std::size_t i = 1; i < irrevocable.places.size() && i + 1 < irrevocable.chain.size(); ++i)
    if (!is_of_cxx_library(irrevocable.chain[i]) && !irrevocable.places[i].starts_with("?"))
      finding.notes.push_back(
          note_at(parse_place(irrevocable.places[i]),
                  fmt::format("'{}' calls '{}' here", in_program_terms(irrevocable.chain[i]),
                              in_program_terms(irrevocable.chain[i + 1]))));
}

void report_call(const Section &section, const ReportIrrevocable &irrevocable, Findings &findings) {
  ReportFinding finding = finding_at(
      kRule, begin_of(section, irrevocable),
      fmt::format("'{}' cannot be undone and is called in atomic section '{}'{}: the section {}",
                  in_program_terms(irrevocable.callee), section.name,
                  irrevocable.cold ? " (on a cold path)" : "",
                  irrevocable.cold ? "starts again, alone, when it gets there"
                                   : "keeps all sections that conflict with it waiting"));
  finding.section = section.name;
  add_steps(irrevocable, finding);
  findings.push_back(std::move(finding));
}

std::string listed(const std::vector<ReportIrrevocable> &irrevocable, bool cold) {
  std::string names;
  std::set<std::string> listed;
  for (const ReportIrrevocable &each : irrevocable)
    if (const std::string name = in_program_terms(each.callee);
        each.cold == cold && listed.insert(name).second)
      names += (names.empty() ? "'" : ", '") + name + "'";
  return names;
}

// What ends the program, or reports to it that a lock could not be had: every guard leads there,
// and no section is slower for it.
bool only_ends(const ReportIrrevocable &irrevocable) {
  constexpr llvm::StringRef kEnds[] = {"__cxa_begin_catch",
                                       "__cxa_call_terminate",
                                       "std::terminate()",
                                       "abort",
                                       "std::__throw_system_error(int)",
                                       "__cxa_pure_virtual"};
  return irrevocable.cold && llvm::is_contained(kEnds, irrevocable.callee);
}

void report_region(const Section &section, const SectionEffects &effects, Findings &findings) {
  const std::string hot = listed(effects.irrevocable, false);
  const std::string cold = listed(effects.irrevocable, true);
  std::string what = hot.empty() ? cold + " (on a cold path)" : hot;
  if (!hot.empty() && !cold.empty())
    what += " and (on a cold path) " + cold;
  // The chain to the first of those that matter most; the report has the others.
  const ReportIrrevocable *shown = &effects.irrevocable.front();
  for (const ReportIrrevocable &each : effects.irrevocable)
    if (shown->cold && !each.cold)
      shown = &each;
  ReportFinding finding =
      finding_at(kRule, begin_of(section, *shown),
                 fmt::format("lock region '{}' of '{}' calls what cannot be undone: {}",
                             section.name, section.entry.locks.front(), what));
  finding.section = section.name;
  add_steps(*shown, finding);
  findings.push_back(std::move(finding));
}

} // namespace

void find_irrevocable_calls(const AnalysisView &view, Findings &findings) {
  for (std::size_t i = 0; i < view.sections.size(); ++i) {
    const Section &section = view.sections[i];
    if (section.kind != SectionKind::lock_region)
      for (const ReportIrrevocable &irrevocable : view.effects[i].irrevocable)
        report_call(section, irrevocable, findings);
    else if (!llvm::all_of(view.effects[i].irrevocable, only_ends))
      report_region(section, view.effects[i], findings);
  }
}

} // namespace tandem
