# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites C by the tandem of the build in TANDEM_BUILD, compiles it by stock gcc, runs it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
RUN_SECONDS = 60.0  # of one run; the slowest seen took 1 s


@dataclass(frozen=True)
class Rewriter:
    """`build` is Tandem's; files go to `folder`."""

    build: Path
    folder: Path

    def rewrite(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")}
        return subprocess.run(
            [str(self.build / "bin" / "tandem"), "rewrite", *map(str, words)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def text(self, *words: str | Path) -> str:
        """Standard output of a call that must succeed."""
        done = self.rewrite(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def mistake(self, *words: str | Path) -> str:
        """The one line of a call that must fail as a user's mistake and write nothing."""
        done = self.rewrite(*words)
        lines = done.stderr.splitlines()
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert lines[-1].startswith("tandem rewrite: ")
        return lines[-1].removeprefix("tandem rewrite: ")

    def write(self, name: str, text: str) -> str:
        """A source in the folder, by its name there."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return name

    def compile(
        self, name: str, *words: str | Path, compiler: str = "gcc", transactions: bool = True
    ) -> Path:
        """The program of stock `compiler`, without Tandem's headers. A warning is an error."""
        program = self.folder / name
        command = [
            compiler,
            *("-std=gnu17", "-pthread", "-Wall", "-Wextra", "-Werror"),
            *(["-fgnu-tm"] if transactions else []),
            *map(str, words),
            *("-o", str(program), "-lm"),
        ]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
        return program

    def run(
        self,
        program: Path,
        *arguments: object,
        environment: Mapping[str, str] | None = None,
        answers: str = "",
    ) -> str:
        """What it prints; it must end well and in time."""
        done = subprocess.run(
            [str(program), *map(str, arguments)],
            cwd=self.folder,
            input=answers,
            capture_output=True,
            text=True,
            env={**os.environ, **(environment or {})},
            timeout=RUN_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{program} {arguments}: {done.returncode} {done.stderr}"
        return done.stdout


@pytest.fixture(scope="session")
def build() -> Path:
    told = os.environ.get("TANDEM_BUILD")
    if not told:
        pytest.fail("TANDEM_BUILD is not set; set it to a build folder, as ctest does")
    return Path(told).resolve()


@pytest.fixture
def rewriter(build: Path, tmp_path: Path) -> Rewriter:
    return Rewriter(build, tmp_path)
