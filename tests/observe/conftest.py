# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds programs that check their own analysis, by the build in TANDEM_BUILD, and runs them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
ENFORCE = ROOT / "tests" / "enforce" / "programs"
MISS_STATUS = 86
RUN_SECONDS = 120.0  # of one run; the slowest seen took 3 s


@dataclass(frozen=True)
class Run:
    """What one run told. `needed`: effects without which it would have failed."""

    status: int
    output: str
    misses: list[str]
    needed: list[str]
    ran: int
    sections: int


@dataclass(frozen=True)
class Checker:
    build: Path
    folder: Path

    def compile(
        self, source: Path, *, mode: str, flags: tuple[str, ...] = (), drop: str = ""
    ) -> Path:
        cxx = source.suffix == ".cc"
        program = self.folder / f"{source.name}-{mode}"
        command = [
            str(self.build / "bin" / ("tandem-c++" if cxx else "tandem-cc")),
            *(["-std=c++20"] if cxx else ["-std=gnu17"]),
            *("-O1", "-g", "-pthread", "-ftandem-check-effects=1", f"-ftandem-points-to={mode}"),
            *(*flags, str(source), "-o", str(program)),
        ]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")}
        if drop:
            environment["TANDEM_CHECK_EFFECTS_DROP"] = drop
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
        return program

    def run(
        self, program: Path, *arguments: object, environment: Mapping[str, str] | None = None
    ) -> Run:
        record = self.folder / f"{program.name}.record"
        record.unlink(missing_ok=True)
        done = subprocess.run(
            [str(program), *map(str, arguments)],
            input="1 2 3\n",
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, **(environment or {}), "TANDEM_OBSERVE": str(record)},
            timeout=RUN_SECONDS,
            check=False,
        )
        lines = record.read_text(encoding="utf-8").splitlines()
        summary = next(x.split() for x in lines if x.startswith("summary "))
        return Run(
            done.returncode,
            done.stdout + done.stderr,
            [x for x in lines if x.startswith("miss ")],
            [x.removeprefix("needed ") for x in lines if x.startswith("needed ")],
            int(summary[summary.index("ran") + 1]),
            int(summary[summary.index("sections") + 1]),
        )


@pytest.fixture(scope="session")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    told = os.environ.get("TANDEM_BUILD")
    if not told:
        pytest.fail("TANDEM_BUILD is not set; set it to a build folder, as ctest does")
    return Checker(Path(told).resolve(), tmp_path_factory.mktemp("observe"))


@pytest.fixture(scope="session")
def interleave(checker: Checker) -> Path:
    output = checker.folder / "interleave.o"
    source = ENFORCE / "interleave.c"
    subprocess.run(["gcc", "-O2", "-c", str(source), "-o", str(output)], check=True)
    return output
