// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/isa/trap.h"

namespace tandem::machine {

std::string_view name_of(Exception cause) {
  switch (cause) {
  case Exception::instruction_misaligned:
    return "instruction address misaligned";
  case Exception::instruction_access:
    return "instruction access fault";
  case Exception::illegal_instruction:
    return "illegal instruction";
  case Exception::breakpoint:
    return "breakpoint";
  case Exception::load_misaligned:
    return "load address misaligned";
  case Exception::load_access:
    return "load access fault";
  case Exception::store_misaligned:
    return "store address misaligned";
  case Exception::store_access:
    return "store access fault";
  case Exception::ecall_user:
    return "environment call from U-mode";
  case Exception::ecall_supervisor:
    return "environment call from S-mode";
  case Exception::ecall_machine:
    return "environment call from M-mode";
  case Exception::instruction_page:
    return "instruction page fault";
  case Exception::load_page:
    return "load page fault";
  case Exception::store_page:
    return "store page fault";
  }
  return "unknown exception";
}

std::string_view name_of(Interrupt cause) {
  switch (cause) {
  case Interrupt::supervisor_software:
    return "supervisor software interrupt";
  case Interrupt::machine_software:
    return "machine software interrupt";
  case Interrupt::supervisor_timer:
    return "supervisor timer interrupt";
  case Interrupt::machine_timer:
    return "machine timer interrupt";
  case Interrupt::supervisor_external:
    return "supervisor external interrupt";
  case Interrupt::machine_external:
    return "machine external interrupt";
  }
  return "unknown interrupt";
}

} // namespace tandem::machine
