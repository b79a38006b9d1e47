// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/graph/graph.h"
#include "cli/page/page.h"
#include "compiler/report/coverage.h"
#include "compiler/report/program_terms.h"
#include "compiler/report/rules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

// Lines shown around a place, and the longest section that is shown as a whole.
constexpr std::uint32_t kAround = 2;
constexpr std::uint32_t kMostLines = 250;
constexpr std::uint32_t kUnknownEnd = 12; // lines shown of a section whose end is not known

// Texts, each stored once; everything else names them by number.
class Names {
public:
  std::size_t number(const std::string &name) {
    const auto [found, fresh] = numbers_.emplace(name, names_.size());
    if (fresh)
      names_.push_back(name);
    return found->second;
  }
  Json numbers(const std::vector<std::string> &names) {
    Json list = Json::array();
    for (const std::string &name : names)
      list.push_back(number(name));
    return list;
  }
  [[nodiscard]] const Json &list() const { return names_; }

private:
  std::unordered_map<std::string, std::size_t> numbers_;
  Json names_ = Json::array();
};

// The source lines that the page shows.
class Excerpts {
public:
  explicit Excerpts(SourceFiles &sources) : sources_(sources) {}

  void add(const std::string &file, std::uint32_t first, std::uint32_t last) {
    if (file.empty() || first == 0)
      return;
    const std::vector<std::string> &lines = sources_.lines(file);
    last = std::min(last, static_cast<std::uint32_t>(lines.size()));
    for (std::uint32_t line = first; line <= last; ++line)
      wanted_[file].insert(line);
  }
  void around(const std::string &file, std::uint32_t line) {
    add(file, line > kAround ? line - kAround : std::min(line, 1U), line + kAround);
  }
  void around(const std::string &place) { // "file:line"
    const std::size_t colon = place.rfind(':');
    if (colon == std::string::npos || place.size() - colon > 10 ||
        place.find_first_not_of("0123456789", colon + 1) != std::string::npos ||
        colon + 1 == place.size())
      return;
    around(place.substr(0, colon), static_cast<std::uint32_t>(std::stoul(place.substr(colon + 1))));
  }

  // The line where what begins at `first` ends: its closing brace; 0 where there is none.
  std::uint32_t brace_end(const std::string &file, std::uint32_t first) {
    const std::vector<std::string> &lines = sources_.lines(file);
    int depth = 0;
    for (std::uint32_t line = first; line >= 1 && line <= lines.size() && line < first + kMostLines;
         ++line)
      for (const char byte : lines[line - 1]) {
        depth += byte == '{' ? 1 : byte == '}' ? -1 : 0;
        if (byte == '}' && depth <= 0)
          return line;
      }
    return 0;
  }

  // Runs of lines: {"a.c": [[first, "text", "text"], ...]}.
  Json json() {
    Json files = Json::object();
    for (const auto &[file, wanted] : wanted_) {
      Json runs = Json::array();
      std::uint32_t last = 0;
      for (const std::uint32_t line : wanted) {
        if (runs.empty() || line != last + 1)
          runs.push_back(Json::array({line}));
        runs.back().push_back(sources_.lines(file)[line - 1]);
        last = line;
      }
      files[file] = std::move(runs);
    }
    return files;
  }

private:
  SourceFiles &sources_;
  std::map<std::string, std::set<std::uint32_t>> wanted_;
};

class Data {
public:
  Data(const Report &report, const std::vector<JudgedFinding> &findings, SourceFiles &sources)
      : report_(report), findings_(findings), excerpts_(sources) {}

  Json json(const std::string &name) {
    Json data{{"name", name},
              {"requested", report_.enforcement.requested},
              {"used", report_.enforcement.used},
              {"analysis",
               {{"mode", report_.analysis.mode},
                {"seconds", report_.analysis.seconds},
                {"peak_mib", report_.analysis.peak_mib},
                {"instructions", report_.analysis.instructions}}}};
    data["limits"] = Json::array();
    for (const AnalysisLimit limit : report_.analysis.limits)
      data["limits"].push_back(explain(limit));
    find_ends();
    data["sections"] = Json::array();
    for (const ReportSection &section : report_.sections)
      data["sections"].push_back(section_json(section));
    data["conflicts"] = conflicts_json();
    data["colours"] = Json::array();
    for (const ReportColour &colour : report_.colours)
      data["colours"].push_back(
          Json{{"name", colour.name}, {"locations", names_.numbers(colour.locations)}});
    data["shared"] = names_.numbers(report_.shared);
    data["externals"] = in_program_terms(report_.externals);
    add_surroundings(data);
    data["findings"] = findings_json();
    data["rules"] = Json::object();
    for (const Rule &rule : rules())
      data["rules"][std::string(rule.name)] =
          Json{{"title", rule.title}, {"help", rule.help}, {"level", to_string(rule.level)}};
    data["layouts"] = layouts_json();
    data["files"] = excerpts_.json();
    data["sets"] = sets_;
    data["names"] = names_.list();
    return data;
  }

private:
  // The last line of each section that a lock site ends, in the section's own file.
  void find_ends() {
    std::unordered_map<std::string_view, const ReportSection *> sections;
    for (const ReportSection &section : report_.sections)
      sections.emplace(section.name, &section);
    for (const ReportLockSite &site : report_.lock_sites)
      for (const std::string &name : site.sections)
        if (const auto found = sections.find(name);
            found != sections.end() && found->second->file == site.file &&
            site.line > found->second->line && site.line < found->second->line + kMostLines)
          ends_[name] = std::max(ends_[name], site.line);
  }

  // 0: the source is not known.
  std::uint32_t end_of(const ReportSection &section) {
    if (section.line == 0)
      return 0;
    if (const auto found = ends_.find(section.name); found != ends_.end())
      return found->second;
    const std::uint32_t end = section.kind == SectionKind::lock_region
                                  ? 0
                                  : excerpts_.brace_end(section.file, section.line);
    return end == 0 ? section.line + kUnknownEnd : end;
  }

  Json section_json(const ReportSection &section) {
    const std::uint32_t end = end_of(section);
    excerpts_.add(section.file, section.line > 2 ? section.line - 2 : section.line, end + 2);
    Json json{{"name", section.name},
              {"kind", to_string(section.kind)},
              {"file", names_.number(section.file)},
              {"line", section.line},
              {"end", end},
              {"class", to_string(section.klass)},
              {"at", to_string(section.irrevocable_at)},
              {"strict", section.strict},
              {"radius", std::round(radius_of(section) * 10) / 10},
              {"colours", section.colours},
              {"reads", names_.numbers(section.reads)},
              {"writes", names_.numbers(section.writes)}};
    json["locks"] = Json::array();
    for (const ReportLock &lock : section.locks)
      json["locks"].push_back(Json::array({lock.colour, to_string(lock.mode)}));
    json["irrevocable"] = Json::array();
    for (const ReportIrrevocable &named : section.irrevocable) {
      const ReportIrrevocable call = in_program_terms(named);
      for (const std::string &place : call.places)
        excerpts_.around(place);
      json["irrevocable"].push_back(Json{{"callee", call.callee},
                                         {"chain", names_.numbers(call.chain)},
                                         {"places", names_.numbers(call.places)},
                                         {"cold", call.cold}});
    }
    json["accesses"] = Json::array();
    for (const ReportAccess &access : section.accesses) {
      excerpts_.around(access.file, access.line);
      json["accesses"].push_back(Json::array({names_.number(access.location), access.writes ? 1 : 0,
                                              names_.number(in_program_terms(access.function)),
                                              names_.number(access.file), access.line}));
    }
    for (const ReportRegion &region : section.lock)
      json["lock"] = Json{{"names", region.names},         {"kind", region.kind},
                          {"primitive", region.primitive}, {"shared", region.shared},
                          {"exits", region.exits},         {"shape", to_string(region.shape)}};
    return json;
  }

  // [section, section, number of the list of locations], each pair once.
  Json conflicts_json() {
    std::map<SharedNames, std::size_t> numbers;
    std::unordered_map<std::string_view, std::size_t> sections;
    for (std::size_t index = 0; index < report_.sections.size(); ++index)
      sections.emplace(report_.sections[index].name, index);
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> pairs;
    for (std::size_t index = 0; index < report_.sections.size(); ++index)
      for (const ReportConflict &conflict : report_.sections[index].conflicts) {
        const auto other = sections.find(conflict.with);
        if (other == sections.end())
          continue;
        const auto [set, fresh] = numbers.emplace(conflict.on, numbers.size());
        if (fresh)
          sets_.push_back(names_.numbers(conflict.on.list()));
        pairs.emplace(std::minmax(index, other->second), set->second);
      }
    Json list = Json::array();
    for (const auto &[pair, set] : pairs)
      list.push_back(Json::array({pair.first, pair.second, set}));
    return list;
  }

  void add_surroundings(Json &data) {
    data["locations"] = Json::array();
    for (const ReportLocation &location : report_.locations) {
      excerpts_.around(location.file, location.line);
      data["locations"].push_back(Json{{"name", names_.number(location.name)},
                                       {"kind", location.kind},
                                       {"file", names_.number(location.file)},
                                       {"line", location.line},
                                       {"aliases", location.aliases}});
    }
    data["threads"] = Json::array();
    for (const ReportThread &thread : report_.threads)
      data["threads"].push_back(Json{{"function", in_program_terms(thread.function)},
                                     {"kind", thread.kind},
                                     {"many", thread.many}});
    data["coverage"] = coverage_text(lock_coverage(report_));
    data["sites"] = Json::array();
    for (const ReportLockSite &site : report_.lock_sites) {
      excerpts_.around(site.file, site.line);
      data["sites"].push_back(Json{{"operation", site.operation},
                                   {"primitive", site.primitive},
                                   {"lock", site.lock},
                                   {"file", names_.number(site.file)},
                                   {"line", site.line},
                                   {"function", in_program_terms(site.function)},
                                   {"sections", site.sections},
                                   {"reason", site.reason}});
    }
  }

  Json findings_json() {
    Json list = Json::array();
    for (const JudgedFinding &judged : findings_) {
      const ReportFinding &finding = judged.finding;
      excerpts_.around(finding.file, finding.line);
      Json notes = Json::array();
      for (const ReportNote &note : finding.notes) {
        excerpts_.around(note.file, note.line);
        notes.push_back(Json::array({names_.number(note.file), note.line, note.message}));
      }
      Json json{{"rule", finding.rule},       {"file", names_.number(finding.file)},
                {"line", finding.line},       {"message", finding.message},
                {"section", finding.section}, {"function", in_program_terms(finding.function)},
                {"notes", std::move(notes)}};
      if (judged.suppression)
        json["suppressed"] =
            Json{{"place", judged.suppression->place}, {"reason", judged.suppression->reason}};
      list.push_back(std::move(json));
    }
    return list;
  }

  Json layouts_json() {
    const std::vector<ConflictEdge> edges = conflict_edges(report_);
    const auto whole = [](double value) { return static_cast<std::int64_t>(std::llround(value)); };
    Json layouts = Json::object();
    for (const Grouping grouping : kGroupings) {
      const GraphLayout layout = lay_out(report_, edges, grouping);
      Json places = Json::array();
      for (const Point &place : layout.places) {
        places.push_back(whole(place.x));
        places.push_back(whole(place.y));
      }
      Json groups = Json::array();
      for (const Group &group : layout.groups)
        groups.push_back(Json{{"name", group.name},
                              {"members", group.members},
                              {"box", Json::array({whole(group.corner.x), whole(group.corner.y),
                                                   whole(group.width), whole(group.height)})}});
      layouts[std::string(to_string(grouping))] = Json{{"width", whole(layout.width)},
                                                       {"height", whole(layout.height)},
                                                       {"beside", layout.labels_beside},
                                                       {"places", std::move(places)},
                                                       {"groups", std::move(groups)}};
    }
    return layouts;
  }

  const Report &report_;
  const std::vector<JudgedFinding> &findings_;
  Excerpts excerpts_;
  Names names_;
  Json sets_ = Json::array();
  std::map<std::string, std::uint32_t, std::less<>> ends_;
};

} // namespace

std::string page_data(const Report &report, const std::vector<JudgedFinding> &findings,
                      SourceFiles &sources, const std::string &name) {
  const std::string text = Data(report, findings, sources)
                               .json(name)
                               .dump(-1, ' ', false, Json::error_handler_t::replace);
  // In HTML, '<' would end the block; in JSON it can only stand in a string.
  std::string safe;
  safe.reserve(text.size());
  for (const char byte : text)
    if (byte == '<')
      safe += "\\u003c";
    else
      safe += byte;
  return safe;
}

} // namespace tandem
