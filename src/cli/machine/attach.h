// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Harts with time on a machine: what they hear of its devices, and the other way round.
#pragma once

#include "machine/platform/machine.h"
#include "machine/timing/timing.h"

#include <memory>
#include <string>

namespace tandem::machine_cli {

// They drive the machine until detach_cores(), which must come before either is gone. Errors as of
// TimedCores::make().
Result<std::unique_ptr<machine::TimedCores>> attach_cores(machine::Machine &machine,
                                                          const std::string &protocol,
                                                          const machine::TimingOptions &options);
void detach_cores(machine::Machine &machine);

} // namespace tandem::machine_cli
