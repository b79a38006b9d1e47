# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A test as suites of the architecture write theirs: from machine mode to U, and back by an ecall to
# a word that the host watches. The number of the case that fails is in gp.
        .section .text.init, "ax"
        .globl  _start
_start: csrr    a0, mhartid
        bnez    a0, .
        # Registers that there may not be: a trap leads over them.
        la      t0, 1f
        csrw    mtvec, t0
        csrwi   0x744, 8
        .balign 4
1:      la      t0, 1f
        csrw    mtvec, t0
        csrwi   satp, 0
        .balign 4
1:      la      t0, 1f
        csrw    mtvec, t0
        li      t0, -1
        csrw    pmpaddr0, t0
        li      t0, 0x1f
        csrw    pmpcfg0, t0
        .balign 4
1:      la      t0, 1f
        csrw    mtvec, t0
        csrwi   medeleg, 0
        csrwi   mideleg, 0
        csrwi   mie, 0
        .balign 4
1:      li      gp, 0
        la      t0, trap_vector
        csrw    mtvec, t0
        csrwi   mstatus, 0
        li      t0, 0x2000              # FS
        csrs    mstatus, t0
        csrwi   fcsr, 0
        la      t0, user
        csrw    mepc, t0
        mret
        .balign 4
trap_vector:
        csrr    t5, mcause
        li      t6, 8
        beq     t5, t6, write_tohost
        li      gp, 1337
write_tohost:
        slli    t5, gp, 1
        ori     t5, t5, 1
        la      t6, tohost
        sd      t5, 0(t6)
        j       .
user:   li      gp, 2
        li      a0, 6
        li      a1, 7
        mul     a0, a0, a1
        li      a1, WANTED
        bne     a0, a1, end
        la      a1, begin_signature
        sw      a0, 0(a1)
        li      gp, 0
end:    ecall
        .data
        .balign 64
        .globl  tohost, begin_signature, end_signature
tohost: .8byte  0
begin_signature: .4byte 0xdeadbeef, 0x12345678
end_signature:
