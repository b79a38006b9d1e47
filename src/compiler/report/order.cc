// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/report.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace tandem {
namespace {

template <typename T, typename Key> void sort_unique(std::vector<T> &items, Key key) {
  std::sort(items.begin(), items.end(),
            [&](const T &left, const T &right) { return key(left) < key(right); });
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

// Equal items keep their order. (std::stable_sort of libstdc++ 12 warns that it is deprecated.)
template <typename T, typename Key> void sort_stable(std::vector<T> &items, Key key) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    const auto left_key = key(items[left]);
    const auto right_key = key(items[right]);
    return left_key == right_key ? left < right : left_key < right_key;
  });
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const std::size_t index : order)
    sorted.push_back(std::move(items[index]));
  items = std::move(sorted);
}

void sort_names(std::vector<std::string> &names) {
  sort_unique(names, [](const std::string &name) { return std::string_view(name); });
}

// The process's colour, *, then the order in which colours are handed out, A, ..., Z, AA: shorter
// names first.
struct ColourLess {
  bool operator()(const std::string &left, const std::string &right) const {
    return std::make_tuple(left.size(), std::string_view(left)) <
           std::make_tuple(right.size(), std::string_view(right));
  }
};

void sort_section(ReportSection &section) {
  std::sort(section.colours.begin(), section.colours.end(), ColourLess());
  section.colours.erase(std::unique(section.colours.begin(), section.colours.end()),
                        section.colours.end());
  std::sort(section.locks.begin(), section.locks.end(),
            [](const ReportLock &left, const ReportLock &right) {
              return left.colour == right.colour ? left.mode < right.mode
                                                 : ColourLess()(left.colour, right.colour);
            });
  sort_names(section.reads);
  sort_names(section.writes);
  sort_unique(section.irrevocable, [](const ReportIrrevocable &call) {
    return std::tie(call.callee, call.chain, call.places, call.cold);
  });
  sort_unique(section.accesses, [](const ReportAccess &access) {
    return std::tie(access.location, access.writes, access.file, access.line, access.function);
  });
  for (ReportRegion &region : section.lock)
    sort_names(region.names);
}

void sort_surroundings(Report &report) {
  for (ReportLocation &location : report.locations)
    sort_names(location.aliases);
  sort_unique(report.locations, [](const ReportLocation &location) {
    return std::tie(location.name, location.kind, location.file, location.line, location.aliases);
  });
  sort_unique(report.threads, [](const ReportThread &thread) {
    return std::tie(thread.function, thread.kind, thread.many);
  });
  for (ReportLockSite &site : report.lock_sites)
    sort_names(site.sections);
  // Two equal sites on one line, from a macro, are two sites.
  sort_stable(report.lock_sites, [](const ReportLockSite &site) {
    return std::tie(site.file, site.line, site.function, site.operation, site.lock, site.primitive,
                    site.sections, site.reason);
  });
  // Further places tell a story: they keep their order.
  sort_stable(report.findings, [](const ReportFinding &finding) {
    return std::tie(finding.file, finding.line, finding.rule, finding.message);
  });
  report.findings.erase(std::unique(report.findings.begin(), report.findings.end()),
                        report.findings.end());
}

// As the sections they are with.
void sort_conflicts(std::vector<ReportConflict> &conflicts,
                    const std::map<std::string_view, std::size_t> &positions) {
  std::vector<std::pair<std::size_t, ReportConflict>> placed;
  placed.reserve(conflicts.size());
  for (ReportConflict &conflict : conflicts) {
    const auto found = positions.find(conflict.with);
    placed.emplace_back(found == positions.end() ? positions.size() : found->second,
                        std::move(conflict));
  }
  sort_unique(placed,
              [](const auto &one) { return std::tie(one.first, one.second.with, one.second.on); });
  conflicts.clear();
  for (auto &[position, conflict] : placed)
    conflicts.push_back(std::move(conflict));
}

} // namespace

void sort_report(Report &report) {
  sort_stable(report.sections,
              [](const ReportSection &section) { return std::tie(section.file, section.line); });
  std::map<std::string_view, std::size_t> positions;
  for (const ReportSection &section : report.sections)
    positions.emplace(section.name, positions.size());
  std::map<const std::vector<std::string> *, SharedNames> sorted; // by the list as it was
  std::vector<SharedNames> unsorted;                              // keeps the keys alive
  for (ReportSection &section : report.sections) {
    sort_section(section);
    for (ReportConflict &conflict : section.conflicts) {
      const auto [known, fresh] = sorted.try_emplace(&conflict.on.list(), conflict.on);
      if (fresh) {
        unsorted.push_back(conflict.on);
        std::vector<std::string> names = conflict.on.list();
        sort_names(names);
        known->second = std::move(names);
      }
      conflict.on = known->second;
    }
    sort_conflicts(section.conflicts, positions);
  }
  for (ReportColour &colour : report.colours)
    sort_names(colour.locations);
  std::sort(report.colours.begin(), report.colours.end(),
            [](const ReportColour &left, const ReportColour &right) {
              return ColourLess()(left.name, right.name);
            });
  sort_names(report.shared);
  sort_names(report.externals);
  sort_surroundings(report);
}

} // namespace tandem
