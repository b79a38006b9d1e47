// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/configuration/configuration.h"

#include "machine/configuration/fields.h"

namespace tandem::machine {

std::uint32_t Configuration::private_blocks() const {
  const std::uint32_t first = l1i.blocks() + l1d.blocks();
  return l2_inclusive ? l2.blocks() : first + l2.blocks();
}

std::uint32_t Configuration::directory_sets() const {
  return static_cast<std::uint32_t>(std::uint64_t{private_blocks()} * directory.provision_permille *
                                    cores / slices() / 1000 / directory.ways);
}

std::uint32_t Configuration::slice_tile(std::uint32_t slice) const {
  return slices() <= cores ? slice * cores / slices() : slice % cores;
}

MeshShape Configuration::mesh() const {
  MeshShape shape = mesh_for(cores);
  if (network.columns != 0) {
    shape.columns = network.columns;
    shape.rows = (cores + shape.columns - 1) / shape.columns;
  }
  shape.router_cycles = network.router_cycles;
  shape.loaded_router_cycles = network.loaded_router_cycles;
  shape.link_cycles = network.link_cycles;
  shape.multicast = network.multicast;
  shape.buffer_flits = network.buffer_flits;
  shape.credits = network.credits;
  return shape;
}

std::uint32_t Configuration::controller_tile(std::uint32_t controller) const {
  if (memory.controllers == 1)
    return 0;
  // Evenly over the tiles from the first to the last: with four controllers on 4 x 4 the corners of
  // the first and the last row and two tiles at the edges between them.
  return controller * (cores - 1) / (memory.controllers - 1);
}

std::string to_toml(const Configuration &configuration) {
  std::string text = "version = 1\n";
  std::string_view section;
  for (const Field &field : configuration_fields()) {
    if (field.section != section) {
      section = field.section;
      text += fmt::format("\n[{}]\n", section);
    }
    text += fmt::format("{} = {}\n", field.name, field_value(field, configuration));
  }
  for (const auto &[protocol, options] : configuration.options) {
    text += fmt::format("\n[options.{}]\n", protocol);
    for (const auto &[name, value] : options)
      text += fmt::format("{} = {}\n", name, value);
  }
  return text;
}

namespace {

std::string allowed_values(const Field &field) {
  if (const auto *number = std::get_if<NumberField>(&field.kind))
    return number->scale == 1
               ? fmt::format("{} to {}", number->least, number->most)
               : fmt::format("{} to {}, in steps of {}", 1.0 * number->least / number->scale,
                             number->most, 1.0 / number->scale);
  if (std::holds_alternative<FlagField>(field.kind))
    return "true, false";
  if (std::holds_alternative<TextField>(field.kind))
    return "text";
  std::string words;
  for (const std::string_view word : std::get<ChoiceField>(field.kind).words)
    words += fmt::format("{}`{}`", words.empty() ? "" : ", ", word);
  return words;
}

} // namespace

std::string configuration_reference() {
  const Configuration defaults;
  std::string text;
  std::string_view section = "-";
  for (const Field &field : configuration_fields()) {
    if (field.section != section) {
      section = field.section;
      if (!section.empty())
        text += fmt::format("\n### `[{}]`\n\n", section);
      text += "| field | unit | values | default | meaning |\n|---|---|---|---|---|\n";
    }
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", field.name,
                        field.unit.empty() ? "–" : field.unit, allowed_values(field),
                        field_value(field, defaults), field.meaning);
  }
  return text;
}

} // namespace tandem::machine
