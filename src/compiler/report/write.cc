// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace tandem {
namespace {

using Json = nlohmann::ordered_json; // keeps the fields in the order of docs/formats/report.md

template <typename T, typename Convert> Json list(const std::vector<T> &items, Convert convert) {
  Json array = Json::array();
  for (const T &item : items)
    array.push_back(convert(item));
  return array;
}

Json region_json(const ReportRegion &region) {
  Json json{{"names", region.names}, {"kind", region.kind}, {"primitive", region.primitive}};
  if (!region.field.empty())
    json["field"] = region.field;
  if (region.shared)
    json["shared"] = true;
  json["exits"] = region.exits;
  json["shape"] = to_string(region.shape);
  return json;
}

Json irrevocable_json(const ReportIrrevocable &call) {
  CHECK(call.places.empty() || call.places.size() + 1 == call.chain.size(),
        "{} places along a chain of {} to {}", call.places.size(), call.chain.size(), call.callee);
  Json json{{"callee", call.callee}, {"chain", call.chain}};
  if (!call.places.empty())
    json["places"] = call.places;
  if (call.cold)
    json["cold"] = true;
  return json;
}

Json access_json(const ReportAccess &access) {
  return Json{{"location", access.location},
              {"writes", access.writes},
              {"function", access.function},
              {"file", access.file},
              {"line", access.line}};
}

Json section_json(const ReportSection &section) {
  CHECK(section.lock.size() == (section.kind == SectionKind::lock_region ? 1u : 0u),
        "section {} has {} locks", section.name, section.lock.size());
  Json json{{"name", section.name},
            {"kind", to_string(section.kind)},
            {"file", section.file},
            {"line", section.line},
            {"class", to_string(section.klass)},
            {"irrevocable_at", to_string(section.irrevocable_at)},
            {"colours", section.colours}};
  json["locks"] = list(section.locks, [](const ReportLock &lock) {
    return Json{{"colour", lock.colour}, {"mode", to_string(lock.mode)}};
  });
  json["reads"] = section.reads;
  json["writes"] = section.writes;
  json["irrevocable"] = list(section.irrevocable, irrevocable_json);
  json["conflicts"] = list(section.conflicts, [](const ReportConflict &conflict) {
    return Json{{"with", conflict.with}, {"on", conflict.on.list()}};
  });
  if (!section.accesses.empty())
    json["accesses"] = list(section.accesses, access_json);
  if (section.strict)
    json["strict"] = true;
  if (!section.lock.empty())
    json["lock"] = region_json(section.lock.front());
  return json;
}

Json location_json(const ReportLocation &location) {
  Json json{{"name", location.name},
            {"kind", location.kind},
            {"file", location.file},
            {"line", location.line}};
  if (!location.aliases.empty())
    json["aliases"] = location.aliases;
  return json;
}

Json lock_site_json(const ReportLockSite &site) {
  Json json{{"operation", site.operation}, {"primitive", site.primitive},
            {"lock", site.lock},           {"file", site.file},
            {"line", site.line},           {"function", site.function},
            {"sections", site.sections}};
  if (!site.reason.empty())
    json["reason"] = site.reason;
  return json;
}

Json finding_json(const ReportFinding &finding) {
  Json json{{"rule", finding.rule},
            {"file", finding.file},
            {"line", finding.line},
            {"message", finding.message}};
  if (!finding.notes.empty())
    json["notes"] = list(finding.notes, [](const ReportNote &note) {
      return Json{{"file", note.file}, {"line", note.line}, {"message", note.message}};
    });
  if (!finding.function.empty())
    json["function"] = finding.function;
  if (!finding.section.empty())
    json["section"] = finding.section;
  return json;
}

Json analysis_json(const ReportAnalysis &analysis) {
  CHECK(std::isfinite(analysis.seconds) && std::isfinite(analysis.peak_mib));
  Json json{{"mode", analysis.mode},
            {"seconds", analysis.seconds},
            {"peak_mib", analysis.peak_mib},
            {"instructions", analysis.instructions}};
  if (!analysis.limits.empty())
    json["limits"] = list(analysis.limits, [](AnalysisLimit limit) { return to_string(limit); });
  return json;
}

// An object whose lists are written element by element.
class Writer {
public:
  explicit Writer(const std::function<void(std::string_view)> &take) : take_(take) { take_("{"); }

  void field(const char *name, const Json &value) {
    begin(name);
    put(value, "\n  ");
  }
  template <typename T, typename Convert>
  void each(const char *name, const std::vector<T> &items, Convert convert) {
    begin(name);
    const char *before = "[\n    ";
    for (const T &item : items) {
      take_(std::exchange(before, ",\n    "));
      put(convert(item), "\n    ");
    }
    take_(items.empty() ? "[]" : "\n  ]");
  }
  void end() { take_("\n}\n"); }

private:
  void begin(const char *name) {
    take_(std::exchange(separator_, ",\n  "));
    take_(Json(name).dump() + ": ");
  }
  // `line`: what a line of the value begins with.
  void put(const Json &value, std::string_view line) {
    const std::string text = value.dump(2, ' ', false, Json::error_handler_t::replace);
    std::string indented;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      if (begin != 0)
        indented += line;
      indented.append(text, begin, end - begin);
      begin = end + 1;
    }
    take_(indented);
  }

  const std::function<void(std::string_view)> &take_;
  const char *separator_ = "\n  ";
};

} // namespace

void write_json(const Report &report, const std::function<void(std::string_view)> &take) {
  Writer writer(take);
  writer.field("version", kReportVersion);
  writer.field("output", report.output);
  writer.field("enforcement", Json{{"requested", report.enforcement.requested},
                                   {"used", report.enforcement.used}});
  writer.each("sections", report.sections, section_json);
  writer.each("colours", report.colours, [](const ReportColour &colour) {
    return Json{{"name", colour.name}, {"locations", colour.locations}};
  });
  writer.field("shared", report.shared);
  writer.each("locations", report.locations, location_json);
  writer.each("threads", report.threads, [](const ReportThread &thread) {
    return Json{{"function", thread.function}, {"kind", thread.kind}, {"many", thread.many}};
  });
  writer.each("lock_sites", report.lock_sites, lock_site_json);
  writer.field("externals", report.externals);
  writer.each("findings", report.findings, finding_json);
  if (const ReportInstrumentation &made = report.instrumentation; made != ReportInstrumentation{})
    writer.field("instrumentation", Json{{"clones", made.clones},
                                         {"barriers", made.barriers},
                                         {"plain", made.plain},
                                         {"captured", made.captured},
                                         {"unwritten", made.unwritten},
                                         {"merged", made.merged},
                                         {"counters", made.counters},
                                         {"irrevocable", made.irrevocable},
                                         {"deferred_updates", made.deferred_updates},
                                         {"atomics", made.atomics},
                                         {"short_sections", made.short_sections}});
  writer.field("analysis", analysis_json(report.analysis));
  writer.end();
}

std::string to_json(const Report &report) {
  std::string text;
  write_json(report, [&](std::string_view piece) { text += piece; });
  return text;
}

} // namespace tandem
