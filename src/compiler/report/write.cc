// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/report.h"

#include <cmath>
#include <nlohmann/json.hpp>

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
  return Json{{"names", region.names},
              {"kind", region.kind},
              {"exits", region.exits},
              {"shape", to_string(region.shape)}};
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
  json["irrevocable"] = list(section.irrevocable, [](const ReportIrrevocable &call) {
    return Json{{"callee", call.callee}, {"chain", call.chain}};
  });
  json["conflicts"] = list(section.conflicts, [](const ReportConflict &conflict) {
    return Json{{"with", conflict.with}, {"on", conflict.on}};
  });
  if (!section.lock.empty())
    json["lock"] = region_json(section.lock.front());
  return json;
}

Json analysis_json(const ReportAnalysis &analysis) {
  CHECK(std::isfinite(analysis.seconds) && std::isfinite(analysis.peak_mib));
  return Json{{"mode", analysis.mode},
              {"seconds", analysis.seconds},
              {"peak_mib", analysis.peak_mib},
              {"instructions", analysis.instructions}};
}

} // namespace

std::string to_json(const Report &report) {
  Json json{{"version", kReportVersion}, {"output", report.output}};
  json["enforcement"] =
      Json{{"requested", report.enforcement.requested}, {"used", report.enforcement.used}};
  json["sections"] = list(report.sections, section_json);
  json["colours"] = list(report.colours, [](const ReportColour &colour) {
    return Json{{"name", colour.name}, {"locations", colour.locations}};
  });
  json["shared"] = report.shared;
  json["externals"] = report.externals;
  json["findings"] = list(report.findings, [](const ReportFinding &finding) {
    return Json{{"rule", finding.rule},
                {"file", finding.file},
                {"line", finding.line},
                {"message", finding.message}};
  });
  json["analysis"] = analysis_json(report.analysis);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace tandem
