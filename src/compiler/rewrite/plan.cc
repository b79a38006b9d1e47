// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/plan.h"

#include <algorithm>
#include <map>
#include <set>

namespace tandem::rewrite {
namespace {

bool rewritten(const ReportSection &section) {
  return section.kind == SectionKind::function || section.kind == SectionKind::block;
}

bool conflict(const ReportSection &a, const ReportSection &b) {
  return std::any_of(a.conflicts.begin(), a.conflicts.end(),
                     [&](const ReportConflict &one) { return one.with == b.name; });
}

// The colours of the sections that are rewritten, as indices of sections. Lock regions keep their
// own locks, so a colour that a section has with them alone excludes nothing.
std::map<std::string, std::vector<std::size_t>> colours_of(const Report &report) {
  std::map<std::string, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < report.sections.size(); ++i)
    if (rewritten(report.sections[i]))
      for (const std::string &colour : report.sections[i].colours)
        if (colour != kProcessColour) // no lock of C that all outputs of a process would have
          members[colour].push_back(i);
  const auto excludes = [&](const std::vector<std::size_t> &all) {
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t b = a + 1; b < all.size(); ++b)
        if (conflict(report.sections[all[a]], report.sections[all[b]]))
          return true;
    return false;
  };
  std::set<std::size_t> covered;
  std::map<std::string, std::vector<std::size_t>> kept;
  for (auto &[colour, all] : members)
    if (excludes(all)) {
      covered.insert(all.begin(), all.end());
      kept.emplace(colour, all);
    }
  for (auto &[colour, all] : members)
    for (const std::size_t i : all)
      if (!kept.contains(colour) && conflict(report.sections[i], report.sections[i]) &&
          covered.insert(i).second)
        kept[colour] = {i};
  return kept;
}

} // namespace

std::string_view to_string(Mode mode) {
  switch (mode) {
  case Mode::locks:
    return "locks";
  case Mode::hybrid:
    return "hybrid";
  case Mode::stm:
    return "stm";
  }
  CHECK(false, "mode {}", static_cast<int>(mode));
}

Result<Mode> parse_mode(const std::string &name) {
  for (const Mode mode : {Mode::locks, Mode::hybrid, Mode::stm})
    if (name == to_string(mode))
      return mode;
  return Error{"must be locks, hybrid or stm"};
}

bool before(const std::string &colour, const std::string &other) {
  return colour.size() != other.size() ? colour.size() < other.size() : colour < other;
}

std::vector<PlannedSection> plan(const Report &report, const std::vector<bool> &refused,
                                 Mode mode) {
  CHECK(refused.size() == report.sections.size());
  std::vector<PlannedSection> planned(report.sections.size());
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const ReportSection &section = report.sections[i];
    const bool non_revocable = refused[i] || section.klass == SectionClass::non_revocable;
    planned[i].klass = non_revocable ? SectionClass::non_revocable : SectionClass::pure;
    planned[i].guard.transaction = rewritten(section) && mode != Mode::locks && !non_revocable;
  }
  const auto is_non_revocable = [&](std::size_t i) {
    return planned[i].klass == SectionClass::non_revocable;
  };
  for (const auto &[colour, members] : colours_of(report)) {
    const bool needed = std::any_of(members.begin(), members.end(), is_non_revocable);
    for (const std::size_t i : members) {
      if (needed && !is_non_revocable(i))
        planned[i].klass = SectionClass::hybrid;
      if (mode == Mode::locks)
        planned[i].guard.locks.push_back({colour, LockMode::exclusive});
      else if (needed) // else nobody would ever hold it alone
        planned[i].guard.locks.push_back(
            {colour, is_non_revocable(i) ? LockMode::exclusive : LockMode::shared});
    }
  }
  for (PlannedSection &section : planned)
    std::sort(section.guard.locks.begin(), section.guard.locks.end(),
              [](const ReportLock &a, const ReportLock &b) { return before(a.colour, b.colour); });
  return planned;
}

} // namespace tandem::rewrite
