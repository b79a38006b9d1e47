# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles programs by the compilers of the build in TANDEM_BUILD, and runs them."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
# Of the runtime: in place with an undo log, written back at commit, validated by value, serial.
ALGORITHMS = ("eager", "lazy", "norec", "two-phase", "serial")
MODES = ("global-lock", "locks", "stm", "hybrid", "htm")
RUN_SECONDS = 60.0  # of one run; the slowest seen took 2 s


@dataclass(frozen=True)
class Outcome:
    """How a program ended; status 124: not within its time."""

    status: int
    output: str


def call(command: list[str]) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


@dataclass(frozen=True)
class Compilers:
    """`build` is Tandem's; programs go to `folder`."""

    build: Path
    folder: Path
    interleave: Path  # the object of interleave.c

    def compile(
        self, source: Path, name: str, *, enforce: str, level: str, flags: tuple[str, ...] = ()
    ) -> Path:
        """The program. A warning of clang is an error. What enforces is decided at the link: the
        object is made once for all ways."""
        compiler = self.build / "bin" / ("tandem-c++" if source.suffix == ".cc" else "tandem-cc")
        common = [
            str(compiler),
            *(["-std=c++20"] if source.suffix == ".cc" else ["-std=gnu17"]),
            *("-Wall", "-Wextra", "-Werror", "-Wno-unused-command-line-argument", level),
            *("-g", "-pthread", "-I", str(PROGRAMS)),
            f"-ftandem-enforce={enforce}",
            f"-ftandem-catalogue={PROGRAMS / 'interleave.toml'}",
            *flags,
        ]
        marked = "none" if enforce == "none" else "sections"
        told = repr((source.read_bytes(), level, flags, marked))
        key = hashlib.sha256(told.encode()).hexdigest()[:16]
        made = self.folder / f"{source.name}-{key}.o"
        if not made.exists():
            call([*common, "-c", str(source), "-o", str(made)])
        program = self.folder / name
        call([*common, str(made), str(self.interleave), "-o", str(program)])
        return program

    @staticmethod
    def run(
        program: Path,
        *arguments: object,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = RUN_SECONDS,
    ) -> Outcome:
        """Runs a program with variables besides this process's own."""
        try:
            done = subprocess.run(
                [str(program), *map(str, arguments)],
                capture_output=True,
                text=True,
                errors="replace",
                env={**os.environ, **(environment or {})},
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Outcome(124, "no end")
        return Outcome(done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="session")
def compilers(tmp_path_factory: pytest.TempPathFactory) -> Compilers:
    told = os.environ.get("TANDEM_BUILD")
    if not told:
        pytest.fail("TANDEM_BUILD is not set; set it to a build folder, as ctest does")
    folder = tmp_path_factory.mktemp("enforce")
    interleave = folder / "interleave.o"
    source = PROGRAMS / "interleave.c"
    subprocess.run(["gcc", "-O2", "-fPIC", "-c", str(source), "-o", str(interleave)], check=True)
    return Compilers(Path(told).resolve(), folder, interleave)
