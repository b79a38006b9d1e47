// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/json.h"
#include "compiler/report/json_reader.h"
#include "compiler/report/report.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tandem {
namespace {

constexpr std::array kKinds{SectionKind::function, SectionKind::block, SectionKind::lambda,
                            SectionKind::lock_region};
constexpr std::array kClasses{SectionClass::non_revocable, SectionClass::hybrid,
                              SectionClass::pure};
constexpr std::array kIrrevocableAt{IrrevocableAt::never, IrrevocableAt::begin,
                                    IrrevocableAt::reach};
constexpr std::array kModes{LockMode::exclusive, LockMode::shared};
constexpr std::array kShapes{RegionShape::same_function, RegionShape::escapes,
                             RegionShape::not_nested, RegionShape::flag_guarded};

constexpr std::array kLimits{AnalysisLimit::inclusion, AnalysisLimit::contexts,
                             AnalysisLimit::callers};

std::uint32_t read_u32(const JsonReader &reader) {
  return static_cast<std::uint32_t>(reader.count(std::numeric_limits<std::uint32_t>::max()));
}

ReportRegion read_region(const JsonReader &reader) {
  ReportRegion region;
  region.names = reader.field("names").texts();
  const JsonReader kind = reader.field("kind");
  region.kind = kind.text();
  if (region.kind != "mutex" && region.kind != "trylock" && region.kind != "wait")
    kind.fail(fmt::format("'{}' is none of mutex, trylock, wait", region.kind));
  if (reader.has("primitive"))
    region.primitive = reader.field("primitive").text();
  if (reader.has("field"))
    region.field = reader.field("field").text();
  region.shared = reader.truth_or_false("shared");
  region.exits = read_u32(reader.field("exits"));
  region.shape = reader.field("shape").one_of(kShapes);
  return region;
}

ReportIrrevocable read_irrevocable(const JsonReader &reader) {
  ReportIrrevocable call{reader.field("callee").text(), reader.field("chain").texts(),
                         reader.texts_or_none("places"), reader.truth_or_false("cold")};
  if (!call.places.empty() && call.places.size() + 1 != call.chain.size())
    reader.field("places").fail(fmt::format("must have one element less than the chain: {}, not {}",
                                            std::max<std::size_t>(call.chain.size(), 1) - 1,
                                            call.places.size()));
  return call;
}

ReportAccess read_access(const JsonReader &reader) {
  return {reader.field("location").text(), reader.field("writes").truth(),
          reader.field("function").text(), reader.field("file").text(),
          read_u32(reader.field("line"))};
}

// Equal lists become one.
using NameLists = std::map<std::vector<std::string>, SharedNames>;

SharedNames shared_names(std::vector<std::string> names, NameLists &lists) {
  const auto [known, fresh] = lists.try_emplace(std::move(names));
  if (fresh)
    known->second = known->first;
  return known->second;
}

ReportSection read_section(const JsonReader &reader, NameLists &lists) {
  ReportSection section;
  section.name = reader.field("name").text();
  section.kind = reader.field("kind").one_of(kKinds);
  section.file = reader.field("file").text();
  section.line = read_u32(reader.field("line"));
  section.klass = reader.field("class").one_of(kClasses);
  section.irrevocable_at = reader.field("irrevocable_at").one_of(kIrrevocableAt);
  section.colours = reader.field("colours").texts();
  reader.field("locks").each([&](const JsonReader &lock) {
    section.locks.push_back({lock.field("colour").text(), lock.field("mode").one_of(kModes)});
  });
  section.reads = reader.field("reads").texts();
  section.writes = reader.field("writes").texts();
  reader.field("irrevocable").each([&](const JsonReader &call) {
    section.irrevocable.push_back(read_irrevocable(call));
  });
  reader.field("conflicts").each([&](const JsonReader &conflict) {
    section.conflicts.push_back(
        {conflict.field("with").text(), shared_names(conflict.field("on").texts(), lists)});
  });
  reader.each_if_any("accesses", [&](const JsonReader &access) {
    section.accesses.push_back(read_access(access));
  });
  section.strict = reader.truth_or_false("strict");
  if (section.kind == SectionKind::lock_region)
    section.lock.push_back(read_region(reader.field("lock")));
  else if (reader.has("lock"))
    reader.field("lock").fail("only a lock-region has a lock");
  return section;
}

ReportLockSite read_lock_site(const JsonReader &reader) {
  ReportLockSite site;
  site.operation = reader.field("operation").text();
  site.primitive = reader.field("primitive").text();
  site.lock = reader.field("lock").text();
  site.file = reader.field("file").text();
  site.line = read_u32(reader.field("line"));
  site.function = reader.field("function").text();
  site.sections = reader.field("sections").texts();
  if (reader.has("reason"))
    site.reason = reader.field("reason").text();
  return site;
}

ReportFinding read_finding(const JsonReader &reader) {
  ReportFinding finding{reader.field("rule").text(),
                        reader.field("file").text(),
                        read_u32(reader.field("line")),
                        reader.field("message").text(),
                        {}};
  reader.each_if_any("notes", [&](const JsonReader &note) {
    finding.notes.push_back(
        {note.field("file").text(), read_u32(note.field("line")), note.field("message").text()});
  });
  if (reader.has("function"))
    finding.function = reader.field("function").text();
  if (reader.has("section"))
    finding.section = reader.field("section").text();
  return finding;
}

// What a report from before these lists does not have stays empty.
void read_surroundings(const JsonReader &reader, Report &report) {
  reader.each_if_any("locations", [&](const JsonReader &location) {
    report.locations.push_back({location.field("name").text(), location.field("kind").text(),
                                location.field("file").text(), read_u32(location.field("line")),
                                location.texts_or_none("aliases")});
  });
  reader.each_if_any("threads", [&](const JsonReader &thread) {
    report.threads.push_back({thread.field("function").text(), thread.field("kind").text(),
                              thread.field("many").truth()});
  });
  reader.each_if_any("lock_sites", [&](const JsonReader &site) {
    report.lock_sites.push_back(read_lock_site(site));
  });
}

Report read_report(const JsonReader &reader) {
  Report report;
  if (reader.has("output"))
    report.output = reader.field("output").text();
  if (reader.has("enforcement")) {
    report.enforcement.requested = reader.field("enforcement").field("requested").text();
    report.enforcement.used = reader.field("enforcement").field("used").text();
  }
  NameLists lists;
  reader.field("sections").each([&](const JsonReader &section) {
    report.sections.push_back(read_section(section, lists));
  });
  reader.field("colours").each([&](const JsonReader &colour) {
    report.colours.push_back({colour.field("name").text(), colour.field("locations").texts()});
  });
  report.shared = reader.field("shared").texts();
  read_surroundings(reader, report);
  report.externals = reader.field("externals").texts();
  reader.field("findings").each([&](const JsonReader &finding) {
    report.findings.push_back(read_finding(finding));
  });
  if (reader.has("instrumentation")) {
    const JsonReader made = reader.field("instrumentation");
    // The second is what earlier reports of this version call it.
    const auto either = [&](const char *name, const char *earlier) {
      return made.field(made.has(name) ? name : earlier).count();
    };
    report.instrumentation = {made.field("clones").count(),
                              made.field("barriers").count(),
                              made.field("plain").count(),
                              made.field("captured").count(),
                              made.field("unwritten").count(),
                              made.field("merged").count(),
                              made.field("counters").count(),
                              made.field("irrevocable").count(),
                              either("deferred_updates", "additions"),
                              made.field("atomics").count(),
                              either("short_sections", "shorts")};
  }
  const JsonReader analysis = reader.field("analysis");
  report.analysis.mode = analysis.field("mode").text();
  report.analysis.seconds = analysis.field("seconds").amount();
  report.analysis.peak_mib = analysis.field("peak_mib").amount();
  report.analysis.instructions = analysis.field("instructions").count();
  analysis.each_if_any("limits", [&](const JsonReader &limit) {
    report.analysis.limits.push_back(limit.one_of(kLimits));
  });
  return report;
}

using Names = std::set<std::string, std::less<>>;

// The names of all elements of the list `key`; a mistake where one occurs twice.
Names unique_names(const JsonReader &reader, const char *key) {
  Names names;
  reader.field(key).each([&](const JsonReader &element) {
    const JsonReader name = element.field("name");
    if (!names.insert(name.text()).second)
      name.fail(fmt::format("'{}' occurs twice; names are unique", name.text()));
  });
  return names;
}

void expect_name(const JsonReader &name, const Names &names, const char *what) {
  if (!name.failed() && !names.contains(name.text()))
    name.fail(fmt::format("there is no {} '{}'", what, name.text()));
}

void check_names(const JsonReader &reader) {
  const Names sections = unique_names(reader, "sections");
  const Names colours = unique_names(reader, "colours");
  reader.field("sections").each([&](const JsonReader &section) {
    section.field("colours").each(
        [&](const JsonReader &colour) { expect_name(colour, colours, "colour"); });
    section.field("locks").each(
        [&](const JsonReader &lock) { expect_name(lock.field("colour"), colours, "colour"); });
    section.field("conflicts").each([&](const JsonReader &conflict) {
      expect_name(conflict.field("with"), sections, "section");
    });
  });
  reader.each_if_any("lock_sites", [&](const JsonReader &site) {
    site.field("sections").each([&](const JsonReader &name) {
      expect_name(name, sections, "section");
    });
  });
}

} // namespace

Result<Report> report_from_json(std::string_view text, const std::string &place) {
  const Result<nlohmann::json> document = parse_json(text, place);
  if (!document)
    return document.error();
  JsonMistake mistake;
  const JsonReader reader(*document, mistake);
  const std::uint64_t version = reader.field("version").count();
  if (!reader.failed() && version != kReportVersion)
    return Error{fmt::format("{}: version {} cannot be read, only {}: use the tandem that wrote it",
                             place, version, kReportVersion)};
  Report report = read_report(reader);
  check_names(reader);
  if (mistake.message)
    return Error{fmt::format("{}: {}", place, *mistake.message)};
  return report;
}

} // namespace tandem
