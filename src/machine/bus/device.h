// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device on the physical bus. For one thread.
#pragma once

#include <cstdint>

namespace tandem::machine {

class Device {
public:
  virtual ~Device() = default;

  // A load of `size` (1, 2, 4 or 8) bytes at `offset` from where the device is mapped; `value` gets
  // them, zero-extended. False: the device has no such register or not that size; the hart takes an
  // access fault. Offsets are multiples of the size, and offset + size is inside the mapping.
  virtual bool load(std::uint64_t offset, unsigned size, std::uint64_t &value) = 0;

  // A store of the low `size` bytes of `value`. False as for load; then nothing has changed.
  virtual bool store(std::uint64_t offset, unsigned size, std::uint64_t value) = 0;
};

} // namespace tandem::machine
