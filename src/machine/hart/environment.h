// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lies below and around a hart: the firmware that serves its ecalls, a proxy kernel, a
// debugger. Called between two instructions, with the hart's state exact: `pc` is that of the
// instruction that trapped, registers and memory are as before it.
#pragma once

#include "machine/isa/trap.h"

namespace tandem::machine {

class Hart;

class HartEnvironment {
public:
  virtual ~HartEnvironment() = default;

  enum class Action {
    deliver, // the guest takes the trap as the architecture says
    resume,  // handled: the hart goes on at state().pc, which the handler has set (ecall: pc + 4)
  };

  // An exception whose cause is in the mask of Hart::intercept() for the privilege it came from.
  // May change the hart's state (then Hart::changed(), unless only x, f, pc did), memory (through
  // Memory::write), other harts (start, stop, interrupts, fences). It may stop the machine with
  // Hart::end_burst() and a flag of its own. Costs the one cycle of the instruction.
  virtual Action trap(Hart &hart, const Trap &trap) = 0;

  // A FENCE.I, a SFENCE.VMA has just happened on `hart`: for counters. Local effects are done.
  virtual void fence_i(Hart & /*hart*/) {}
  virtual void sfence_vma(Hart & /*hart*/) {}
};

} // namespace tandem::machine
