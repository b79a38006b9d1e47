// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/profile/description.h"

#include "runtime/memory/pages.h"

#include <cstddef>
#include <cstring>

namespace tandem::profile {
namespace {

const char *copy(char *&room, const char *text) noexcept {
  const std::size_t bytes = std::strlen(text) + 1;
  char *place = room;
  std::memcpy(place, text, bytes);
  room += bytes;
  return place;
}

} // namespace

const Description *describe(const tandem_section &section) noexcept {
  const tandem_colour_table &table = *section.table;
  std::uint32_t count = 0;
  std::size_t bytes = sizeof(Description) + std::strlen(section.name) + std::strlen(section.file) +
                      std::strlen(table.output) + 3;
  const auto has = [&](std::uint32_t i) { return tandem_has_colour(section.colours, i) != 0; };
  for (std::uint32_t i = 0; i < table.colour_count; ++i)
    if (has(i)) {
      ++count;
      bytes += sizeof(const char *) + std::strlen(table.colours[i].name) + 1;
    }
  auto *made =
      static_cast<Description *>(memory::allocate_pages(bytes, "the profile of a section"));
  auto **names = reinterpret_cast<const char **>(made + 1);
  auto *room = reinterpret_cast<char *>(names + count);
  *made = {copy(room, section.name),
           copy(room, table.output),
           copy(room, section.file),
           names,
           count,
           section.line,
           section.kind,
           section.section_class};
  for (std::uint32_t i = 0; i < table.colour_count; ++i)
    if (has(i))
      *names++ = copy(room, table.colours[i].name);
  return made;
}

const char *kind_name(const Description &description) noexcept {
  switch (description.kind) {
  case TANDEM_KIND_BLOCK:
    return "block";
  case TANDEM_KIND_LAMBDA:
    return "lambda";
  case TANDEM_KIND_LOCK_REGION:
    return "lock-region";
  default:
    return "function";
  }
}

const char *class_name(const Description &description) noexcept {
  switch (description.section_class) {
  case TANDEM_CLASS_NON_REVOCABLE:
    return "non-revocable";
  case TANDEM_CLASS_HYBRID:
    return "hybrid";
  default:
    return "pure";
  }
}

} // namespace tandem::profile
