// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/bus/bus.h"

#include <algorithm>

namespace tandem::machine {

Status Bus::attach(const std::string &name, std::uint64_t base, std::uint64_t size,
                   Device &device) {
  const auto overlaps = [&](std::uint64_t other, std::uint64_t bytes) {
    return base < other + bytes && other < base + size;
  };
  if (size == 0 || base + size < base)
    return Error{fmt::format("device {} at {:#x}: a size of {:#x} does not fit", name, base, size)};
  if (overlaps(memory_->base(), memory_->size()))
    return Error{
        fmt::format("device {} at {:#x}: main memory is there; move one of them", name, base)};
  for (const Mapping &mapping : mappings_)
    if (overlaps(mapping.base, mapping.size))
      return Error{fmt::format("device {} at {:#x}: device {} is there; move one of them", name,
                               base, mapping.name)};
  const auto place =
      std::ranges::find_if(mappings_, [&](const Mapping &m) { return m.base > base; });
  mappings_.insert(place, {name, base, size, &device});
  return Unit{};
}

Bus::Mapping *Bus::find(std::uint64_t address, unsigned size) {
  const auto after = std::ranges::find_if(
      mappings_, [&](const Mapping &mapping) { return mapping.base > address; });
  if (after == mappings_.begin())
    return nullptr;
  Mapping &mapping = *std::prev(after);
  const std::uint64_t offset = address - mapping.base;
  return offset < mapping.size && size <= mapping.size - offset ? &mapping : nullptr;
}

bool Bus::device_load(std::uint64_t address, unsigned size, std::uint64_t &value) {
  Mapping *mapping = find(address, size);
  return mapping != nullptr && mapping->device->load(address - mapping->base, size, value);
}

bool Bus::device_store(std::uint64_t address, unsigned size, std::uint64_t value) {
  Mapping *mapping = find(address, size);
  return mapping != nullptr && mapping->device->store(address - mapping->base, size, value);
}

} // namespace tandem::machine
