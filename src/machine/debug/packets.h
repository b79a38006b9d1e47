// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gdb's remote serial protocol as bytes: packets out of a stream, and back. Pure, for one thread.
//
// Source: "Debugging with GDB", appendix E, sections Overview and Packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tandem::machine {

// Takes a stream apart. Acknowledgements are passed over; a packet with a wrong sum is dropped and
// to be refused with '-'.
class PacketReader {
public:
  // The longest packet that is taken; longer ones are dropped.
  static constexpr std::size_t kLimit = 1 << 16;

  struct Event {
    enum class Kind : std::uint8_t { packet, interrupt, damaged };
    Kind kind;
    std::string packet{};
  };

  void add(std::string_view bytes) { bytes_.append(bytes); }
  // The next one, if it is there whole.
  std::optional<Event> next();

private:
  std::string bytes_;
};

// "$DATA#SUM", with what must be escaped escaped.
std::string framed(std::string_view data);

std::string to_hex(std::span<const std::byte> bytes);
// None if it is not pairs of digits.
std::optional<std::string> from_hex(std::string_view hex);
// A number in hex at the start of `text`, which is moved behind it; none if there is no digit.
std::optional<std::uint64_t> take_hex(std::string_view &text);
// Moves behind `letter` if text begins with it.
bool take(std::string_view &text, char letter);

} // namespace tandem::machine
