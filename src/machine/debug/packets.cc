// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/debug/packets.h"

#include <algorithm>
#include <fmt/format.h>

namespace tandem::machine {
namespace {

constexpr char kInterrupt = 3;
constexpr char kEscape = '}';
constexpr char kEscaped = 0x20;

std::optional<unsigned> digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return std::nullopt;
}

std::uint8_t sum_of(std::string_view text) {
  std::uint8_t sum = 0;
  for (const char c : text)
    sum = static_cast<std::uint8_t>(sum + static_cast<unsigned char>(c));
  return sum;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t place = 0; place < text.size(); ++place) {
    if (text[place] == kEscape && place + 1 < text.size())
      plain.push_back(static_cast<char>(text[++place] ^ kEscaped));
    else
      plain.push_back(text[place]);
  }
  return plain;
}

} // namespace

std::optional<PacketReader::Event> PacketReader::next() {
  while (!bytes_.empty()) {
    if (bytes_.front() == kInterrupt) {
      bytes_.erase(0, 1);
      return Event{.kind = Event::Kind::interrupt};
    }
    if (bytes_.front() != '$') {
      bytes_.erase(0, std::min(bytes_.find_first_of(std::string_view("$\x03", 2)), bytes_.size()));
      continue;
    }
    const std::size_t end = bytes_.find('#');
    if (end == std::string::npos || bytes_.size() < end + 3) {
      if (bytes_.size() <= kLimit)
        return std::nullopt;
      bytes_.clear();
      return Event{.kind = Event::Kind::damaged};
    }
    const std::string body = bytes_.substr(1, end - 1);
    const std::optional<unsigned> high = digit(bytes_[end + 1]);
    const std::optional<unsigned> low = digit(bytes_[end + 2]);
    bytes_.erase(0, end + 3);
    if (!high || !low || *high * 16 + *low != sum_of(body))
      return Event{.kind = Event::Kind::damaged};
    return Event{.kind = Event::Kind::packet, .packet = unescaped(body)};
  }
  return std::nullopt;
}

std::string framed(std::string_view data) {
  std::string body;
  for (const char c : data) {
    if (c == '$' || c == '#' || c == '*' || c == kEscape) {
      body.push_back(kEscape);
      body.push_back(static_cast<char>(c ^ kEscaped));
    } else {
      body.push_back(c);
    }
  }
  return fmt::format("${}#{:02x}", body, sum_of(body));
}

std::string to_hex(std::span<const std::byte> bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const std::byte byte : bytes) {
    hex.push_back(kDigits[std::to_integer<unsigned>(byte) >> 4]);
    hex.push_back(kDigits[std::to_integer<unsigned>(byte) & 15]);
  }
  return hex;
}

std::optional<std::string> from_hex(std::string_view hex) {
  std::string bytes;
  if (hex.size() % 2 != 0)
    return std::nullopt;
  for (std::size_t place = 0; place < hex.size(); place += 2) {
    const std::optional<unsigned> high = digit(hex[place]);
    const std::optional<unsigned> low = digit(hex[place + 1]);
    if (!high || !low)
      return std::nullopt;
    bytes.push_back(static_cast<char>(*high * 16 + *low));
  }
  return bytes;
}

std::optional<std::uint64_t> take_hex(std::string_view &text) {
  std::uint64_t value = 0;
  std::size_t count = 0;
  while (count < text.size() && count < 16) {
    const std::optional<unsigned> next = digit(text[count]);
    if (!next)
      break;
    value = value << 4 | *next;
    ++count;
  }
  if (count == 0)
    return std::nullopt;
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view &text, char letter) {
  if (!text.starts_with(letter))
    return false;
  text.remove_prefix(1);
  return true;
}

} // namespace tandem::machine
