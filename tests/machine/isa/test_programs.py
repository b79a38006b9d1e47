# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of every unprivileged instruction against QEMU; what fails is shrunk."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import FRAME, NOP, Body, Generator, Piece, build, listing
from tools import BARE, LONG, run, table

BODIES = 12
LENGTH = 300
SEEDS = range(150) if LONG else range(3)


def outputs(folder: Path, bodies: list[Body], seed: int) -> tuple[bytes, bytes]:
    """What ours and QEMU's write."""
    qemu = shutil.which("qemu-riscv64")
    assert qemu is not None, "no qemu-riscv64: scripts/setup installs it"
    elf = build(folder, "program", bodies, seed)
    return run(BARE, "--way", "user", "--limit", "1000000", elf), run(qemu, elf)


def shrink(body: Body, fails: Callable[[Body], bool]) -> Body:
    """Takes instructions out as long as the rest still fails."""
    size = len(body.pieces)
    while size >= 1:
        at = 0
        while at < len(body.pieces):
            smaller = copy.deepcopy(body)
            for index in range(at, min(at + size, len(body.pieces))):
                old = smaller.pieces[index]
                smaller.pieces[index] = Piece([NOP] * (old.size // 4), old.name)
            if smaller.pieces != body.pieces and fails(smaller):
                body = smaller
            at += size
        size //= 2
    return body


def explain(folder: Path, bodies: list[Body], seed: int, ours: bytes, theirs: bytes) -> str:
    wrong = next(i for i in range(len(theirs)) if ours[i : i + 1] != theirs[i : i + 1])
    number = min(wrong // FRAME, len(bodies) - 1)
    before = bodies[:number]

    def fails(body: Body) -> bool:
        mine, other = outputs(folder, [*before, body], seed)
        return mine != other

    small = shrink(bodies[number], fails)
    ours, theirs = outputs(folder, [*before, small], seed)
    places = [
        f"register slot {at // 8 % (FRAME // 8)} of body {at // FRAME}: "
        f"ours {ours[at : at + 8][::-1].hex()}, QEMU {theirs[at : at + 8][::-1].hex()}"
        for at in range(0, len(theirs), 8)
        if ours[at : at + 8] != theirs[at : at + 8]
    ]
    return f"seed {seed}, body {number}:\n{listing(small)}" + "\n".join(places[:8])


@pytest.mark.parametrize("seed", SEEDS)
def test_against_qemu(seed: int, tmp_path: Path) -> None:
    rows = table()
    generator = Generator(rows, seed)
    bodies = [generator.body(LENGTH) for _ in range(BODIES)]
    tried = {piece.name for body in bodies for piece in body.pieces}
    missing = {row.name for row in generator.rows} - tried
    assert missing == set()
    ours, theirs = outputs(tmp_path, bodies, seed)
    if ours != theirs:
        pytest.fail(explain(tmp_path, bodies, seed, ours, theirs))
    assert len(theirs) > FRAME * BODIES
