// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices' own accesses to main memory. The functional machine does them at once; one with a memory
// system makes them coherent block accesses behind the same calls: bytes move at once, and
// when_done() says when their traffic is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tandem::machine {

class DmaPort {
public:
  virtual ~DmaPort() = default;
  // Physical addresses. False, and nothing done, if a byte is not main memory.
  [[nodiscard]] virtual bool read(std::uint64_t address, std::span<std::byte> to) = 0;
  [[nodiscard]] virtual bool write(std::uint64_t address, std::span<const std::byte> from) = 0;

  // Whether what has been read and written is still on its way; an event of `client` (of the
  // EventQueue) with `argument` then comes when it is not. False: it is done, no event comes.
  virtual bool when_done(unsigned /*client*/, std::uint64_t /*argument*/) { return false; }

  // One little-endian number.
  template <typename T> [[nodiscard]] bool get(std::uint64_t address, T &value) {
    return read(address, std::as_writable_bytes(std::span(&value, 1)));
  }
  template <typename T> [[nodiscard]] bool put(std::uint64_t address, const T &value) {
    return write(address, std::as_bytes(std::span(&value, 1)));
  }
};

} // namespace tandem::machine
