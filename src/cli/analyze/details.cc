// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/tables.h"

#include "cli/common/suggest.h"
#include "compiler/report/program_terms.h"

#include <algorithm>

namespace tandem {
namespace {

constexpr std::size_t kIndent = 14; // columns before a value
constexpr std::size_t kLocationsOfConflict = 6;
constexpr std::size_t kAccesses = 40;

std::string line(const std::string &label, const std::string &value, const Terminal &terminal) {
  if (value.empty())
    return "";
  // wrap() takes the label's padding for a gap between words, so it goes around it.
  const std::size_t width = terminal.width <= kIndent + 10 ? 0 : terminal.width - kIndent;
  std::string lines = wrap(printable(value), width, 0);
  for (std::size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += kIndent)
    lines.insert(at + 1, kIndent, ' ');
  return fmt::format("{:<{}}{}\n", label + ":", kIndent, lines);
}

std::string accesses_text(const ReportSection &section, const View &view,
                          const Terminal &terminal) {
  const std::size_t count =
      view.all || section.accesses.size() <= kAccesses + 1 ? section.accesses.size() : kAccesses;
  std::string text = count == 0 ? "" : "accesses:\n";
  for (std::size_t index = 0; index < count; ++index) {
    const ReportAccess &access = section.accesses[index];
    text += fmt::format("  {}: {} {} in {}\n", printable(place_of(access.file, access.line)),
                        access.writes ? "writes" : "reads", printable(access.location),
                        printable(in_program_terms(access.function)));
  }
  return text + hidden_line(section.accesses.size() - count, terminal);
}

} // namespace

Result<std::string> section_text(const Report &report, const std::string &name, const View &view,
                                 const Terminal &terminal) {
  std::vector<std::string> names;
  const ReportSection *section = nullptr;
  for (const ReportSection &candidate : report.sections) {
    names.push_back(candidate.name);
    if (candidate.name == name)
      section = &candidate;
  }
  if (section == nullptr) {
    const std::string near = nearest(name, names);
    return Error{fmt::format("there is no section '{}'{}", name,
                             near.empty() ? "" : fmt::format("; did you mean '{}'?", near))};
  }
  std::string text =
      fmt::format("{}: {}: {} {}\n", printable(place_of(section->file, section->line)),
                  terminal.paint(Colour::bold, printable(section->name)), to_string(section->klass),
                  to_string(section->kind));
  for (const ReportRegion &region : section->lock)
    text += line("lock",
                 fmt::format("{} ({}{}, {}, {}, {})", lock_name(region), region.primitive,
                             region.shared ? ", held as a reader" : "", region.kind,
                             to_string(region.shape), counted(region.exits, "exit", "exits")),
                 terminal);
  text += line("colours", joined(section->colours), terminal);
  std::vector<std::string> locks;
  locks.reserve(section->locks.size());
  for (const ReportLock &lock : section->locks)
    locks.push_back(fmt::format("{} {}", lock.colour, to_string(lock.mode)));
  text += line("locks", joined(locks), terminal);
  text += line("reads", joined(section->reads), terminal);
  text += line("writes", joined(section->writes), terminal);
  if (!section->irrevocable.empty())
    text += line("irrevocable",
                 std::string("at ") + std::string(to_string(section->irrevocable_at)), terminal);
  for (const ReportIrrevocable &call : section->irrevocable)
    text += fmt::format("  {}{}\n", printable(print_chain(in_program_terms(call))),
                        call.cold ? ", cold path" : "");
  if (section->strict)
    text += line("strict", "promises to be revocable", terminal);
  if (!section->conflicts.empty())
    text += "conflicts with:\n";
  for (const ReportConflict &conflict : section->conflicts)
    text += fmt::format("  {} on {}\n", printable(conflict.with),
                        printable(joined(conflict.on.list(), view.all ? 0 : kLocationsOfConflict)));
  return text + accesses_text(*section, view, terminal);
}

} // namespace tandem
