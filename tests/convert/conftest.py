# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles programs with locks by the compilers of the build in TANDEM_BUILD, locks converted,
and runs them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parent / "programs"
RUN_SECONDS = 600.0  # of one run, which takes a second: what is longer hangs


@dataclass(frozen=True)
class Compiled:
    """What the driver said, and the program and the report if it made them."""

    status: int
    errors: str
    program: Path
    report: Path

    def sections(self, kind: str) -> list[Mapping[str, Any]]:
        """Sections of one kind, `lock-region` or `atomic`, as the report has them."""
        document = json.loads(self.report.read_text(encoding="utf-8"))
        locks = [x for x in document["sections"] if x["kind"] == "lock-region"]
        return (
            locks
            if kind == "lock-region"
            else [x for x in document["sections"] if x["kind"] != "lock-region"]
        )


@dataclass(frozen=True)
class Converter:
    """`build` is Tandem's; programs go to `folder`."""

    build: Path
    folder: Path

    def compile(self, source: Path, conversion: Path, *options: str) -> Compiled:
        """Compiles and links one file of C or C++; a warning of clang is an error."""
        compiled = Compiled(0, "", self.folder / source.stem, self.folder / f"{source.stem}.json")
        compiled.program.unlink(missing_ok=True)
        cxx = source.suffix == ".cc"
        command = [
            str(self.build / "bin" / ("tandem-c++" if cxx else "tandem-cc")),
            *(
                "-std=c++20" if cxx else "-std=gnu17",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-g",
                "-pthread",
                "-I",
                str(PROGRAMS),
            ),
            f"-ftandem-convert={conversion}",
            f"-ftandem-report={compiled.report}",
            *options,
            *(str(source), "-o", str(compiled.program)),
        ]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")}
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment,
            cwd=self.folder,
            check=False,
        )
        return Compiled(done.returncode, done.stderr, compiled.program, compiled.report)

    @staticmethod
    def run(program: Path, threads: int, algorithm: str, phase: str = "auto") -> tuple[int, str]:
        """Status and what it printed; status 124: not within its time. `phase`: TANDEM_HYBRID."""
        try:
            done = subprocess.run(
                [str(program), str(threads)],
                capture_output=True,
                text=True,
                env={
                    **os.environ,
                    "TANDEM_ALGORITHM": algorithm,
                    "TANDEM_HYBRID": phase,
                },
                timeout=RUN_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 124, "no end"
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def converter(tmp_path: Path) -> Converter:
    told = os.environ.get("TANDEM_BUILD")
    if not told:
        pytest.fail("TANDEM_BUILD is not set; set it to a build folder, as ctest does")
    return Converter(Path(told).resolve(), tmp_path)
