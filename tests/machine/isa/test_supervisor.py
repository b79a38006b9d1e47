# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The directed suite of supervisor mode: our harts and QEMU print the same."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tools import ARCH, BARE, CROSS, run

SUITE = Path(__file__).resolve().parent / "supervisor"
CPU = "rv64,h=false,zba=false,zbb=false,zbc=false,zbs=false"


# Where QEMU 7.2 and the manual differ: the name, what ours prints, the manual's words.
DIFFERENCES = (
    # "Store/AMO address misaligned"; an SC checks its address first.
    (re.compile(r"atomic [2-7] 6 0 0"), "misaligned AMO and SC"),
    (re.compile(r"atomic [2-7] 7 0 0"), "AMO and SC where nothing is"),
    # "If accessing pte violates a PMA or PMP check, raise an access-fault exception".
    (re.compile(r"no table (0 5|1 7|2 1) 40400000"), "a table where nothing is"),
    # Of a store that faults in its second half nothing may be written that we could avoid.
    (re.compile(r"second nowhere 1{16} 2{16}"), "stores that fault write nothing"),
    (re.compile(r"second nowhere 3 0 4 1111 40003ff[9a-e] 100 0"), "what was there is read"),
    # Registers in the ranges for custom ones.
    (re.compile(r"access (5c[0-3]|dc0) .*"), "transactions are ours"),
)


def link(folder: Path, entry: str) -> Path:
    elf = folder / entry
    run(
        f"{CROSS}gcc", f"-march={ARCH}", "-mabi=lp64d", "-mcmodel=medany", "-O1", "-ffreestanding",
        "-fno-pic", "-nostdlib", "-static", "-Wall", "-Wl,--build-id=none",
        "-Wl,--no-warn-rwx-segments",
        f"-Wl,-T,{SUITE / 'link.ld'}", f"-Wl,-e,{entry}", "-o", elf, SUITE / "start.S",
        *sorted(SUITE.glob("*.c")),
    )  # fmt: skip
    return elf


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return link(tmp_path_factory.mktemp("supervisor"), "_start")


def qemu(elf: Path) -> str:
    program = shutil.which("qemu-system-riscv64")
    assert program is not None, "no qemu-system-riscv64: scripts/setup installs it"
    done = subprocess.run(
        [program, "-M", "virt", "-cpu", CPU, "-m", "64M", "-bios", "none", "-kernel", str(elf),
         "-display", "none", "-serial", "stdio", "-monitor", "none", "-icount", "shift=0"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stderr, done.stdout[-300:])
    return done.stdout


def ours(elf: Path, *more: str) -> list[str]:
    return run(BARE, "--limit", "200000000", *more, elf).decode().splitlines()


def test_against_qemu(program: Path) -> None:
    mine = ours(program)
    theirs = qemu(program).replace("\r", "").splitlines()
    wrong = [
        f"line {number}: ours {our!r}, QEMU {their!r}"
        for number, (our, their) in enumerate(itertools.zip_longest(mine, theirs))
        if our != their and not any(rule.fullmatch(our or "") for rule, _ in DIFFERENCES)
    ]
    assert wrong[:40] == [], f"{len(wrong)} of {len(theirs)} lines"
    assert theirs[-1] == "end"
    assert len(theirs) > 6000
    for rule, why in DIFFERENCES:  # each still is one
        assert any(rule.fullmatch(line) for line in mine), why


def test_machine_mode_changes_nothing(program: Path, tmp_path: Path) -> None:
    """Started in machine mode, which delegates everything, the suite sees the same machine."""
    assert ours(link(tmp_path, "machine_start"), "--way", "machine") == ours(program)
