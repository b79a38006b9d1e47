// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/places.h"

#include <tandem/abi.h>

namespace tandem::machine_cli {
namespace {

using machine::proxy::AddressSpace;

// A record as tandem/abi.h has it, from the program's memory: its pointers are the program's, and
// only numbers here. The layout is that of this machine, as both are LP64 and little-endian.
template <class Record> bool get(AddressSpace &space, std::uint64_t address, Record &record) {
  return space.get(address, record) && record.abi_version == TANDEM_ABI_VERSION &&
         record.size >= sizeof record;
}

std::uint64_t address_of(const void *pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

const char *kind_of(std::uint8_t kind) {
  switch (kind) {
  case TANDEM_KIND_FUNCTION:
    return "function";
  case TANDEM_KIND_BLOCK:
    return "block";
  case TANDEM_KIND_LAMBDA:
    return "lambda";
  case TANDEM_KIND_LOCK_REGION:
    return "lock-region";
  default:
    return nullptr;
  }
}

const char *class_of(std::uint8_t section_class) {
  switch (section_class) {
  case TANDEM_CLASS_PURE:
    return "pure";
  case TANDEM_CLASS_HYBRID:
    return "hybrid";
  case TANDEM_CLASS_NON_REVOCABLE:
    return "non-revocable";
  default:
    return nullptr;
  }
}

// Names of those that `set`, an address, has. False where memory does not hold what it should.
bool read_colours(AddressSpace &space, const tandem_colour_table &table, std::uint64_t set,
                  std::vector<std::string> &names) {
  for (std::uint32_t i = 0; i < table.colour_count && set != 0; ++i) {
    std::uint64_t word = 0;
    tandem_colour colour{};
    if (!space.get(set + i / 64 * sizeof word, word) ||
        !space.get(address_of(table.colours) + i * sizeof colour, colour))
      return false;
    if ((word >> (i % 64) & 1) == 0)
      continue;
    std::optional<std::string> name = space.string(address_of(colour.name));
    if (!name)
      return false;
    names.push_back(std::move(*name));
  }
  return true;
}

} // namespace

bool Places::describe(std::uint64_t site, Place &place) {
  tandem_section section{};
  tandem_colour_table table{};
  if (space_ == nullptr || site % alignof(tandem_section) != 0 || !get(*space_, site, section) ||
      !get(*space_, address_of(section.table), table))
    return false;
  std::optional<std::string> name = space_->string(address_of(section.name));
  std::optional<std::string> file = space_->string(address_of(section.file));
  std::optional<std::string> output = space_->string(address_of(table.output));
  place.kind = kind_of(section.kind);
  place.section_class = class_of(section.section_class);
  if (!name || !file || !output || output->empty() || place.kind == nullptr ||
      place.section_class == nullptr ||
      !read_colours(*space_, table, address_of(section.colours), place.colours))
    return false;
  place.name = std::move(*name);
  place.file = std::move(*file);
  place.output = std::move(*output);
  place.line = section.line;
  return true;
}

const Place &Places::of(std::uint64_t site) {
  const auto [found, is_new] = known_.try_emplace(site);
  if (is_new && !describe(site, found->second))
    found->second = {.name = symbols_->describe(site), .kind = "transaction"};
  return found->second;
}

} // namespace tandem::machine_cli
