# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Where firmware starts harts: the first with a0 = hart, a1 = device tree; others with a1 = end of a stack.
        .section .text.start, "ax"
        .globl  _start
_start:
        la      sp, stack_end
        call    main
1:      j       1b

        .text
        .globl  start_other
start_other:
        mv      sp, a1
        call    other
1:      j       1b

        # Nothing there: a trap's handler that cannot be fetched.
        .globl  fall
fall:   li      t0, 64
        csrw    stvec, t0
        li      t0, 8
        .globl  touches_nothing
touches_nothing:
        sd      zero, 0(t0)
        ret

        .bss
        .balign 16
        .space  16384
stack_end:
