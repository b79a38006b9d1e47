// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/observe/tables.h"

#include <sstream>

namespace tandem::observe {
namespace {

template <typename T> T &at(std::vector<T> &list, std::size_t number) {
  if (list.size() <= number)
    list.resize(number + 1);
  return list[number];
}

std::string rest_of(std::istringstream &words) {
  std::string text;
  std::getline(words >> std::ws, text);
  return text;
}

} // namespace

Tables::Tables(const char *text) {
  std::istringstream lines(text);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    std::uint64_t number = 0;
    words >> what >> number;
    if (what == "section") {
      at(sections_, number).name = rest_of(words);
    } else if (what == "label") {
      Label &label = at(labels_, number);
      words >> label.kind >> label.outside;
      label.name = rest_of(words);
    } else if (what == "fold") {
      Fold fold{};
      words >> fold.begin >> fold.end >> fold.period;
      at(labels_, number).folds.push_back(fold);
    } else if (what == "part") {
      std::pair<std::uint32_t, std::uint64_t> part;
      words >> part.first >> part.second;
      at(labels_, number).parts.push_back(part);
    } else if (what == "effect") {
      std::uint32_t label = 0;
      std::uint64_t begin = 0;
      std::uint64_t end = 0;
      char how = 0;
      words >> label >> begin >> end >> how;
      SectionFacts &section = sections_[number];
      at(section.effects, label).push_back(std::make_unique<Effect>(label, how == 'w', begin, end));
      if (this->label(label).kind == 'f')
        (how == 'w' ? section.foreign_writes : section.foreign_reads) = true;
    } else if (what == "edge") {
      std::uint32_t other = 0;
      words >> other;
      edges.emplace_back(number, other);
    } else if (what == "set") {
      std::vector<std::uint32_t> &set = at(sets_, number);
      for (std::uint32_t section = 0; words >> section;)
        set.push_back(section);
    } else if (what == "site") {
      Site &site = at(sites_, number);
      words >> site.set;
      site.place = rest_of(words);
    }
  }
  edges_ = std::vector<Edge>(sections_.size() * sections_.size());
  for (const auto &[a, b] : edges)
    const_cast<Edge &>(edge(a, b)).known = true;
}

const Label &Tables::label(std::uint32_t number) const {
  return labels_[number < labels_.size() ? number : 0];
}

std::uint64_t Tables::fold(std::uint32_t label, std::uint64_t offset) const {
  for (const Fold &fold : this->label(label).folds)
    if (fold.begin <= offset && offset < fold.end)
      offset = fold.begin + (offset - fold.begin) % fold.period;
  return offset;
}

bool Tables::covers(std::uint32_t section, std::uint32_t label, std::uint64_t offset, bool writes,
                    const Effect **only) const {
  const SectionFacts &facts = sections_[section];
  *only = nullptr;
  if (label == 0)
    return writes ? facts.foreign_writes : facts.foreign_reads;
  std::size_t found = 0;
  const auto count = [&](std::uint32_t of, std::uint64_t at) {
    if (of >= facts.effects.size())
      return;
    for (const auto &effect : facts.effects[of])
      if (effect->writes == writes && effect->begin <= at && at < effect->end) {
        ++found;
        *only = effect.get();
      }
  };
  count(label, fold(label, offset));
  for (const auto &[other, displacement] : this->label(label).parts)
    count(other, fold(other, offset + displacement));
  if (this->label(label).outside)
    count(0, 0);
  if (found != 1)
    *only = nullptr;
  return found > 0;
}

} // namespace tandem::observe
