# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of every unprivileged instruction, as words from the table.

A program is a list of bodies. Each loads all registers from a table of random values, runs random
instructions that can neither leave it nor touch memory outside a window, and writes all registers.
Four registers are never written: sp, s0 and t5 point into the window, t6 is for the frame.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from pathlib import Path

from tools import ISA_TOOL, Row, link, run

POINTERS = (2, 8, 30)
KEPT = (*POINTERS, 31)
WINDOW = 8192
NOP = 0x00000013
CSR_NUMBERS = {"fflags": 1, "frm": 2, "fcsr": 3}
# What would leave the program, or is told by the machine and not by the architecture.
OURS = "xtm"  # transactions: no other machine has them
LEFT_OUT = {"ecall", "ebreak", "c.ebreak", "sret", "mret", "wfi", "sfence.vma"}


@dataclass
class Piece:
    """Words that stay together; a branch among them goes to the piece `skip` further on."""

    words: list[int]
    name: str
    skip: int = 0

    @property
    def size(self) -> int:
        return sum(4 if word & 3 == 3 else 2 for word in self.words)


@dataclass
class Body:
    values: list[int]  # x1 to x31, then f0 to f31
    pieces: list[Piece] = field(default_factory=list)


def bits(word: int, high: int, low: int) -> int:
    return word >> low & ((1 << (high - low + 1)) - 1)


def put(word: int, low: int, width: int, value: int) -> int:
    mask = ((1 << width) - 1) << low
    return (word & ~mask) | (value << low & mask)


def branch(word: int, offset: int) -> int:
    word = put(word, 31, 1, offset >> 12)
    word = put(word, 7, 1, offset >> 11)
    word = put(word, 25, 6, offset >> 5)
    return put(word, 8, 4, offset >> 1)


def jump(word: int, offset: int) -> int:
    word = put(word, 31, 1, offset >> 20)
    word = put(word, 12, 8, offset >> 12)
    word = put(word, 20, 1, offset >> 11)
    return put(word, 21, 10, offset >> 1)


def c_jump(word: int, offset: int) -> int:
    places = {11: 12, 4: 11, 9: 10, 8: 9, 10: 8, 6: 7, 7: 6, 3: 5, 2: 4, 1: 3, 5: 2}
    for bit, place in places.items():
        word = put(word, place, 1, offset >> bit)
    return word


def c_branch(word: int, offset: int) -> int:
    places = {8: 12, 4: 11, 3: 10, 7: 6, 6: 5, 2: 4, 1: 3, 5: 2}
    for bit, place in places.items():
        word = put(word, place, 1, offset >> bit)
    return word


class Generator:
    def __init__(self, rows: list[Row], seed: int) -> None:
        self.rows = [
            row
            for row in rows
            if row.name not in (*LEFT_OUT, "c.addi16sp") and row.extension != OURS
        ]
        self.random = random.Random(seed)

    def free(self) -> int:
        """A register that may be written."""
        return self.random.choice([x for x in range(32) if x not in KEPT])

    def value(self) -> int:
        r = self.random
        special = (0, 1, 2**64 - 1, 2**63, 2**63 - 1, 2**31, 2**31 - 1, 2**32 - 1)
        return r.choice(
            (r.choice(special), r.getrandbits(64), r.getrandbits(64) >> r.randrange(64))
        )

    def float_value(self) -> int:
        r = self.random
        twice = struct.unpack("<Q", struct.pack("<d", r.uniform(-100, 100)))[0]
        single = struct.unpack("<I", struct.pack("<f", r.uniform(-100, 100)))[0]
        return int(r.choice((twice, single | 0xFFFFFFFF << 32, r.getrandbits(64))))

    def body(self, length: int) -> Body:
        values = [self.value() for _ in range(31)] + [self.float_value() for _ in range(32)]
        pieces: list[Piece] = []
        # Every row in turn, then at random.
        order = self.rows + [self.random.choice(self.rows) for _ in range(length)]
        self.random.shuffle(order)
        for row in order[:length]:
            pieces.append(self.piece(row))
        return Body(values, pieces)

    def piece(self, row: Row) -> Piece:
        while True:
            word = row.match | self.random.getrandbits(32) & ~row.mask
            word &= 0xFFFF if row.compressed else 0xFFFFFFFF
            made = self.compressed(row, word) if row.compressed else self.full(row, word)
            if made is not None:
                return made

    def full(self, row: Row, word: int) -> Piece | None:
        r = self.random
        name = row.name
        if row.constraint == "rounding" and bits(word, 14, 12) in (5, 6):
            return None
        skip = r.randrange(1, 8)
        match row.format:
            case "b":
                return Piece([branch(word, 0)], name, skip)
            case "j":
                return Piece([jump(put(word, 7, 5, self.free()), 0)], name, skip)
            case "jalr":
                # auipc of itself gives the place; the distance is put in when all is laid out.
                base = r.choice([x for x in range(1, 32) if x not in KEPT])
                word = put(put(word, 7, 5, self.free()), 15, 5, base)
                return Piece([0x17 | base << 7, word], name, skip)
            case "load" | "float_load" | "store" | "float_store" | "lr" | "amo":
                word = put(word, 15, 5, r.choice(POINTERS))
            case "csr":
                word = put(word, 20, 12, CSR_NUMBERS["fflags"])
            case "csri":
                number = r.choice(list(CSR_NUMBERS.values()))
                word = put(word, 20, 12, number)
                if number == CSR_NUMBERS["frm"]:  # never a reserved mode
                    modes = range(5) if name == "csrrwi" else range(1)
                    word = put(word, 15, 5, r.choice(modes))
        no_rd = ("b", "store", "float_store", "fence", "plain", "sfence")
        writes_f = row.format.startswith(("float_r", "float_load", "int_to_float"))
        writes_x = row.format not in no_rd and not writes_f
        if writes_x:
            word = put(word, 7, 5, self.free())
        if name.startswith("lr."):  # with its SC, so that it succeeds or fails alike everywhere
            conditional = put(word, 27, 5, 3)
            conditional = put(put(conditional, 20, 5, r.randrange(32)), 7, 5, self.free())
            return Piece([word, conditional], name)
        return Piece([word], name)

    def compressed(self, row: Row, word: int) -> Piece | None:
        skip = self.random.randrange(1, 8)
        rd = bits(word, 11, 7)
        low = 8 + bits(word, 4, 2)
        high = 8 + bits(word, 9, 7)
        match row.format:
            case "cj":
                return Piece([c_jump(word, 0)], row.name, skip)
            case "cb":
                return Piece([c_branch(word, 0)], row.name, skip)
            case "cr_jr" | "cr_jalr":
                if rd == 0 or rd in KEPT:
                    return None
                add = 0x13 | rd << 7 | rd << 15
                return Piece([0x17 | rd << 7, add, word], row.name, skip)
            case "ciw":
                return None if low in KEPT or bits(word, 12, 5) == 0 else Piece([word], row.name)
            case "cl_w" | "cl_d" | "cl_fd" | "cs_w" | "cs_d" | "cs_fd":
                word = put(word, 7, 3, 0)  # s0
                loads_x = row.format in ("cl_w", "cl_d")
                return None if loads_x and low in KEPT else Piece([word], row.name)
            case "css_w" | "css_d" | "css_fd" | "c_plain" | "ci_fdsp" | "ci_nop":
                return Piece([word], row.name)
            case "cb_shift" | "cb_andi" | "ca":
                return None if high in KEPT else Piece([word], row.name)
            case _:
                immediate = bits(word, 12, 12) << 5 | bits(word, 6, 2)
                bad = (
                    (row.constraint == "rd" and rd == 0)
                    or (row.constraint == "imm_not_sp" and (immediate == 0 or rd == 2))
                    or (row.constraint == "rs2" and bits(word, 6, 2) == 0)
                )
                return None if bad or rd in KEPT else Piece([word], row.name)


def stack(immediate: int) -> int:
    """c.addi16sp sp, immediate."""
    places = {9: 12, 8: 4, 7: 3, 6: 5, 5: 2, 4: 6}
    word = 0x6101
    for bit, place in places.items():
        word = put(word, place, 1, immediate >> bit)
    return word


def lay_out(body: Body) -> list[tuple[int, str]]:
    """The words with their directives; distances of branches filled in."""
    starts = [0]
    for piece in body.pieces:
        starts.append(starts[-1] + piece.size)
    out: list[tuple[int, str]] = []
    for index, piece in enumerate(body.pieces):
        words = list(piece.words)
        if piece.skip:
            target = starts[min(index + piece.skip, len(body.pieces))]
            distance = target - starts[index]
            last = words[-1]
            if len(words) == 3:
                words[1] = put(words[1], 20, 12, distance)
            elif len(words) == 2:
                words[1] = put(last, 20, 12, distance)
            elif last & 3 != 3:
                words[0] = (c_jump if last >> 13 & 3 == 1 else c_branch)(last, distance)
            else:
                words[0] = (jump if last & 0x7F == 0x6F else branch)(last, distance)
        out += [(word, ".4byte" if word & 3 == 3 else ".2byte") for word in words]
    return out


FRAME = 8 * (31 + 32 + 1)  # bytes that a body writes


def assembly(bodies: list[Body], window_seed: int) -> str:
    lines = [".globl _start", ".option norelax", "_start:"]
    for number, body in enumerate(bodies):
        lines.append(f"lla t6, values{number}")
        lines += [f"fld f{f}, {8 * (31 + f)}(t6)" for f in range(32)]
        lines += [f"ld x{x}, {8 * (x - 1)}(t6)" for x in range(1, 31) if x not in POINTERS]
        lines += ["lla sp, window + 2048", "lla s0, window + 4096", "lla t5, window + 6080"]
        lines.append("fscsr zero")
        lines += [f"{kind} 0x{word:x}" for word, kind in lay_out(body)]
        # sp, moved and back.
        lines += [f".2byte 0x{stack(value):x}" for value in (-16, 496, -480)]
        lines.append(f"lla t6, results + {FRAME * number}")
        lines += [f"sd x{x}, {8 * (x - 1)}(t6)" for x in range(1, 31)]
        lines += [f"fsd f{f}, {8 * (31 + f)}(t6)" for f in range(32)]
        lines.append("frcsr a0; sd a0, 504(t6)")
    lines += [
        "li a0, 1; lla a1, results; lla a2, end; sub a2, a2, a1; li a7, 64; ecall",
        "li a0, 0; li a7, 93; ecall",
        ".data",
        ".balign 8",
    ]
    for number, body in enumerate(bodies):
        values = ", ".join(f"0x{value:x}" for value in body.values)
        lines.append(f"values{number}: .8byte {values}")
    chosen = random.Random(window_seed)
    words = ", ".join(f"0x{chosen.getrandbits(64):x}" for _ in range(WINDOW // 8))
    lines += [
        ".balign 4096",
        f"results: .space {FRAME * len(bodies)}",
        ".balign 64",
        f"window: .8byte {words}",
        "end:",
    ]
    return "\n".join(lines) + "\n"


def build(folder: Path, name: str, bodies: list[Body], seed: int) -> Path:
    return link(folder, name, assembly(bodies, seed))


def listing(body: Body) -> str:
    """The instructions of a body that are not taken out."""
    words = [word for word, _ in lay_out(body) if word != NOP]
    return run(ISA_TOOL, "text", stdin=struct.pack(f"<{len(words)}I", *words)).decode()
