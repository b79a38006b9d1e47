// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/view.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tandem {
namespace {

std::string region_lock(const ReportSection &section) {
  return section.lock.empty() ? "" : lock_name(section.lock.front());
}

bool comes_before(const ReportSection &left, const ReportSection &right, SortKey key) {
  switch (key) {
  case SortKey::place:
    return false; // the report's order is kept
  case SortKey::name:
    return left.name < right.name;
  case SortKey::klass:
    return left.klass < right.klass;
  case SortKey::lock:
    return region_lock(left) < region_lock(right);
  case SortKey::size:
    return left.reads.size() + left.writes.size() > right.reads.size() + right.writes.size();
  }
  CHECK(false, "sort key {}", static_cast<int>(key));
}

void count(const ReportRegion &region, RegionTotals &totals) {
  ++totals.regions;
  ++(region.kind == "trylock" ? totals.trylock
     : region.kind == "wait"  ? totals.wait
                              : totals.mutex);
  switch (region.shape) {
  case RegionShape::same_function:
    ++totals.same_function;
    break;
  case RegionShape::escapes:
    ++totals.escapes;
    break;
  case RegionShape::not_nested:
    ++totals.not_nested;
    break;
  case RegionShape::flag_guarded:
    ++totals.flag_guarded;
    break;
  }
  if (region.exits > 1)
    ++totals.several_exits;
}

} // namespace

Result<SortKey> parse_sort(std::string_view text) {
  static const std::map<std::string_view, SortKey> kKeys = {{"place", SortKey::place},
                                                            {"name", SortKey::name},
                                                            {"class", SortKey::klass},
                                                            {"lock", SortKey::lock},
                                                            {"size", SortKey::size}};
  const auto found = kKeys.find(text);
  if (found != kKeys.end())
    return found->second;
  return Error{fmt::format("'{}' is no order; use place, name, class, lock or size", text)};
}

Result<std::set<SectionKind>> parse_kinds(std::string_view text) {
  std::set<SectionKind> kinds;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    const std::size_t before = kinds.size();
    for (const SectionKind kind :
         {SectionKind::function, SectionKind::block, SectionKind::lambda, SectionKind::lock_region})
      if (name == to_string(kind))
        kinds.insert(kind);
    if (kinds.size() == before)
      return Error{fmt::format(
          "'{}' is no kind of section; use function, block, lambda or lock-region, once each",
          name)};
    begin = end + 1;
  }
  return kinds;
}

std::vector<const ReportSection *> select_sections(const Report &report, const View &view) {
  std::vector<const ReportSection *> sections;
  for (const ReportSection &section : report.sections)
    if (view.kinds.empty() || view.kinds.contains(section.kind))
      sections.push_back(&section);
  std::sort(sections.begin(), sections.end(),
            [&](const ReportSection *left, const ReportSection *right) {
              if (comes_before(*left, *right, view.sort))
                return true;
              return !comes_before(*right, *left, view.sort) && left < right; // both in one vector
            });
  return sections;
}

std::string lock_name(const ReportRegion &region) {
  return region.names.empty() ? "?" : fmt::format("{}", fmt::join(region.names, ", "));
}

ClassTotals count_classes(const std::vector<const ReportSection *> &sections) {
  ClassTotals totals;
  for (const ReportSection *section : sections)
    ++(section->klass == SectionClass::non_revocable ? totals.non_revocable
       : section->klass == SectionClass::hybrid      ? totals.hybrid
                                                     : totals.pure);
  return totals;
}

RegionTotals count_regions(const std::vector<const ReportSection *> &sections) {
  RegionTotals totals;
  for (const ReportSection *section : sections)
    for (const ReportRegion &region : section->lock)
      count(region, totals);
  return totals;
}

std::vector<std::pair<std::string, RegionTotals>>
count_by_lock(const std::vector<const ReportSection *> &sections) {
  std::map<std::string, RegionTotals> by_name;
  for (const ReportSection *section : sections)
    for (const ReportRegion &region : section->lock)
      count(region, by_name[lock_name(region)]);
  std::vector<std::pair<std::string, RegionTotals>> locks(by_name.begin(), by_name.end());
  std::sort(locks.begin(), locks.end(), [](const auto &left, const auto &right) {
    return std::tie(right.second.regions, left.first) < std::tie(left.second.regions, right.first);
  });
  return locks;
}

} // namespace tandem
