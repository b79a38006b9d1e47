# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the instruction set share: our programs, the cross tools, the table."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

BUILD = Path(os.environ["TANDEM_BUILD"])
ISA_TOOL = BUILD / "tests" / "machine_isa_tool"
BARE = BUILD / "tests" / "machine_bare"
CROSS = "riscv64-linux-gnu-"
ARCH = "rv64imafdc_zicsr_zifencei"
# The long form of a test, which scripts/verify runs.
LONG = os.environ.get("TANDEM_LONG") == "1"


def run(*command: str | Path, stdin: bytes = b"", timeout: int = 600) -> bytes:
    """Standard output; the test fails with standard error if the status is not 0."""
    done = subprocess.run(
        [str(x) for x in command], input=stdin, capture_output=True, check=False, timeout=timeout
    )
    assert done.returncode == 0, (command[0], done.returncode, done.stderr[-2000:])
    return done.stdout


@dataclass(frozen=True)
class Row:
    """A row of instructions.def, in its words."""

    name: str
    match: int
    mask: int
    format: str
    constraint: str
    extension: str
    access: str

    @property
    def compressed(self) -> bool:
        return self.match & 3 != 3


def table() -> list[Row]:
    rows = []
    for line in run(ISA_TOOL, "table").decode().splitlines():
        name, match, mask, *words = line.split()
        rows.append(Row(name, int(match, 16), int(mask, 16), *words))
    return rows


def csrs() -> dict[str, int]:
    lines = run(ISA_TOOL, "csrs").decode().splitlines()
    return {line.split()[0]: int(line.split()[1], 16) for line in lines}


def link(folder: Path, name: str, assembly: str, address: int = 0x11000, *more: str) -> Path:
    """A static program from assembly, its text at `address`."""
    source = folder / f"{name}.S"
    source.write_text(assembly, encoding="ascii")
    program = folder / name
    run(
        f"{CROSS}gcc",
        f"-march={ARCH}",
        "-mabi=lp64d",
        "-nostdlib",
        "-static",
        "-Wl,--no-relax",
        "-Wl,--build-id=none",
        f"-Wl,-Ttext=0x{address:x}",
        *more,
        "-o",
        program,
        source,
    )
    return program
