# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Entry points, and how a piece of code is run until its trap.
        .section .machine, "ax"
        # Only QEMU comes here: it starts in machine mode. Everything is delegated.
        .globl  machine_start
machine_start:
        la      t0, machine_trap
        csrw    mtvec, t0
        li      t0, 0xb3ff
        csrw    medeleg, t0
        li      t0, 0x222
        csrw    mideleg, t0
        li      t0, 7
        csrw    mcounteren, t0
        li      t0, 1 << 63
        csrw    0x30a, t0               # menvcfg.STCE
        li      t0, -1
        csrw    pmpaddr0, t0
        li      t0, 0x1f
        csrw    pmpcfg0, t0
        li      t0, 3 << 11
        csrc    mstatus, t0
        li      t0, 1 << 11
        csrs    mstatus, t0
        la      t0, _start
        csrw    mepc, t0
        li      a0, 0
        mret
        .balign 4
machine_trap:                           # nothing here should come to machine mode
        li      t0, 0x100000
        li      t1, 0x633333
        sw      t1, 0(t0)
1:      j       1b

        .text
        .globl  _start
_start:
        csrw    satp, zero
        csrw    sie, zero
        la      sp, stack_end
        la      t0, trap_entry
        csrw    stvec, t0
        call    main
        li      t0, 0x100000
        li      t1, 0x5555
        sw      t1, 0(t0)
1:      j       1b

        # void enter(struct run *run): goes to run->pc with run->status as sstatus and a0 to a3, and
        # comes back at the next trap, with what it was.
        .globl  enter
enter:
        addi    sp, sp, -112
        sd      ra, 0(sp)
        sd      s0, 8(sp)
        sd      s1, 16(sp)
        sd      s2, 24(sp)
        sd      s3, 32(sp)
        sd      s4, 40(sp)
        sd      s5, 48(sp)
        sd      s6, 56(sp)
        sd      s7, 64(sp)
        sd      s8, 72(sp)
        sd      s9, 80(sp)
        sd      s10, 88(sp)
        sd      s11, 96(sp)
        sd      a0, 104(sp)
        csrw    sscratch, sp
        ld      t0, 0(a0)
        csrw    sepc, t0
        ld      t1, 8(a0)
        csrw    sstatus, t1
        ld      a1, 24(a0)
        ld      a2, 32(a0)
        ld      a3, 40(a0)
        ld      a0, 16(a0)
        sret

        .balign 256
        .globl  trap_entry
trap_entry:                             # base, and the vectors of interrupts
        j       common
        .rept   15
        j       vector
        .endr
vector: csrrw   sp, sscratch, sp
        ld      t0, 104(sp)
        li      t1, 1
        j       save
common: csrrw   sp, sscratch, sp
        ld      t0, 104(sp)
        li      t1, 0
save:   sd      t1, 112(t0)             # by a vector
        sd      a0, 16(t0)
        sd      a1, 24(t0)
        sd      a2, 32(t0)
        sd      a3, 40(t0)
        csrr    t1, scause
        sd      t1, 48(t0)
        csrr    t1, stval
        sd      t1, 56(t0)
        csrr    t1, sepc
        sd      t1, 64(t0)
        csrr    t1, sstatus
        sd      t1, 72(t0)
        csrr    t1, sip
        sd      t1, 80(t0)
        ld      ra, 0(sp)
        ld      s0, 8(sp)
        ld      s1, 16(sp)
        ld      s2, 24(sp)
        ld      s3, 32(sp)
        ld      s4, 40(sp)
        ld      s5, 48(sp)
        ld      s6, 56(sp)
        ld      s7, 64(sp)
        ld      s8, 72(sp)
        ld      s9, 80(sp)
        ld      s10, 88(sp)
        ld      s11, 96(sp)
        addi    sp, sp, 112
        ret

        .bss
        .balign 16
        .space  16384
stack_end:
