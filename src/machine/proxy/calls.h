// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that serve system calls, one for each TANDEM_CALL of syscalls.def, and what they
// share. Arguments are those of the manual pages, section 2; answers are results or -errno.
#pragma once

#include "machine/proxy/kernel.h"

#include <optional>
#include <span>
#include <vector>

namespace tandem::machine::proxy {

#define TANDEM_CALL(number, name) std::int64_t call_##name(Call &call);
#include "machine/proxy/syscalls.def"

// struct timespec in the program's memory, in ns; none if it is not readable or no time.
std::optional<std::uint64_t> read_time(Call &call, std::uint64_t address);
// A deadline `ns` from now.
Cycle deadline_in(Call &call, std::uint64_t ns);

// Reads go to a buffer of the host, a part at a time, and from there to the program.
inline constexpr std::size_t kCopy = 1 << 16;

} // namespace tandem::machine::proxy
