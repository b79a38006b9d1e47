# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Floating point against QEMU: every instruction, rounding mode and flag, on operands that hurt.

One program holds a loop for each instruction and mode; both machines run it and write results and
flags, which must be the same bytes. A difference names the operation with its operands.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tools import BARE, LONG, link, run

STATIC = ("rne", "rtz", "rdn", "rup", "rmm")
# Of one instruction in one mode, for each seed. Ten seeds of the long form are 10^7 operations.
COUNT = 4000 if LONG else 500
SEEDS = range(10) if LONG else range(1)

Array = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Operation:
    """An instruction with its operands in fa0, fa1, fa2 or a0; the result in fa3 or a1."""

    text: str
    single: bool
    to_integer: bool
    frm: int | None = None  # the dynamic mode, if that is what is tried


def operations() -> list[Operation]:
    found = []

    def rounds(text: str, single: bool, to_integer: bool = False) -> None:
        for mode in STATIC:
            found.append(Operation(f"{text}, {mode}", single, to_integer))
        for frm in range(5):
            found.append(Operation(f"{text}, dyn", single, to_integer, frm))

    for p in "sd":
        single = p == "s"
        for name in ("fadd", "fsub", "fmul", "fdiv"):
            rounds(f"{name}.{p} fa3, fa0, fa1", single)
        rounds(f"fsqrt.{p} fa3, fa0", single)
        for name in ("fmadd", "fmsub", "fnmsub", "fnmadd"):
            rounds(f"{name}.{p} fa3, fa0, fa1, fa2", single)
        for integer in ("w", "wu", "l", "lu"):
            rounds(f"fcvt.{integer}.{p} a1, fa0", single, True)
            if p == "d" and integer in ("w", "wu"):
                found.append(Operation(f"fcvt.d.{integer} fa3, a0", single, False))
            else:
                rounds(f"fcvt.{p}.{integer} fa3, a0", single)
        for name in ("fsgnj", "fsgnjn", "fsgnjx", "fmin", "fmax"):
            found.append(Operation(f"{name}.{p} fa3, fa0, fa1", single, False))
        for name in ("feq", "flt", "fle"):
            found.append(Operation(f"{name}.{p} a1, fa0, fa1", single, True))
        found.append(Operation(f"fclass.{p} a1, fa0", single, True))
    rounds("fcvt.s.d fa3, fa0", False)
    found += [
        Operation("fcvt.d.s fa3, fa0", True, False),
        Operation("fmv.x.w a1, fa0", True, True),
        Operation("fmv.x.d a1, fa0", False, True),
        Operation("fmv.w.x fa3, a0", True, False),
        Operation("fmv.d.x fa3, a0", False, False),
    ]
    return found


def floats(chosen: np.random.Generator, count: int, exponent: int, fraction: int) -> Array:
    """Bits of numbers: specials, few fraction bits (ties), near exponents, anything."""
    bias = (1 << (exponent - 1)) - 1
    top = 1 << fraction
    infinity = ((1 << exponent) - 1) << fraction
    specials = np.array(
        [0, 1, 2, top - 1, top, top + 1, infinity, infinity - 1, infinity - top]
        + [infinity + (top >> 1), infinity + 1, infinity + (top >> 1) + 5, infinity + top - 1]
        + [(bias + e) << fraction for e in (-1, 0, 1, 2, fraction, fraction + 1, 30, 31, 32)]
        + [((bias + e) << fraction) | (top - 1) for e in (-2, -1, 0, 30, 31)]
        + [((bias + min(e, bias)) << fraction) | 1 for e in (0, 31, 62, 63, 64)]
        + [((bias + e) << fraction) + (top >> 1) for e in (-1, 0, 1, 2, 3)],
        dtype=np.uint64,
    )
    signs = chosen.integers(0, 2, count, dtype=np.uint64) << np.uint64(exponent + fraction)
    anything = chosen.integers(0, 1 << (exponent + fraction), count, dtype=np.uint64)
    few = chosen.integers(0, 16, count, dtype=np.uint64) << np.uint64(fraction - 4)
    near_field = chosen.integers(bias - 3, bias + 4, count, dtype=np.uint64)
    near = (near_field << np.uint64(fraction)) | (anything & np.uint64(top - 1))
    ties = (near_field << np.uint64(fraction)) | few | chosen.integers(0, 2, count, dtype=np.uint64)
    wide_field = chosen.integers(bias - 70, bias + 71, count, dtype=np.uint64)
    wide = (wide_field << np.uint64(fraction)) | few
    tiny = anything & np.uint64((top << 1) - 1)
    small_field = chosen.integers(0, fraction + 3, count, dtype=np.uint64)
    small = (small_field << np.uint64(fraction)) | few
    kinds = [
        specials[chosen.integers(0, len(specials), count)],
        anything,
        near,
        ties,
        wide,
        tiny,
        small,
    ]
    which = chosen.integers(0, len(kinds), count)
    bits: Array = np.choose(which, kinds) | signs
    return bits


def operands(seed: int, single: bool) -> Array:
    """Rows of fa0, fa1, fa2, a0."""
    chosen = np.random.default_rng([seed, single])
    columns = []
    for _ in range(3):
        if single:
            bits = floats(chosen, COUNT, 8, 23) | np.uint64(0xFFFFFFFF << 32)
            # Some are not boxed.
            bits ^= (chosen.integers(0, 20, COUNT) == 0).astype(np.uint64) << np.uint64(63)
            columns.append(bits)
        else:
            columns.append(floats(chosen, COUNT, 11, 52))
    wide = chosen.integers(0, 1 << 64, COUNT, dtype=np.uint64)
    shift = chosen.integers(0, 64, COUNT, dtype=np.uint64)
    integers = wide >> shift
    near_power = (np.uint64(1) << shift) + chosen.integers(-2, 3, COUNT).astype(np.uint64)
    columns.append(np.where(chosen.integers(0, 2, COUNT) == 0, integers, near_power))
    negated = chosen.integers(0, 2, COUNT) == 0
    columns[3] = np.where(negated, ~columns[3] + np.uint64(1), columns[3])
    rows: Array = np.stack(columns, axis=1)
    return rows


def program(chosen: list[Operation], tables: dict[bool, Path]) -> str:
    """Writes, for each operation and row, 8 bytes of the result and 8 of the flags."""
    lines = [".globl _start", "_start:", "la s1, results"]
    for number, one in enumerate(chosen):
        store = "sd a1, 0(s1)" if one.to_integer else "fsd fa3, 0(s1)"
        lines += [
            f"la s0, {'singles' if one.single else 'doubles'}",
            f"li s2, {COUNT}",
            f"fsrmi {one.frm or 0}",
            f"loop{number}:",
            "fld fa0, 0(s0); fld fa1, 8(s0); fld fa2, 16(s0); ld a0, 24(s0)",
            "fsflags zero",
            one.text,
            store,
            "frflags a2; sd a2, 8(s1)",
            "addi s0, s0, 32; addi s1, s1, 16; addi s2, s2, -1",
            f"bnez s2, loop{number}",
        ]
    lines += [
        "li a0, 1; la a1, results; mv a2, s1; sub a2, a2, a1; li a7, 64; ecall",
        "li a0, 0; li a7, 93; ecall",
        ".data",
        ".balign 16",
        f'singles: .incbin "{tables[True]}"',
        f'doubles: .incbin "{tables[False]}"',
        ".bss",
        ".balign 16",
        f"results: .space {16 * COUNT * len(chosen)}",
    ]
    return "\n".join(lines) + "\n"


def describe(one: Operation, row: npt.NDArray[np.uint64], ours: Array, theirs: Array) -> str:
    values = " ".join(f"{int(x):016x}" for x in row)
    mode = "" if one.frm is None else f" frm={STATIC[one.frm]}"
    return (
        f"{one.text}{mode}: operands {values}: ours {int(ours[0]):016x} flags {int(ours[1]):02x}, "
        f"QEMU {int(theirs[0]):016x} flags {int(theirs[1]):02x}"
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_against_qemu(seed: int, tmp_path: Path) -> None:
    chosen = operations()
    rows = {single: operands(seed, single) for single in (True, False)}
    tables = {single: tmp_path / f"table{int(single)}" for single in rows}
    for single, path in tables.items():
        rows[single].tofile(path)
    elf = link(tmp_path, "float", program(chosen, tables))
    qemu = shutil.which("qemu-riscv64")
    assert qemu is not None, "no qemu-riscv64: scripts/setup installs it"
    shape = (len(chosen), COUNT, 2)
    theirs = np.frombuffer(run(qemu, elf), dtype=np.uint64).reshape(shape)
    output = run(BARE, "--way", "user", "--limit", "1000000000", elf)
    ours = np.frombuffer(output, dtype=np.uint64).reshape(shape)
    wrong = np.argwhere((ours != theirs).any(axis=2))
    told = [
        describe(chosen[op], rows[chosen[op].single][at], ours[op, at], theirs[op, at])
        for op, at in wrong[:10]
    ]
    assert len(wrong) == 0, f"seed {seed}: {len(wrong)} of {ours.size // 2}\n" + "\n".join(told)
    # The comparison saw every flag, NaNs and finite numbers.
    assert np.bitwise_or.reduce(theirs[:, :, 1].ravel()) == 31
