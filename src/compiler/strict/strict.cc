// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/strict/strict.h"

#include "compiler/report/program_terms.h"

#include <charconv>

namespace tandem {
namespace {

constexpr const char *kRule = "strict-atomicity";

std::string message_of(const ReportSection &section, const ReportIrrevocable &action) {
  return fmt::format("strict atomic section '{}' reaches '{}'", section.name,
                     in_program_terms(action.callee));
}

// `place` is "file:line"; without a line number, all of it is the file.
ReportNote note_at(const std::string &place, std::string message) {
  ReportNote note{place, 0, std::move(message)};
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos)
    return note;
  const char *end = place.data() + place.size();
  std::uint32_t line = 0;
  const auto [rest, error] = std::from_chars(place.data() + colon + 1, end, line);
  if (error == std::errc{} && rest == end) {
    note.line = line;
    note.file.resize(colon);
  }
  return note;
}

} // namespace

std::vector<ReportFinding> strict_violations(const Report &report) {
  std::vector<ReportFinding> violations;
  for (const ReportSection &section : report.sections) {
    if (!section.strict)
      continue;
    for (const ReportIrrevocable &named : section.irrevocable) {
      const ReportIrrevocable action = in_program_terms(named);
      ReportFinding finding{kRule, section.file, section.line, message_of(section, action), {}};
      for (std::size_t i = 0; i + 1 < action.chain.size() && i < action.places.size(); ++i)
        finding.notes.push_back(
            note_at(action.places[i],
                    fmt::format("'{}' calls '{}'", action.chain[i], action.chain[i + 1])));
      finding.section = section.name;
      violations.push_back(std::move(finding));
    }
  }
  return violations;
}

std::vector<std::string> strict_errors(const Report &report) {
  std::vector<std::string> lines;
  for (const ReportSection &section : report.sections) {
    if (!section.strict)
      continue;
    const std::string place =
        section.line == 0 ? section.file : fmt::format("{}:{}", section.file, section.line);
    for (const ReportIrrevocable &action : section.irrevocable)
      lines.push_back(fmt::format("{}{}error: {}: {}", place, place.empty() ? "" : ": ",
                                  message_of(section, action),
                                  print_chain(in_program_terms(action), " → ")));
  }
  return lines;
}

} // namespace tandem
