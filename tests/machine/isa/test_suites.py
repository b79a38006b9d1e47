# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Suites of the architecture that are not packaged: programs below TANDEM_RISCV_TESTS.

A program with the symbol `tohost` starts in machine mode and ends by a 1 there; others run in
U-mode and end by exit(0). Where NAME.reference_output lies beside, the signature must equal it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tools import ARCH, BARE, CROSS, run

SUITE = os.environ.get("TANDEM_RISCV_TESTS", "")
HERE = Path(__file__).resolve().parent

# Tests of what the machine has not, by the part of their names, with the reason.
ABSENT = {
    "rv32": "a 32-bit machine",
    "uzfh": "no half precision",
    "uzb": "no bit manipulation",
    "uzicond": "no conditional zero",
    "uzvk": "no vector cryptography",
    "uv-": "no vectors",
    "ssvnapot": "no Svnapot",
    "mzicbo": "no cache-block operations",
    "mi-p-breakpoint": "no triggers",
    "mi-p-pmpaddr": "physical memory protection is kept and has no effect",
    "64h": "no hypervisor",
}


def elves(folder: str) -> list[Path]:
    if not folder:
        return []
    files = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
    riscv = []
    for path in files:
        with path.open("rb") as file:
            header = file.read(20)
        if header[:4] == b"\x7fELF" and header[18:20] == b"\xf3\x00":
            riscv.append(path)
    return riscv


def execute(program: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BARE), "--limit", "50000000", *more, str(program)],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def reason_to_leave_out(name: str) -> str | None:
    return next((why for part, why in ABSENT.items() if part in name), None)


@pytest.mark.skipif(not SUITE, reason="TANDEM_RISCV_TESTS names no folder with programs")
@pytest.mark.parametrize("program", elves(SUITE), ids=lambda path: path.name)
def test_program(program: Path) -> None:
    if why := reason_to_leave_out(program.name):
        pytest.skip(why)
    done = execute(program)
    assert done.returncode == 0, f"{program}: status {done.returncode} {done.stdout}{done.stderr}"
    reference = program.with_suffix(".reference_output")
    if reference.exists():
        assert execute(program, "--signature").stdout.split() == reference.read_text().split()


def test_there_is_something_to_run() -> None:
    if SUITE:
        assert elves(SUITE), f"{SUITE}: no program for RISC-V in there"


@pytest.mark.parametrize(("wanted", "status"), [(42, 0), (43, 2)])
def test_the_environment(wanted: int, status: int, tmp_path: Path) -> None:
    """What such programs do, in one of ours: it passes, and the case that fails is told."""
    elf = tmp_path / "environment"
    run(
        f"{CROSS}gcc", f"-march={ARCH}", "-mabi=lp64d", "-nostdlib", "-static", "-Wl,--no-relax",
        "-Wl,--build-id=none", "-Wl,-N", "-Wl,-Ttext=0x80000000", f"-DWANTED={wanted}", "-o", elf,
        HERE / "environment.S",
    )  # fmt: skip
    assert execute(elf).returncode == status
    kept = "0000002a" if status == 0 else "deadbeef"
    assert execute(elf, "--signature").stdout.split() == [kept, "12345678"]
