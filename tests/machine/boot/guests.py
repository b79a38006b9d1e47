# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The guest of these tests, built by the cross compiler, and `tandem machine boot` on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MACHINE = Path(os.environ["TANDEM_BUILD"]) / "libexec" / "tandem-machine"
SOURCES = Path(__file__).resolve().parent / "guest"
LIMIT = "200M"  # no test comes near; one that hangs ends
TIMEOUT_S = 120


def program(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"no {name}: scripts/setup installs it"
    return found


def build(folder: Path) -> Path:
    elf = folder / "guest.elf"
    subprocess.run(
        [
            program("riscv64-linux-gnu-gcc"), "-march=rv64imafdc", "-mabi=lp64d", "-g",
            "-mcmodel=medany", "-O1", "-ffreestanding", "-fno-pic", "-nostdlib", "-static", "-Wall",
            "-Wextra", "-Werror", "-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments",
            f"-Wl,-T,{SOURCES / 'link.ld'}", "-o", elf, SOURCES / "start.S",
            *sorted(SOURCES.glob("*.c")),
        ],
        check=True,
    )  # fmt: skip
    return elf


@dataclass(frozen=True)
class Run:
    status: int
    console: str
    message: str
    result: dict[str, Any]


def command(guest: Path, *words: str | Path) -> list[str]:
    memory = [] if "--memory" in words else ["--memory", "64M"]
    return [str(MACHINE), "boot", "--kernel", str(guest), *memory, *map(str, words)]


def run(words: list[str], result: Path, given: str = "") -> Run:
    """With --json and a file as standard input; the console without its carriage returns."""
    result.unlink(missing_ok=True)
    typed = result.with_suffix(".typed")
    typed.write_text(given)
    with typed.open() as file:
        done = subprocess.run(
            [*words, "--json", str(result)],
            stdin=file,
            capture_output=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    return Run(
        done.returncode,
        done.stdout.decode().replace("\r", ""),
        done.stderr.decode(),
        json.loads(result.read_text()) if result.exists() else {},
    )


def boot(guest: Path, *words: str | Path, given: str = "") -> Run:
    limit = [] if "--limit" in words else ["--limit", LIMIT]
    return run([*command(guest, *words), *limit], guest.parent / "result.json", given)


def restored(saved: Path, guest: Path, *words: str) -> Run:
    """Goes on from a checkpoint; the guest is for its symbols."""
    own = [
        str(MACHINE),
        "boot",
        "--restore",
        str(saved),
        "--symbols",
        str(guest),
        *words,
    ]
    return run([*own, "--limit", LIMIT], guest.parent / "result.json")


def state(run: Run) -> tuple[Any, ...]:
    """All that decides how a machine goes on, and what it has counted."""
    names = ("instructions", "cycles", "memory_hash", "registers_hash", "console_bytes")
    return tuple(run.result[name] for name in names)
