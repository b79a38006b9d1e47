# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite's programs, built once into the build tree under test (TANDEM_BUILD)."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tandem.experiment.host import has_rtm

REPOSITORY = Path(__file__).parents[2]
STAMP = REPOSITORY / "workloads" / "stamp"
ROWS = (
    "bayes",
    "genome",
    "intruder",
    "kmeans-high",
    "kmeans-low",
    "labyrinth",
    "ssca2",
    "vacation-high",
    "vacation-low",
    "yada",
)
PROGRAMS = (
    "sequential",
    "sequential-clang",
    "mutex",
    "mutex-tsan",
    "gnu-tm",
    "sets",
    "cc-global-lock",
    "cc-locks",
    "cc-stm",
    "cc-hybrid",
    "cc-htm",
    "cc-hybrid-malloc",
)


# What the runtime says once where hardware transactions are asked for and the processor has none.
NO_HARDWARE = (
    "libitm: note: hardware transactions are asked for; "
    "this processor has none, and runs as with auto\n"
)


@dataclass(frozen=True)
class Suite:
    """The built programs."""

    build: Path  # of Tandem
    work: Path

    def run(
        self,
        row: str,
        variant: str,
        threads: int,
        *,
        seed: int = 1,
        timeout_s: float = 120,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        command = [
            STAMP / "run.sh",
            self.work,
            self.build,
            row,
            variant,
            threads,
            "test",
        ]
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("TANDEM_", "ITM_"))}
        return subprocess.run(
            [str(x) for x in [*command, "--seed", seed]],
            env={**inherited, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def report(self, row: str, variant: str, threads: int, *, seed: int = 1) -> dict[str, Any]:
        """The report of a run, whose result must be right."""
        done = self.run(row, variant, threads, seed=seed)
        said = NO_HARDWARE if variant == "cc-htm" and not has_rtm() else ""
        assert (done.returncode, done.stderr) == (0, said), f"{row} {variant} ×{threads}"
        report: dict[str, Any] = json.loads(done.stdout)
        assert report["verified"] is True
        assert report["threads"] == threads
        assert report["sections"] > 0
        return report


@pytest.fixture(scope="session")
def suite() -> Suite:
    build = Path(os.environ["TANDEM_BUILD"]).resolve()
    work = build / "workloads" / "stamp"
    work.mkdir(parents=True, exist_ok=True)
    with (work / ".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            [
                "make",
                "--no-print-directory",
                f"-j{os.cpu_count()}",
                "-f",
                str(STAMP / "Makefile"),
                f"WORK={work}",
                f"TANDEM_CC={build}/bin/tandem-cc",
                f"VARIANTS={' '.join(PROGRAMS)}",
            ],
            env={k: v for k, v in os.environ.items() if not k.startswith(("TANDEM_", "MAKE"))},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "warning:" not in done.stderr
    return Suite(build, work)
