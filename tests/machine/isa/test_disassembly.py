# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our decoder and disassembler against binutils', for every class of words."""

from __future__ import annotations

import random
import re
import struct
from pathlib import Path

from tools import ARCH, BUILD, CROSS, ISA_TOOL, LONG, csrs, run

DOCS = Path(__file__).resolve().parents[3] / "docs" / "machine"

# What binutils 2.40 and the manual see differently; in each ours is the manual's.
DIFFERENCES = (
    # "Base implementations shall ignore these fields": rd, rs1, fm of FENCE; and those of FENCE.I.
    (re.compile(r"fence( .*)?|fence\.i"), re.compile(r"\.(4byte|insn).*")),
    # fence.tso is a FENCE with a mode that may be ignored.
    (re.compile(r"fence rw,rw"), re.compile(r"fence\.tso")),
    # Conversions that are exact have a field rm, which binutils wants to be 0.
    (re.compile(r"fcvt\.d\.(s|w|wu) .*"), re.compile(r"\.(4byte|insn).*")),
    # Rounding modes 5 and 6 are reserved; binutils decodes them.
    (re.compile(r"\.4byte .*"), re.compile(r"f\S+ .*,unknown")),
    # The immediate 0 is reserved. The N extension, to which uret belonged, never was ratified.
    (re.compile(r"\.2byte 0x6101"), re.compile(r"c\.addi16sp sp,0")),
    (re.compile(r"\.4byte 0x200073"), re.compile("uret")),
    # A word that is illegal whatever the machine has: it writes a read-only counter.
    (re.compile("csrrw zero,cycle,zero"), re.compile("unimp")),
    # Names of hints: C.NOP, and shifts by 0, which RV128 takes for shifts by 64.
    (re.compile(r"c\.nop.*"), re.compile(r"c\.addi zero,.*")),
    (re.compile(r"c\.(slli|srli|srai) .*,0x0"), re.compile(r"c\.(slli|srli|srai)64 .*")),
    # Transactions (Xtm) are ours: opcode custom-0, and registers in the ranges for custom ones.
    (
        re.compile(r"x(begin|end|abort|push|pop|test|drop)( .*)?"),
        re.compile(r"\.4byte 0x(.*[08])?b"),
    ),
    (
        re.compile(r"csrr\w+ \w+,stx(h|sp|limit|ctl|status),\w+"),
        re.compile(r"csrr\w+ \w+,0x(5c[0-3]|dc0),\w+"),
    ),
)


def objdump(folder: Path, name: str, words: bytes) -> list[str]:
    """The lines of binutils for words as code from address 0 on, each as if it stood at 0."""
    (folder / f"{name}.bin").write_bytes(words)
    source = folder / f"{name}.s"
    source.write_text(f'.option arch, rv64gc\n.text\n.incbin "{folder / name}.bin"\n')
    objects = folder / f"{name}.o"
    run(f"{CROSS}as", f"-march={ARCH}", "-o", objects, source)
    run(f"{CROSS}strip", "--strip-all", objects)
    text = run(f"{CROSS}objdump", "-d", "-z", "-M", "no-aliases", objects).decode()
    lines = []
    for line in text.splitlines():
        found = re.match(r"\s*([0-9a-f]+):\t[0-9a-f ]+\t(.*)", line)
        if found:
            lines.append(relative(found[2].split(" #")[0], int(found[1], 16)))
    return lines


def relative(text: str, address: int) -> str:
    """Our spelling: a blank, no symbol, targets as from address 0."""
    name, _, operands = text.strip().partition("\t")
    if re.fullmatch(r"(c\.)?(j|jal|b(eq|ne|lt|ge)[uz]?|beqz|bnez)", name):
        head, comma, target = operands.rpartition(",")
        value = (int(target.split()[0], 16) - address) & (2**64 - 1)
        operands = f"{head}{comma}0x{value:x}"
    return f"{name} {operands}".strip()


def compare(ours: list[str], theirs: list[str], words: list[int]) -> list[str]:
    assert len(ours) == len(theirs) == len(words)
    wrong = []
    unknown = re.compile(r"\.(2byte|4byte|insn|short|word)\b.*|unimp|c\.unimp")
    for word, our, their in zip(words, ours, theirs, strict=True):
        if our == their or (unknown.fullmatch(our) and unknown.fullmatch(their)):
            continue
        if any(a.fullmatch(our) and b.fullmatch(their) for a, b in DIFFERENCES):
            continue
        wrong.append(f"{word:08x}: ours {our!r}, binutils {their!r}")
    return wrong


def test_every_compressed_word(tmp_path: Path) -> None:
    words = [word for word in range(0x10000) if word & 3 != 3]
    ours = run(ISA_TOOL, "text", stdin=struct.pack(f"<{len(words)}I", *words)).decode()
    theirs = objdump(tmp_path, "c", struct.pack(f"<{len(words)}H", *words))
    assert compare(ours.splitlines(), theirs, words)[:20] == []


def word_classes(seed: int) -> list[int]:
    """Opcode, funct3, funct7 in all combinations; rs2 where it selects; the rest at random."""
    chosen = random.Random(seed)
    words = []
    for opcode in range(32):
        if opcode & 7 == 7:  # words longer than 32 bits
            continue
        for funct3 in range(8):
            for funct7 in range(128):
                for rs2 in (0, 1, 2, 3, 5, chosen.randrange(32)):
                    rd = chosen.choice((0, chosen.randrange(32)))
                    rs1 = chosen.choice((0, chosen.randrange(32)))
                    fields = funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7
                    words.append(fields | opcode << 2 | 3)
    return words


def nameless(word: int, known: set[int]) -> bool:
    """A CSR that the machine has not: binutils may know a name for it."""
    return word & 0x7F == 0x73 and word >> 12 & 3 != 0 and word >> 20 not in known


def test_every_class_of_words(tmp_path: Path) -> None:
    known = set(csrs().values())
    for seed in range(8 if LONG else 1):
        words = [word for word in word_classes(seed) if not nameless(word, known)]
        words += [number << 20 | 0x000525F3 | 1 << 12 for number in sorted(known)]
        packed = struct.pack(f"<{len(words)}I", *words)
        ours = run(ISA_TOOL, "text", stdin=packed).decode().splitlines()
        wrong = compare(ours, objdump(tmp_path, "w", packed), words)
        assert wrong[:20] == [], f"seed {seed}, {len(wrong)} words"


def test_long_words_are_illegal() -> None:
    words = [high << 5 | 31 for high in range(0, 1 << 27, 4099)]
    ours = run(ISA_TOOL, "text", stdin=struct.pack(f"<{len(words)}I", *words)).decode()
    assert all(line.startswith(".4byte") for line in ours.splitlines())


def test_the_page_is_the_table() -> None:
    page = (DOCS / "instructions.md").read_text(encoding="utf-8")
    assert page == run(ISA_TOOL, "page").decode(), (
        f"run: {(BUILD / 'tests/machine_isa_tool').name} page >docs/machine/instructions.md"
    )
