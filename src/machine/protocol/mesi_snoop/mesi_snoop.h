// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The snooping protocol, whole: its controllers and its invariant.
#pragma once

#include "machine/protocol/mesi_snoop/core.h"
#include "machine/protocol/mesi_snoop/memory.h"
#include "machine/protocol/mesi_snoop/protocol.h"

namespace tandem::machine {

// Memory has the last value, unless it was promised it, or a core answers for the block or will
// write it. A core that has given a block away keeps nothing of it.
template <class View> const char *MesiSnoop::violated(const View &view) {
  for (unsigned c = 0; c < view.cores(); ++c)
    if (view.core(c).tbe.state == Core::TbeState::II_B && view.core(c).tbe.data.value != 0)
      return "a core keeps what it has given away";
  if (view.memory().line.data.value != 0 || view.memory().tbe.state != Memory::TbeState::none)
    return nullptr;
  for (unsigned c = 0; c < view.cores(); ++c) {
    const auto &core = view.core(c);
    if (core.line.state == Core::LineState::M || core.tbe.state == Core::TbeState::MI_B ||
        core.tbe.state == Core::TbeState::M_D)
      return nullptr;
  }
  return "memory is behind, and nobody answers for the block";
}

} // namespace tandem::machine
