// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/timeline.h"

#include "base/printable.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/format.h>
#include <vector>

namespace tandem::machine_cli {
namespace {

using machine::kSpentKinds;
using machine::kSpentNames;
using machine::LineStory;
using machine::Timeline;

constexpr std::size_t kLines = 40; // in the table
constexpr std::size_t kPlaces = 3; // of code, for each of them
constexpr unsigned kWidth = 1024;  // of the picture
constexpr unsigned kRow = 36;      // of a hart
constexpr unsigned kLeft = 64;     // for its name

// Told apart without colour vision too (Okabe and Ito), waiting in warm colours.
constexpr std::array<const char *, kSpentKinds> kColours = {"#009e73", "#0072b2", "#cc79a7",
                                                            "#e69f00", "#d55e00", "#7f0000",
                                                            "#f0e442", "#56b4e9", "#e8e8e8"};

constexpr const char *kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{0}</title>
<style>
body {{ font: 14px system-ui, sans-serif; margin: 2em; max-width: 1140px; }}
table {{ border-collapse: collapse; }}
td, th {{ padding: 2px 10px; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }}
td.n, th.n {{ text-align: right; font-variant-numeric: tabular-nums; }}
.key {{ display: inline-block; width: 0.9em; height: 0.9em; margin: 0 0.3em 0 1em; border: 1px solid #999; }}
.false {{ background: #fde3d3; }}
code {{ font-size: 13px; }}
</style></head><body>
<h1>{0}</h1>
)";

std::string legend() {
  std::string text = "<p>";
  for (std::size_t kind = 0; kind < kSpentKinds; ++kind)
    text += fmt::format("<span class=\"key\" style=\"background:{}\"></span>{}", kColours[kind],
                        kSpentNames[kind]);
  return text + "</p>\n";
}

std::string share_of(const Timeline::Cycles &cycles) {
  std::uint64_t sum = 0;
  for (const std::uint64_t each : cycles)
    sum += each;
  std::string text;
  for (std::size_t kind = 0; kind < kSpentKinds; ++kind)
    if (cycles[kind] != 0)
      text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", kSpentNames[kind],
                          100.0 * static_cast<double>(cycles[kind]) / static_cast<double>(sum));
  return text;
}

// One interval of a hart: what it was spent on, from the bottom up.
std::string bar(const Timeline::Cycles &cycles, double x, double width, double top,
                std::uint64_t full) {
  std::string text;
  double bottom = top + kRow - 4;
  for (std::size_t kind = 0; kind < kSpentKinds; ++kind) {
    if (cycles[kind] == 0)
      continue;
    const double height =
        (kRow - 4) * static_cast<double>(cycles[kind]) / static_cast<double>(full);
    bottom -= height;
    text += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
                        "fill=\"{}\"/>",
                        x, bottom, width, height, kColours[kind]);
  }
  return text;
}

std::size_t intervals_of(const Timeline &timeline) {
  std::size_t most = 1;
  for (unsigned hart = 0; hart < timeline.harts(); ++hart)
    most = std::max(most, timeline.of(hart).size());
  return most;
}

std::string picture(const Timeline &timeline) {
  const std::size_t intervals = intervals_of(timeline);
  const double width = static_cast<double>(kWidth) / static_cast<double>(intervals);
  std::string text = fmt::format("<svg width=\"{}\" height=\"{}\" role=\"img\" "
                                 "aria-label=\"harts over time\">\n",
                                 kLeft + kWidth, kRow * timeline.harts() + 20);
  for (unsigned hart = 0; hart < timeline.harts(); ++hart) {
    const double top = static_cast<double>(kRow) * hart;
    text += fmt::format("<text x=\"0\" y=\"{}\">hart {}</text>", top + kRow / 2.0 + 4, hart);
    for (std::size_t i = 0; i < timeline.of(hart).size(); ++i) {
      const Timeline::Cycles &cycles = timeline.of(hart)[i];
      text += fmt::format(
          "<g><title>hart {}, from cycle {}: {}</title>{}</g>\n", hart,
          timeline.start() + i * timeline.width(), share_of(cycles),
          bar(cycles, kLeft + width * static_cast<double>(i), width, top, timeline.width()));
    }
  }
  return text + fmt::format("<text x=\"{}\" y=\"{}\">cycle {}</text>"
                            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text></svg>\n",
                            kLeft, kRow * timeline.harts() + 16, timeline.start(), kLeft + kWidth,
                            kRow * timeline.harts() + 16,
                            timeline.start() + intervals * timeline.width());
}

std::string totals(const Timeline &timeline) {
  std::string text = "<table><tr><th>hart</th>";
  for (const std::string_view name : kSpentNames)
    text += fmt::format("<th class=\"n\">{}</th>", name);
  text += "</tr>\n";
  for (unsigned hart = 0; hart < timeline.harts(); ++hart) {
    Timeline::Cycles sum{};
    for (const Timeline::Cycles &cycles : timeline.of(hart))
      for (std::size_t kind = 0; kind < kSpentKinds; ++kind)
        sum[kind] += cycles[kind];
    text += fmt::format("<tr><td>{}</td>", hart);
    for (const std::uint64_t cycles : sum)
      text += fmt::format("<td class=\"n\">{}</td>", cycles);
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

const char *verdict(LineStory::Sharing sharing) {
  switch (sharing) {
  case LineStory::Sharing::none:
    return "one hart";
  case LineStory::Sharing::reading:
    return "shared, read only";
  case LineStory::Sharing::truly:
    return "shared";
  case LineStory::Sharing::falsely:
    break;
  }
  return "false sharing";
}

// "0-7, 16" of a set of bytes.
std::string bytes_of(std::uint64_t bytes) {
  std::string text;
  while (bytes != 0) {
    const int first = std::countr_zero(bytes);
    const int count = std::countr_one(bytes >> first);
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (count > 1)
      text += fmt::format("-{}", first + count - 1);
    if (first + count == 64)
      break;
    bytes &= ~std::uint64_t{0} << (first + count);
  }
  return text;
}

std::string parties(const LineStory &line) {
  std::string text;
  for (const auto &[hart, party] : line.harts) {
    text += fmt::format("{}hart {}:", text.empty() ? "" : "<br>", hart);
    if (party.reads != 0)
      text += fmt::format(" {} reads of {}", party.reads, bytes_of(party.bytes_read));
    if (party.writes != 0)
      text += fmt::format("{} {} writes of {}", party.reads != 0 ? "," : "", party.writes,
                          bytes_of(party.bytes_written));
  }
  return text;
}

std::string places(const LineStory &line, const machine::Symbols &symbols) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> most; // misses, pc
  for (const auto &[pc, misses] : line.places)
    most.emplace_back(misses, pc);
  std::sort(most.begin(), most.end(), [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(most.size(), kPlaces); ++i)
    text += fmt::format("{}<code>{}</code> {}", i == 0 ? "" : "<br>",
                        markup(symbols.describe(most[i].second)), most[i].first);
  return text;
}

// The symbols whose bytes were touched.
std::string data_of(const LineStory &line, const machine::Symbols &symbols) {
  std::uint64_t bytes = 0;
  for (const auto &[hart, party] : line.harts)
    bytes |= party.bytes_read | party.bytes_written;
  std::string text;
  const machine::Symbols::Symbol *last = nullptr;
  for (; bytes != 0; bytes &= bytes - 1) {
    const std::uint64_t at =
        (line.virtual_ & ~std::uint64_t{63}) + static_cast<unsigned>(std::countr_zero(bytes));
    const auto place = symbols.find(at);
    if (!place || place->symbol == last)
      continue;
    text += (last == nullptr ? "" : ", ") + markup(symbols.describe(at));
    last = place->symbol;
  }
  return text;
}

std::string lines(const Timeline &timeline, const machine::Symbols &symbols) {
  std::vector<std::pair<std::uint64_t, const LineStory *>> most;
  for (const auto &[line, story] : timeline.lines())
    most.emplace_back(line, &story);
  std::sort(most.begin(), most.end(), [](const auto &a, const auto &b) {
    return a.second->cycles != b.second->cycles ? a.second->cycles > b.second->cycles
                                                : a.first < b.first;
  });
  std::string text = "<table><tr><th>line</th><th class=\"n\">cycles waited</th>"
                     "<th class=\"n\">misses</th><th></th><th>harts, and bytes of the line</th>"
                     "<th>code</th></tr>\n";
  for (std::size_t i = 0; i < std::min(most.size(), kLines); ++i) {
    const LineStory &line = *most[i].second;
    const bool falsely = line.sharing() == LineStory::Sharing::falsely;
    text += fmt::format(
        "<tr{}><td><code>{:#x}</code><br>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td>{}</td><td>{}</td><td>{}</td></tr>\n",
        falsely ? " class=\"false\"" : "", line.virtual_ & ~std::uint64_t{63},
        data_of(line, symbols), line.cycles, line.misses, verdict(line.sharing()), parties(line),
        places(line, symbols));
  }
  return text + "</table>\n";
}

} // namespace

std::string timeline_page(const Timeline &timeline, const machine::Symbols &symbols,
                          const std::string &title) {
  std::uint64_t cycles = 0;
  for (const auto &[line, story] : timeline.lines())
    cycles += story.cycles;
  return fmt::format(fmt::runtime(kHead), markup(title)) + "<h2>Harts over time</h2>\n" + legend() +
         picture(timeline) + totals(timeline) +
         fmt::format(
             "<h2>Lines that were waited for most</h2>\n<p>{} lines of data were missed, {} "
             "cycles waited. Bytes are those of accesses that missed; a line that several "
             "harts touch, one of them writing, without a byte in common, is falsely "
             "shared.</p>\n",
             timeline.lines().size(), cycles) +
         lines(timeline, symbols) + "</body></html>\n";
}

} // namespace tandem::machine_cli
