// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/run/recording.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace tandem::machine {
namespace {

constexpr const char *kFormat = "tandem-console";
constexpr int kVersion = 1;

std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes)
    hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

std::optional<std::string> from_hex(std::string_view hex) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  if (hex.size() % 2 != 0)
    return std::nullopt;
  std::string bytes;
  for (std::size_t place = 0; place < hex.size(); place += 2) {
    const int high = digit(hex[place]);
    const int low = digit(hex[place + 1]);
    if (high < 0 || low < 0)
      return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

// The value of a line after the first; none if it is not of the form.
std::optional<Typed> typed_of(const nlohmann::json &line) {
  if (!line.is_object() || !line.contains("cycle") || !line.contains("hex") ||
      !line["cycle"].is_number_unsigned() || !line["hex"].is_string())
    return std::nullopt;
  std::optional<std::string> text = from_hex(line["hex"].get_ref<const std::string &>());
  if (!text)
    return std::nullopt;
  return Typed{.at = line["cycle"], .text = *std::move(text)};
}

} // namespace

std::string to_text(const std::vector<Typed> &typed) {
  std::string text =
      nlohmann::ordered_json{{"format", kFormat}, {"version", kVersion}}.dump() + "\n";
  for (const Typed &one : typed)
    text += nlohmann::ordered_json{{"cycle", one.at}, {"hex", to_hex(one.text)}}.dump() + "\n";
  return text;
}

Result<std::vector<Typed>> parse_typed(const std::string &path, std::string_view text) {
  std::vector<Typed> typed;
  std::size_t number = 0;
  const auto refuse = [&](const std::string &what) {
    return Error{fmt::format("{}:{}: {}; recordings are made by tandem machine boot --record", path,
                             number, what)};
  };
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const nlohmann::json line = nlohmann::json::parse(text.substr(0, end), nullptr, false);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number == 1) {
      if (!line.is_object() || !line.contains("format") || line["format"] != kFormat)
        return refuse("is no recording of a console");
      if (!line.contains("version") || line["version"] != kVersion)
        return refuse(fmt::format("is not of version {}", kVersion));
      continue;
    }
    std::optional<Typed> one = typed_of(line);
    if (!one)
      return refuse("is no line with a cycle and hex digits");
    if (!typed.empty() && one->at < typed.back().at)
      return refuse("is earlier than the line before it");
    typed.push_back(*std::move(one));
  }
  if (number == 0) {
    number = 1;
    return refuse("is no recording of a console");
  }
  return typed;
}

} // namespace tandem::machine
