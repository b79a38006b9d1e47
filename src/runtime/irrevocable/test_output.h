// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: a linked output with sections and colours, as the compiler emits one.
#pragma once

#include <tandem/abi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

namespace tandem {

class TestOutput {
public:
  // `colours`: "A", or "A!" for one that some section shares, or "A*" for one of the whole process.
  TestOutput(const char *name, std::initializer_list<const char *> colours) {
    for (const char *text : colours)
      add_colour(text);
    finish(name);
  }
  // `count` colours that are shared.
  TestOutput(const char *name, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i)
      add_colour(("C" + std::to_string(i) + "!").c_str());
    finish(name);
  }
  TestOutput(const TestOutput &) = delete;
  TestOutput &operator=(const TestOutput &) = delete;

  using Set = std::vector<std::uint32_t>;

  // A section that holds its colours from its begin to its end.
  const tandem_section &exclusive(const char *name, const Set &colours) {
    return add(name, TANDEM_CLASS_NON_REVOCABLE, TANDEM_IRREVOCABLE_BEGIN, colours, colours);
  }
  // One that may become irrevocable.
  const tandem_section &reach(const char *name, const Set &colours) {
    return add(name, TANDEM_CLASS_NON_REVOCABLE, TANDEM_IRREVOCABLE_REACH, colours, colours);
  }
  const tandem_section &hybrid(const char *name, const Set &colours) {
    return add(name, TANDEM_CLASS_HYBRID, TANDEM_IRREVOCABLE_NEVER, colours, colours);
  }
  const tandem_section &pure(const char *name) {
    return add(name, TANDEM_CLASS_PURE, TANDEM_IRREVOCABLE_NEVER, {}, {});
  }

  tandem_colour_table table{};

private:
  static constexpr std::uint32_t kMostSections = 256;

  void add_colour(const char *text) {
    std::string name = text;
    std::uint32_t flags = TANDEM_COLOUR_IRREVOCABLE;
    if (name.back() == '*')
      flags |= TANDEM_COLOUR_PROCESS | TANDEM_COLOUR_SHARED;
    if (name.back() == '!')
      flags |= TANDEM_COLOUR_SHARED;
    if (name.back() == '*' || name.back() == '!')
      name.pop_back();
    names_.push_back(name);
    colours_.push_back({names_.back().c_str(), flags, 0});
  }
  void finish(const char *name) {
    words_ = (static_cast<std::uint32_t>(colours_.size()) + 63) / 64;
    table = {TANDEM_ABI_VERSION,
             sizeof(tandem_colour_table),
             static_cast<std::uint32_t>(colours_.size()),
             words_,
             kMostSections,
             0,
             name,
             colours_.data(),
             nullptr};
  }
  const std::uint64_t *bits(const Set &colours) {
    sets_.emplace_back(words_);
    for (const std::uint32_t colour : colours)
      sets_.back()[colour / 64] |= std::uint64_t{1} << (colour % 64);
    return sets_.back().data();
  }
  const tandem_section &add(const char *name, std::uint8_t section_class, std::uint8_t at,
                            const Set &colours, const Set &guard) {
    sections_.push_back({TANDEM_ABI_VERSION, sizeof(tandem_section), TANDEM_KIND_FUNCTION,
                         section_class, at, 0, 0, 7, static_cast<std::uint32_t>(sections_.size()),
                         name, "test.c", bits(colours), bits(guard), &table});
    return sections_.back();
  }

  std::deque<std::string> names_;
  std::vector<tandem_colour> colours_;
  std::deque<std::vector<std::uint64_t>> sets_;
  std::deque<tandem_section> sections_;
  std::uint32_t words_ = 0;
};

} // namespace tandem
