// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of a report is shown, and in which order.
#pragma once

#include "compiler/report/report.h"

#include <set>
#include <string>
#include <vector>

namespace tandem {

// place: as in the report, by file and line. klass: non-revocable first. lock: regions by their
// lock. size: the most locations read and written first. Sections that are equal stay by place.
enum class SortKey { place, name, klass, lock, size };

// Error: `'x' is no order; use place, name, class, lock or size`.
Result<SortKey> parse_sort(std::string_view text);
// A list of kinds, separated by commas. Error: `'x' is no kind of section; use function, ...`.
Result<std::set<SectionKind>> parse_kinds(std::string_view text);

struct View {
  std::set<SectionKind> kinds = {}; // empty: all
  SortKey sort = SortKey::place;
  bool all = false;        // cut nothing
  bool suppressed = false; // show findings that are suppressed
};

// The sections of `report` that `view` shows, in its order. They live as long as the report.
std::vector<const ReportSection *> select_sections(const Report &report, const View &view);

// A lock as people name it: "item_locks[]"; "a, b" where the pointer may mean several.
std::string lock_name(const ReportRegion &region);

// How many sections of each class.
struct ClassTotals {
  std::size_t non_revocable = 0;
  std::size_t hybrid = 0;
  std::size_t pure = 0;
};
ClassTotals count_classes(const std::vector<const ReportSection *> &sections);

// How many lock regions of each kind and shape.
struct RegionTotals {
  std::size_t regions = 0;
  std::size_t mutex = 0;
  std::size_t trylock = 0;
  std::size_t wait = 0;
  std::size_t same_function = 0;
  std::size_t escapes = 0;
  std::size_t not_nested = 0;
  std::size_t flag_guarded = 0;
  std::size_t several_exits = 0;
  bool operator==(const RegionTotals &) const = default;
};

// Of the sections that are lock regions.
RegionTotals count_regions(const std::vector<const ReportSection *> &sections);

// The same for each lock: the one with the most regions first, then by name.
std::vector<std::pair<std::string, RegionTotals>>
count_by_lock(const std::vector<const ReportSection *> &sections);

} // namespace tandem
