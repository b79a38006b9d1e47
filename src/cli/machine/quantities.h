// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers as people write them in options.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

namespace tandem::machine_cli {

// "512M", "2G", "64K", "4096": powers of 1024, in bytes.
Result<std::uint64_t> parse_bytes(const std::string &text);

// "2000000", "2M", "1.5G": powers of 1000, a whole number above 0.
Result<std::uint64_t> parse_count(const std::string &text);

// "5.5ms", "100us", "20ns", "1s": in cycles of a machine of 1 GHz.
Result<std::uint64_t> parse_time(const std::string &text);

} // namespace tandem::machine_cli
