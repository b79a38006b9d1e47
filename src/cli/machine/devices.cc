// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/devices.h"

#include "cli/machine/quantities.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace tandem::machine_cli {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size())
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint16_t> port(std::string_view text) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0)
    return std::nullopt;
  return number;
}

} // namespace

Result<machine::DiskOptions> parse_disk(const std::string &text) {
  const std::vector<std::string> parts = split(text);
  machine::DiskOptions disk{.path = parts.front()};
  if (disk.path.empty())
    return Error{
        fmt::format("'{}' names no file; write it as FILE, FILE,ro or FILE,latency=5.5ms", text)};
  for (std::size_t index = 1; index < parts.size(); ++index) {
    const std::string &part = parts[index];
    if (part == "ro") {
      disk.read_only = true;
    } else if (part.starts_with("latency=")) {
      const Result<std::uint64_t> latency = parse_time(part.substr(8));
      if (!latency)
        return latency.error();
      disk.latency = *latency;
    } else {
      return Error{fmt::format("'{}' is no option of a disk; there are ro and latency=TIME", part)};
    }
  }
  return disk;
}

Result<NetworkOption> parse_network(const std::string &text) {
  if (text == "none")
    return NetworkOption{.kind = machine::NetworkChoice::none};
  if (text == "pair")
    return NetworkOption{.kind = machine::NetworkChoice::pair};
  NetworkOption relay{.kind = machine::NetworkChoice::relay};
  if (text == "relay")
    return relay;
  if (!text.starts_with("relay="))
    return Error{
        fmt::format("'{}' is no network; there are none, pair and relay=HOST:GUEST", text)};
  for (const std::string &part : split(std::string_view(text).substr(6))) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    const auto host = port(std::string_view(part).substr(0, colon));
    const auto guest = port(std::string_view(part).substr(std::min(colon + 1, part.size())));
    if (!host || !guest)
      return Error{fmt::format("'{}' is no pair of ports; write a relay as relay=8080:80", part)};
    relay.forwards.emplace_back(*host, *guest);
  }
  return relay;
}

Result<machine::ConsoleKind> parse_console(const std::string &text) {
  if (text == "uart")
    return machine::ConsoleKind::uart;
  if (text == "sbi")
    return machine::ConsoleKind::sbi;
  if (text == "virtio")
    return machine::ConsoleKind::virtio;
  return Error{fmt::format("'{}' is no console; there are uart, sbi and virtio", text)};
}

} // namespace tandem::machine_cli
