# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that gcc compiles with -fgnu-tm, run on the stock libitm and on ours, unchanged."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = Path(os.environ["TANDEM_BUILD"]) / "lib"
ALGORITHMS = ("auto", "serial", "eager", "lazy", "norec", "two-phase")
POLICIES = (
    "polite",
    "karma",
    "eruption",
    "kindergarten",
    "timestamp",
    "polka",
    "size-matters",
    "stall",
)
BACKOFFS = ("none", "linear", "exponential", "random")
SECONDS = 120  # a program that takes longer hangs


@dataclass(frozen=True)
class Outcome:
    """Exit status (negative: a signal) and both outputs together."""

    status: int
    output: str


class GnuTm:
    """Compiles into a folder of its own, and runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def compile(self, name: str, sources: Sequence[Path], options: Sequence[str] = ()) -> Path:
        program = self.folder / name
        if program.exists():
            return program
        compiler = "gcc" if sources[0].suffix == ".c" else "g++"
        command = [compiler, "-O2", "-w", "-fgnu-tm", "-pthread", *options]
        command += [*map(str, sources), "-o", str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return program

    def run(
        self,
        program: Path,
        *arguments: str,
        algorithm: str = "stock",
        environment: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Under one of ALGORITHMS on our library; `stock` is GCC's, as it is by default."""
        variables = dict(os.environ) | dict(environment or {})
        if algorithm != "stock":
            variables |= {"TANDEM_ALGORITHM": algorithm, "LD_LIBRARY_PATH": str(LIBRARY)}
        done = subprocess.run(
            [str(program), *arguments],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
        return Outcome(done.returncode, done.stdout)


@pytest.fixture(scope="session")
def gnu_tm(tmp_path_factory: pytest.TempPathFactory) -> GnuTm:
    # A library that a sanitizer instruments only runs in programs that it instruments too.
    symbols = subprocess.run(
        ["nm", "-D", str(LIBRARY / "libitm.so.1")], capture_output=True, text=True, check=True
    )
    for sanitizer in ("__asan_", "__tsan_", "__ubsan_"):
        if sanitizer in symbols.stdout:
            pytest.skip(
                f"libitm.so.1 is built with a sanitizer ({sanitizer}*); gcc's programs are not"
            )
    return GnuTm(tmp_path_factory.mktemp("gnu-tm"))
