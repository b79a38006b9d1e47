// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/tables.h"

#include "cli/common/table.h"
#include "compiler/report/program_terms.h"

namespace tandem {
namespace {

using Align = Column::Align;

// Rows of each table where a person is watching and did not ask for all.
constexpr std::size_t kSectionRows = 40;
constexpr std::size_t kLockRows = 12;
// Findings that are shown unless all are asked for; one more takes as much room as the line that
// says so.
constexpr std::size_t kFindings = 14;
// Colours named in a cell unless all are asked for: one section may have hundreds.
constexpr std::size_t kColoursInCell = 8;

TableCell mark(bool on, Colour colour) { return on ? TableCell("X", colour) : TableCell(); }

Colour class_colour(SectionClass klass) {
  switch (klass) {
  case SectionClass::non_revocable:
    return Colour::red;
  case SectionClass::hybrid:
    return Colour::yellow;
  case SectionClass::pure:
    return Colour::green;
  }
  CHECK(false, "section class {}", static_cast<int>(klass));
}

TableCell number(std::size_t value) { return {std::to_string(value)}; }

// "" for never: the column is for the sections that become irrevocable.
std::string at_cell(const ReportSection &section) {
  return section.irrevocable_at == IrrevocableAt::never
             ? ""
             : std::string(to_string(section.irrevocable_at));
}

std::string table_part(const Table &table, std::size_t most, const View &view,
                       const Terminal &terminal) {
  const std::size_t shown = shown_rows(table.rows(), most, view, terminal);
  return table.text(terminal, shown) + hidden_line(table.rows() - shown, terminal);
}

std::string sections_part(const Sections &sections, const View &view, const Terminal &terminal) {
  if (sections.empty())
    return "";
  Table table({{.header = "ATOMIC SECTION", .least = 20, .cut = Cut::end},
               {.header = "PLACE", .least = 12, .cut = Cut::start},
               {.header = "KIND"},
               {.header = "COLOURS", .least = 8, .optional = true},
               {.header = "NON-REVOC", .align = Align::centre},
               {.header = "HYBRID", .align = Align::centre},
               {.header = "PURE", .align = Align::centre},
               {.header = "READS", .align = Align::right, .optional = true},
               {.header = "WRITES", .align = Align::right, .optional = true},
               {.header = "AT", .optional = true},
               {.header = "IRREVOCABLE CALLS", .least = 17, .optional = true}});
  for (const ReportSection *section : sections)
    table.add({section->name, place_of(section->file, section->line),
               std::string(to_string(section->kind)),
               joined(section->colours, view.all ? 0 : kColoursInCell),
               mark(section->klass == SectionClass::non_revocable, Colour::red),
               mark(section->klass == SectionClass::hybrid, Colour::yellow),
               mark(section->klass == SectionClass::pure, Colour::green),
               number(section->reads.size()), number(section->writes.size()), at_cell(*section),
               irrevocable_cell(*section)});
  return table_part(table, kSectionRows, view, terminal) +
         wrap(fmt::format("{}: {}", counted(sections.size(), "atomic section", "atomic sections"),
                          class_line(count_classes(sections))),
              terminal.width, 2) +
         "\n";
}

std::string regions_part(const Sections &regions, const View &view, const Terminal &terminal) {
  if (regions.empty())
    return "";
  Table table({{.header = "LOCK REGION", .least = 18, .cut = Cut::end},
               {.header = "PLACE", .least = 12, .cut = Cut::start},
               {.header = "LOCK", .least = 12, .cut = Cut::end},
               {.header = "KIND"},
               {.header = "SHAPE"},
               {.header = "EXITS", .align = Align::right},
               {.header = "CLASS", .optional = true},
               {.header = "COLOURS", .least = 8, .optional = true},
               {.header = "READS", .align = Align::right, .optional = true},
               {.header = "WRITES", .align = Align::right, .optional = true},
               {.header = "AT", .optional = true},
               {.header = "IRREVOCABLE CALLS", .least = 17, .optional = true}});
  for (const ReportSection *section : regions) {
    const ReportRegion &region = section->lock.front();
    const bool usual = region.shape == RegionShape::same_function;
    table.add(
        {section->name, place_of(section->file, section->line), lock_name(region), region.kind,
         TableCell(std::string(to_string(region.shape)), usual ? Colour::plain : Colour::yellow),
         number(region.exits),
         TableCell(std::string(to_string(section->klass)), class_colour(section->klass)),
         joined(section->colours, view.all ? 0 : kColoursInCell), number(section->reads.size()),
         number(section->writes.size()), at_cell(*section), irrevocable_cell(*section)});
  }
  return table_part(table, kSectionRows, view, terminal) +
         wrap(region_line(count_regions(regions)), terminal.width, 2) + "\n" +
         wrap("as sections: " + class_line(count_classes(regions)), terminal.width, 2) + "\n";
}

std::string locks_part(const Sections &regions, const View &view, const Terminal &terminal) {
  const auto locks = count_by_lock(regions);
  if (locks.empty())
    return "";
  Table table({{.header = "LOCK", .least = 12, .cut = Cut::end},
               {.header = "REGIONS", .align = Align::right},
               {.header = "MUTEX", .align = Align::right},
               {.header = "TRYLOCK", .align = Align::right},
               {.header = "WAIT", .align = Align::right},
               {.header = "ESCAPE", .align = Align::right},
               {.header = "NOT NESTED", .align = Align::right}});
  const auto some = [](std::size_t count) { return count == 0 ? TableCell("-") : number(count); };
  for (const auto &[name, totals] : locks)
    table.add({name, number(totals.regions), some(totals.mutex), some(totals.trylock),
               some(totals.wait), some(totals.escapes), some(totals.not_nested)});
  return table_part(table, kLockRows, view, terminal);
}

std::string heading(const Report &report) {
  if (report.output.empty())
    return "";
  std::string text =
      printable(report.output) + ": enforcement " + printable(report.enforcement.used);
  if (report.enforcement.used != report.enforcement.requested)
    text += fmt::format(" ({} is not built yet)", printable(report.enforcement.requested));
  return text + "\n";
}

} // namespace

std::string place_of(const std::string &file, std::uint32_t line) {
  const std::string name = file.empty() ? "?" : file;
  return line == 0 ? name : fmt::format("{}:{}", name, line);
}

std::string joined(const std::vector<std::string> &names, std::size_t most) {
  // "1 more" would take as much room as the name.
  if (most == 0 || names.size() <= most + 1)
    return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format(
      "{}, {} more",
      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most), ", "),
      names.size() - most);
}

std::string irrevocable_cell(const ReportSection &section) {
  std::vector<std::string> callees;
  callees.reserve(section.irrevocable.size());
  for (const ReportIrrevocable &call : section.irrevocable)
    callees.push_back(call.callee);
  return joined(in_program_terms(callees), 1);
}

std::string region_line(const RegionTotals &totals) {
  const std::string guarded =
      totals.flag_guarded == 0 ? "" : fmt::format(", {} guarded by flags", totals.flag_guarded);
  return fmt::format("{}: {} mutex, {} trylock, {} wait; {} same-function, {} escape, {} not "
                     "nested{}; {} with more than one exit",
                     counted(totals.regions, "lock region", "lock regions"), totals.mutex,
                     totals.trylock, totals.wait, totals.same_function, totals.escapes,
                     totals.not_nested, guarded, totals.several_exits);
}

std::string class_line(const ClassTotals &totals) {
  return fmt::format("{} non-revocable, {} hybrid, {} pure", totals.non_revocable, totals.hybrid,
                     totals.pure);
}

std::size_t shown_rows(std::size_t count, std::size_t most, const View &view,
                       const Terminal &terminal) {
  // A line that says "1 more" takes as much room as the row.
  return view.all || !terminal.interactive || count <= most + 1 ? count : most;
}

std::string hidden_line(std::size_t hidden, const Terminal &terminal) {
  if (hidden == 0)
    return "";
  return terminal.paint(Colour::dim, fmt::format("… {} more; --all shows them", hidden)) + "\n";
}

std::string report_text(const Report &report, const std::string &name,
                        const std::vector<JudgedFinding> &findings, const View &view,
                        const Terminal &terminal) {
  Sections marked;
  Sections regions;
  for (const ReportSection *section : select_sections(report, view))
    (section->kind == SectionKind::lock_region ? regions : marked).push_back(section);
  std::string text;
  const auto add = [&](const std::string &part) {
    if (!part.empty())
      text += (text.empty() ? "" : "\n") + part;
  };
  add(heading(report) + program_text(report, name, findings, terminal));
  add(sections_part(marked, view, terminal));
  add(regions_part(regions, view, terminal));
  add(locks_part(regions, view, terminal));
  add(missed_text(report, view, terminal));
  add(colours_text(report, view, terminal));
  const std::size_t most = view.all ? 0 : kFindings;
  add(findings_text(findings, {.suppressed = view.suppressed, .most = most, .doubtful = view.all},
                    terminal));
  if (const std::string rules = findings_by_rule(findings); !rules.empty())
    add(wrap(rules, terminal.width, 2) + "\n");
  if (marked.empty() && regions.empty())
    add(view.kinds.empty() ? "no atomic sections and no lock regions\n"
                           : "no sections of that kind\n");
  add(totals_text(report, findings, view, terminal));
  return text;
}

} // namespace tandem
