// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the accesses of a simulation come from: synthetic traffic (traffic/generator.h), a trace
// (trace/trace.h).
#pragma once

#include "machine/timed/port.h"

#include <cstdint>

namespace tandem::machine {

// An access as a program makes it.
struct Operation {
  std::uint64_t block = 0;
  std::uint32_t gap = 0; // instructions before it that access no memory
  RequestKind kind = RequestKind::load;
  bool dependent = false; // what follows needs its value
};

// An access of a device, without a cache.
struct DeviceOperation {
  std::uint64_t block = 0;
  Access access = Access::load;
};

// For one thread.
class Source {
public:
  virtual ~Source() = default;
  [[nodiscard]] virtual unsigned cores() const = 0;
  // The core's next access. False: it has no more.
  virtual bool next(unsigned core, Operation &operation) = 0;
  // What a device does after so many accesses to data of all cores; false: nothing. Every access is
  // asked about once, in order.
  virtual bool device(std::uint64_t /*accesses*/, DeviceOperation & /*operation*/) { return false; }

protected:
  Source() = default;
  Source(const Source &) = default;
  Source(Source &&) = default;
  Source &operator=(const Source &) = default;
  Source &operator=(Source &&) = default;
};

} // namespace tandem::machine
