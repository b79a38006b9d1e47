// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/rewrite.h"

#include "compiler/rewrite/emit.h"
#include "compiler/rewrite/program.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tandem::rewrite {
namespace {

bool is_marked(const ReportSection &section) {
  return section.kind == SectionKind::function || section.kind == SectionKind::block;
}

// Whether the report's name of a section is one of `function`'s: "f", "file:f", "f_1", "file:f_1".
bool names_function(std::string_view name, const ReportSection &section,
                    const std::string &function) {
  if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos)
    name.remove_prefix(colon + 1);
  if (!name.starts_with(function))
    return false;
  name.remove_prefix(function.size());
  return section.kind == SectionKind::function ? name.empty() : name.starts_with("_");
}

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

// Which section of the report each one of the sources is. What clang makes no code of is not in the
// report; but all that is in the report must be found.
Result<std::map<SectionId, std::size_t>> match(const Program &program, const Report &report) {
  std::map<SectionId, std::size_t> matched;
  std::vector<bool> used(report.sections.size());
  for (const SectionId &id : program.sections()) {
    const Function &function = program.at(id.function);
    const bool block = id.block != kNoBlock;
    const unsigned line = block ? function.blocks[id.block].line : function.line;
    const std::string &file = block ? function.blocks[id.block].file : function.file;
    const bool again = matched.contains(id);
    for (std::size_t i = 0; i < report.sections.size() && !again; ++i) {
      const ReportSection &section = report.sections[i];
      if (used[i] || !is_marked(section) || (section.kind == SectionKind::block) != block ||
          section.line != line || base_name(section.file) != base_name(file) ||
          !names_function(section.name, section, function.name))
        continue;
      used[i] = true;
      matched.emplace(id, i);
      break;
    }
  }
  for (std::size_t i = 0; i < report.sections.size(); ++i)
    if (is_marked(report.sections[i]) && !used[i])
      return Error{fmt::format("{}:{}: the section '{}' is not written in any of the sources: name "
                               "its file too",
                               report.sections[i].file, report.sections[i].line,
                               report.sections[i].name)};
  return matched;
}

class Rewriter {
public:
  Rewriter(const Program &program, const Report &report, const Catalogue &catalogue, Mode mode,
           std::map<SectionId, std::size_t> matched)
      : program_(program), report_(report), catalogue_(catalogue), mode_(mode),
        matched_(std::move(matched)) {}

  Result<Rewriting> run() {
    if (Status cancels = check_cancels(); !cancels)
      return cancels.error();
    decide();
    if (mode_ == Mode::stm)
      if (Status revocable = check_revocable(); !revocable)
        return revocable.error();
    Decisions decisions;
    decisions.mode = mode_;
    for (const SectionId &id : program_.sections())
      decisions.guards[id] = guard_of(id);
    auto contexts = contexts_of(
        program_, [&](const SectionId &id) { return !decisions.guards.at(id).empty(); });
    if (!contexts)
      return contexts.error();
    decisions.contexts = std::move(*contexts);
    for (const SectionId &id : program_.sections())
      if (decisions.guards.at(id).transaction)
        add(needs_.at(id), decisions.needs);
    Rewriting result;
    result.mode = mode_;
    result.texts = emit(program_, decisions);
    describe(decisions, result);
    return result;
  }

private:
  // Refusals first: classes and locks follow from them.
  void decide() {
    refused_.assign(report_.sections.size(), false);
    for (const SectionId &id : program_.sections()) {
      needs_.emplace(id, needs_of(program_, catalogue_, id));
      if (const auto found = matched_.find(id); found != matched_.end())
        refused_[found->second] = needs_.at(id).refusal.has_value() && mode_ != Mode::locks;
    }
    planned_ = plan(report_, refused_, mode_);
  }

  Guard guard_of(const SectionId &id) const {
    const auto found = matched_.find(id);
    return found == matched_.end() ? Guard{} : planned_[found->second].guard;
  }

  Status check_cancels() const {
    for (const FunctionId id : program_.functions())
      for (const Call &call : program_.at(id).calls)
        if (call.name == "tandem_cancel" || call.name == "tandem_cancel_all")
          return Error{fmt::format("{}: '{}' is not rewritten: gcc cancels by a statement in the "
                                   "transaction's own text; keep tandem-cc for this program",
                                   call.place, call.name)};
    return tandem::Unit{};
  }

  Status check_revocable() const {
    for (const SectionId &id : program_.sections()) {
      const auto found = matched_.find(id);
      if (found == matched_.end() || planned_[found->second].klass != SectionClass::non_revocable)
        continue;
      const ReportSection &section = report_.sections[found->second];
      const std::string why = !section.irrevocable.empty()
                                  ? fmt::format("it may call '{}'", section.irrevocable[0].callee)
                                  : needs_.at(id).refusal->reason();
      return Error{fmt::format("{}:{}: the section '{}' cannot be a transaction: {}; use "
                               "--mode hybrid",
                               section.file, section.line, section.name, why)};
    }
    return tandem::Unit{};
  }

  static void add(const Needs &more, Needs &all) {
    all.pure.insert(more.pure.begin(), more.pure.end());
    all.runs.insert(more.runs.begin(), more.runs.end());
    all.across.insert(more.across.begin(), more.across.end());
  }

  void describe(const Decisions &decisions, Rewriting &result) const {
    std::map<std::size_t, SectionId> by_report;
    for (const auto &[id, index] : matched_)
      by_report.emplace(index, id);
    for (const auto &[index, id] : by_report) {
      const ReportSection &section = report_.sections[index];
      RewrittenSection described{.name = section.name,
                                 .kind = section.kind,
                                 .file = section.file,
                                 .line = section.line,
                                 .analysed = section.klass,
                                 .klass = planned_[index].klass,
                                 .guard = planned_[index].guard,
                                 .nested_only = is_nested_only(id, decisions),
                                 .refusal = {}};
      if (refused_[index] && section.irrevocable.empty())
        described.refusal = needs_.at(id).refusal;
      if (described.nested_only)
        described.guard = {};
      for (const ReportConflict &conflict : section.conflicts)
        for (const ReportSection &other : report_.sections)
          if (other.name == conflict.with && !is_marked(other))
            result.unordered.emplace_back(section.name, other.name);
      if (std::find(section.colours.begin(), section.colours.end(), kProcessColour) !=
          section.colours.end())
        result.outside.push_back(section.name);
      result.sections.push_back(std::move(described));
    }
  }

  bool is_nested_only(const SectionId &id, const Decisions &decisions) const {
    return program_.nested(id) || decisions.contexts.at(id.function).bare();
  }

  const Program &program_;
  const Report &report_;
  const Catalogue &catalogue_;
  Mode mode_;
  std::map<SectionId, std::size_t> matched_;
  std::map<SectionId, Needs> needs_;
  std::vector<bool> refused_; // by the report's number
  std::vector<PlannedSection> planned_;
};

} // namespace

Result<Rewriting> rewrite(const RewriteRequest &request, const Report &report,
                          const Catalogue &catalogue) {
  std::vector<Source> sources;
  for (const ParseRequest &one : request.sources) {
    Result<Source> source = parse_source(one);
    if (!source)
      return source.error();
    sources.push_back(std::move(*source));
  }
  const Program program(std::move(sources));
  auto matched = match(program, report);
  if (!matched)
    return matched.error();
  return Rewriter(program, report, catalogue, request.mode, std::move(*matched)).run();
}

std::string to_json(const Rewriting &rewriting, const std::vector<std::string> &sources) {
  using nlohmann::ordered_json;
  ordered_json document{{"version", 1}, {"mode", to_string(rewriting.mode)}, {"sources", sources}};
  document["sections"] = ordered_json::array();
  for (const RewrittenSection &section : rewriting.sections) {
    ordered_json one{{"name", section.name},
                     {"kind", to_string(section.kind)},
                     {"file", section.file},
                     {"line", section.line},
                     {"analysed", to_string(section.analysed)},
                     {"class", to_string(section.klass)},
                     {"transaction", section.guard.transaction},
                     {"nested_only", section.nested_only}};
    one["locks"] = ordered_json::array();
    for (const ReportLock &lock : section.guard.locks)
      one["locks"].push_back({{"colour", lock.colour}, {"mode", to_string(lock.mode)}});
    if (section.refusal)
      one["refused"] = {{"what", section.refusal->what},
                        {"place", section.refusal->place},
                        {"chain", section.refusal->chain}};
    document["sections"].push_back(std::move(one));
  }
  document["beside_lock_regions"] = ordered_json::array();
  for (const auto &[section, region] : rewriting.unordered)
    document["beside_lock_regions"].push_back({{"section", section}, {"region", region}});
  document["beside_other_outputs"] = rewriting.outside;
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace tandem::rewrite
