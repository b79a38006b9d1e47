# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The oracle: what sections of a generated program are seen to share when it runs.

The program records its own accesses (record.h); nothing of Tandem takes part.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from generator import Program

__all__ = ["MODES", "Clash", "clashes", "edges", "execute", "misses", "shrink"]

FOLDER = Path(__file__).parent
INCLUDE = FOLDER.parent.parent / "include"
FLAGS = (
    "-std=gnu17",
    "-g",
    "-pthread",
    "-Wno-self-assign",
    "-I",
    str(INCLUDE),
    "-I",
    str(FOLDER),
)
MODES = ("insensitive", "sensitive")
INPUTS = (1, 2, 3)
RUN_SECONDS = 30.0  # the slowest seen took 0.1 s


@dataclass(frozen=True)
class Clash:
    """A byte that two sections touched in different threads, one of them writing."""

    sections: tuple[int, int]  # ascending; maybe the same twice
    lines: tuple[int, int]  # of the accesses

    def __str__(self) -> str:
        return f"sections {self.sections[0]} and {self.sections[1]}, lines {self.lines}"


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")}


def _run(command: Sequence[object], folder: Path) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(words)}: status {done.returncode}\n{done.stderr}"
    return done.stdout


def execute(source: Path) -> list[str]:
    """The records of all inputs; a line between two inputs is empty."""
    program = source.with_suffix("")
    command = ["clang-19", *FLAGS, "-O0", "-DRECORD", "-DTANDEM_SEQUENTIAL"]
    _run([*command, source, "-o", program], source.parent)
    records = []
    for number in INPUTS:
        records += [*_run([program, number], source.parent).splitlines(), ""]
    return records


def clashes(records: Iterable[str]) -> dict[tuple[int, int], Clash]:
    """Every pair of sections that clash, with an example."""
    found: dict[tuple[int, int], Clash] = {}
    # By byte: section, thread and whether it writes, with a line.
    bytes_: dict[int, dict[tuple[int, int, bool], int]] = defaultdict(dict)
    for record in records:
        if not record:
            bytes_.clear()
            continue
        section, thread, address, size, how, line = record.split()
        access = (int(section), int(thread), how == "w")
        for byte in range(int(address), int(address) + int(size)):
            seen = bytes_[byte]
            if access in seen:
                continue
            seen[access] = int(line)
            for (other, its_thread, writes), its_line in seen.items():
                if its_thread != access[1] and (writes or access[2]):
                    pair = (min(other, access[0]), max(other, access[0]))
                    found.setdefault(pair, Clash(pair, (its_line, int(line))))
    return found


def edges(build: Path, source: Path, mode: str) -> set[tuple[int, int]]:
    """The pairs of sections, by number, that the report has as conflicts."""
    report = source.with_suffix(f".{mode}.json")
    command = [
        build / "bin" / "tandem",
        "analyze",
        "--points-to",
        mode,
        "--json",
        report,
        source,
    ]
    _run([*command, "--", *FLAGS], source.parent)
    found = set()
    for section in json.loads(report.read_text(encoding="utf-8"))["sections"]:
        for conflict in section["conflicts"]:
            a, b = (_number(name) for name in (section["name"], conflict["with"]))
            found.add((min(a, b), max(a, b)))
    return found


def _number(name: str) -> int:
    match = re.fullmatch(r"(?:marked|block|region)_(\d+)(?:_\d+)?", name)
    assert match, f"the report has a section {name} that the program has not"
    return int(match[1])


def misses(
    build: Path,
    program: Program,
    folder: Path,
    mode: str,
    without: Collection[int] = (),
) -> list[Clash]:
    """What was observed and is not in the report."""
    source = folder / f"generated{program.seed}.c"
    source.write_text(program.render(without), encoding="utf-8")
    known = edges(build, source, mode)
    return [clash for pair, clash in clashes(execute(source)).items() if pair not in known]


def shrink(build: Path, program: Program, folder: Path, mode: str) -> tuple[list[Clash], Path]:
    """A part of the program that still misses something, no statement of which can be left out, and
    what it misses.
    """
    without: set[int] = set()
    size = program.statements
    while size >= 1:
        kept = [x for x in range(program.statements) if x not in without]
        for begin in range(0, len(kept), size):
            attempt = without | set(kept[begin : begin + size])
            if misses(build, program, folder, mode, attempt):
                without = attempt
        size //= 2
    return misses(build, program, folder, mode, without), folder / f"generated{program.seed}.c"
