// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/simulation/protocols.h"

namespace tandem::machine {

std::span<const ProtocolEntry> protocols() {
  static const std::vector<ProtocolEntry> all = {
      simulation::mesi_snoop(), simulation::token_b(), simulation::sparse_directory(),
      simulation::mosaic(),     simulation::flask(),   simulation::flask_plus(),
  };
  return all;
}

Result<const ProtocolEntry *> find_protocol(std::string_view name) {
  std::string names;
  for (const ProtocolEntry &entry : protocols()) {
    if (entry.name == name)
      return &entry;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  }
  return Error{fmt::format("there is no protocol '{}'; there are {}", name, names)};
}

namespace {

Status check_options(const Configuration &configuration, const ProtocolEntry &protocol) {
  const auto given = configuration.options.find(protocol.name);
  if (given == configuration.options.end())
    return Unit{};
  for (const auto &[name, value] : given->second) {
    std::string names;
    const ProtocolOption *found = nullptr;
    for (const ProtocolOption &option : protocol.options) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", option.name);
      if (option.name == name)
        found = &option;
    }
    if (found == nullptr)
      return Error{fmt::format("options.{}.{}: there is no such option; there {}", protocol.name,
                               name, names.empty() ? "are none" : "are " + names)};
    if (value > 1)
      return Error{fmt::format("options.{}.{}: is {}, but must be true or false", protocol.name,
                               name, value)};
  }
  return Unit{};
}

} // namespace

Status check_fit(const Configuration &configuration, const ProtocolEntry &protocol) {
  for (const auto &[name, options] : configuration.options)
    if (Result<const ProtocolEntry *> known = find_protocol(name); !known)
      return Error{fmt::format("options.{}: {}", name, known.error().message)};
  if (protocol.bus && configuration.network.kind != NetworkKind::bus)
    return Error{fmt::format("{} needs a bus, and configuration '{}' has a mesh; use --set "
                             "network.kind=bus, or --config metatm",
                             protocol.name, configuration.name)};
  if (!protocol.bus && configuration.network.kind != NetworkKind::mesh)
    return Error{fmt::format("{} needs a mesh, and configuration '{}' has a bus; use --set "
                             "network.kind=mesh",
                             protocol.name, configuration.name)};
  return check_options(configuration, protocol);
}

} // namespace tandem::machine
