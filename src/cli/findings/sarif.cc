// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/version.h"
#include "cli/common/program.h"
#include "cli/findings/findings.h"
#include "compiler/report/program_terms.h"
#include "compiler/report/rules.h"

#include <nlohmann/json.hpp>
#include <set>

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

// A path as a URI reference (RFC 3986): relative paths stay relative.
std::string uri(const std::string &path) {
  std::string result = path.starts_with("/") ? "file://" : "";
  for (const char byte : path) {
    const auto code = static_cast<unsigned char>(byte);
    const bool plain = (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') ||
                       (code >= 'a' && code <= 'z') ||
                       std::string_view("-._~/").find(byte) != std::string_view::npos;
    result += plain ? std::string(1, byte) : fmt::format("%{:02X}", code);
  }
  return result;
}

Json artifact(const std::string &file) {
  Json location{{"uri", uri(file)}};
  if (!file.starts_with("/"))
    location["uriBaseId"] = "SRCROOT";
  return location;
}

// A place; SARIF has no way to say that the file is not known but to leave it out.
Json location(const std::string &file, std::uint32_t line) {
  Json json = Json::object();
  if (file.empty())
    return json;
  json["physicalLocation"]["artifactLocation"] = artifact(file);
  if (line > 0)
    json["physicalLocation"]["region"] = Json{{"startLine", line}};
  return json;
}

Json note_location(const ReportNote &note, std::size_t number) {
  Json json = location(note.file, note.line);
  json["id"] = number;
  json["message"] = Json{{"text", note.message}};
  return json;
}

Json code_flow(const ReportFinding &finding) {
  Json steps = Json::array();
  for (const ReportNote &note : finding.notes) {
    Json place = location(note.file, note.line);
    place["message"] = Json{{"text", note.message}};
    steps.push_back(Json{{"location", place}});
  }
  return Json{{"threadFlows", Json::array({Json{{"locations", steps}}})}};
}

// What stays the same when lines move.
std::uint64_t fingerprint(const ReportFinding &finding) {
  std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a, 64 bits
  for (const std::string *text :
       {&finding.rule, &finding.file, &finding.function, &finding.section, &finding.message}) {
    for (const char byte : *text + '\0')
      hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return hash;
}

Json rule_json(std::string_view name) {
  const Rule *rule = find_rule(name);
  if (rule == nullptr)
    return Json{{"id", name}};
  return Json{{"id", rule->name},
              {"shortDescription", {{"text", std::string(rule->title)}}},
              {"fullDescription", {{"text", std::string(rule->help)}}},
              {"help", {{"text", std::string(rule->help)}}},
              {"defaultConfiguration", {{"level", to_string(rule->level)}}}};
}

Json result_json(const JudgedFinding &judged, const std::vector<std::string> &names) {
  const ReportFinding &finding = judged.finding;
  const Rule *rule = find_rule(finding.rule);
  Json json{{"ruleId", finding.rule},
            {"ruleIndex", std::find(names.begin(), names.end(), finding.rule) - names.begin()},
            {"level", to_string(rule == nullptr ? RuleLevel::warning : rule->level)},
            {"message", {{"text", finding.message}}}};
  Json place = location(finding.file, finding.line);
  if (!finding.function.empty())
    place["logicalLocations"] = Json::array(
        {Json{{"fullyQualifiedName", in_program_terms(finding.function)}, {"kind", "function"}}});
  json["locations"] = place.empty() ? Json::array() : Json::array({place});
  Json related = Json::array();
  for (const ReportNote &note : finding.notes)
    related.push_back(note_location(note, related.size() + 1));
  if (!related.empty())
    json["relatedLocations"] = related;
  if (rule != nullptr && rule->path && !finding.notes.empty())
    json["codeFlows"] = Json::array({code_flow(finding)});
  json["partialFingerprints"] = Json{{"tandem/v1", fmt::format("{:016x}", fingerprint(finding))}};
  // A result without `suppressions` in a log where others have some was not looked at.
  json["suppressions"] = Json::array();
  if (judged.suppression) {
    Json suppression{{"kind", judged.suppression->in_source ? "inSource" : "external"}};
    if (!judged.suppression->reason.empty())
      suppression["justification"] = judged.suppression->reason;
    json["suppressions"].push_back(suppression);
  }
  return json;
}

// The known rules, then those that only this report has.
std::vector<std::string> rule_names(const std::vector<JudgedFinding> &findings) {
  std::vector<std::string> names;
  for (const Rule &rule : rules())
    names.emplace_back(rule.name);
  std::set<std::string> others;
  for (const JudgedFinding &judged : findings)
    if (find_rule(judged.finding.rule) == nullptr)
      others.insert(judged.finding.rule);
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

} // namespace

std::string to_sarif(const std::vector<JudgedFinding> &findings) {
  const std::vector<std::string> names = rule_names(findings);
  Json described = Json::array();
  for (const std::string &name : names)
    described.push_back(rule_json(name));
  Json results = Json::array();
  for (const JudgedFinding &judged : findings)
    results.push_back(result_json(judged, names));
  Json driver{{"name", "tandem"}, {"semanticVersion", version()}, {"rules", described}};
  Json run{{"tool", {{"driver", driver}}},
           {"originalUriBaseIds",
            {{"SRCROOT", {{"description", {{"text", "where the compilers ran"}}}}}}},
           {"columnKind", "utf16CodeUnits"},
           {"results", results}};
  const Json log{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", Json::array({run})}};
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace tandem
