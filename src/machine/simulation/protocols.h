// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function a protocol, each in a file of its own: instantiating the timed system takes long.
#pragma once

#include "machine/simulation/simulation.h"

namespace tandem::machine::simulation {

ProtocolEntry mesi_snoop();
ProtocolEntry token_b();
ProtocolEntry sparse_directory();
ProtocolEntry flask();
ProtocolEntry flask_plus();
ProtocolEntry mosaic();

} // namespace tandem::machine::simulation
