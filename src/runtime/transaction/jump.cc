// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/transaction/jump.h"

#include <cstddef>

namespace tandem::transaction {

void jump(std::uint32_t actions, const JumpBuffer &buffer) noexcept {
#if defined(__riscv)
  register std::uint64_t answer __asm__("a0") = actions;
  register const JumpBuffer *from __asm__("a1") = &buffer;
  __asm__ volatile(
      TANDEM_EACH_SAVED("ld", "fld", "%c[saved]", "%c[floating]", "a1") "ld t0, %c[target](a1)\n\t"
                                                                        "ld sp, %c[stack](a1)\n\t"
                                                                        "jr t0"
      :
      : "r"(answer), "r"(from), [saved] "i"(offsetof(JumpBuffer, saved)),
        [floating] "i"(offsetof(JumpBuffer, floating)), [stack] "i"(offsetof(JumpBuffer, stack)),
        [target] "i"(offsetof(JumpBuffer, target))
      : "t0", "memory");
#else
  // The stack pointer last but for the target: no memory operand below may be on the stack. The
  // buffer may be above it or in the thread's own memory.
  __asm__ volatile("movq %c[rbx](%[b]), %%rbx\n\t"
                   "movq %c[rbp](%[b]), %%rbp\n\t"
                   "movq %c[r12](%[b]), %%r12\n\t"
                   "movq %c[r13](%[b]), %%r13\n\t"
                   "movq %c[r14](%[b]), %%r14\n\t"
                   "movq %c[r15](%[b]), %%r15\n\t"
                   "movq %c[stack](%[b]), %%rcx\n\t"
                   "movq %c[target](%[b]), %%rdx\n\t"
                   "movq %%rcx, %%rsp\n\t"
                   "jmpq *%%rdx"
                   :
                   : "a"(actions), [b] "S"(&buffer), [rbx] "i"(offsetof(JumpBuffer, rbx)),
                     [rbp] "i"(offsetof(JumpBuffer, rbp)), [r12] "i"(offsetof(JumpBuffer, r12)),
                     [r13] "i"(offsetof(JumpBuffer, r13)), [r14] "i"(offsetof(JumpBuffer, r14)),
                     [r15] "i"(offsetof(JumpBuffer, r15)), [stack] "i"(offsetof(JumpBuffer, stack)),
                     [target] "i"(offsetof(JumpBuffer, target))
                   : "rcx", "rdx", "memory");
#endif
  __builtin_unreachable();
}

} // namespace tandem::transaction
