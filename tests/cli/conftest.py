# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the tests of the command line: the build under test (TANDEM_BUILD), ways to run it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent / "data"
CACHE = DATA / "cache"  # a program, and a report about it
REPOSITORY = Path(__file__).parents[2]
FORMATS = REPOSITORY / "docs" / "formats"


@dataclass(frozen=True)
class Tandem:
    """The program `tandem` of one build tree, called with an environment of its own."""

    build: Path
    environment: dict[str, str] = field(default_factory=dict)

    def with_environment(self, **variables: str) -> Tandem:
        return Tandem(self.build, {**self.environment, **variables})

    def variables(self) -> dict[str, str]:
        dropped = ("TANDEM_", "NO_COLOR", "COLUMNS", "TERM")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
        return {**inherited, "LC_ALL": "C", "TERM": "xterm", **self.environment}

    def run(
        self, *words: str | Path, folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.build / "bin" / "tandem"), *map(str, words)],
            cwd=folder,
            env=self.variables(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def output(self, *words: str | Path, folder: Path | None = None) -> str:
        """Standard output of a call that must succeed, and say nothing else."""
        result = self.run(*words, folder=folder)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    def mistake(self, *words: str | Path, folder: Path | None = None) -> str:
        """The one line that a call prints which must fail as the user's mistake."""
        result = self.run(*words, folder=folder)
        assert result.returncode == 2, result.stderr
        assert result.stdout == ""
        assert result.stderr.count("\n") == 1, result.stderr
        return result.stderr.rstrip("\n")

    def on_terminal(self, columns: int, *words: str | Path) -> str:
        """What a person sees on a terminal `columns` wide."""
        controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        child = subprocess.Popen(
            [str(self.build / "bin" / "tandem"), *map(str, words)],
            env=self.variables(),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        seen = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:  # Linux: the other end is closed
                break
            if not part:
                break
            seen += part
        os.close(controller)
        assert child.wait(timeout=300) == 0
        return seen.decode().replace("\r\n", "\n")


@pytest.fixture(scope="session")
def tandem() -> Tandem:
    build = Path(os.environ.get("TANDEM_BUILD", REPOSITORY / "build" / "release")).resolve()
    for needed in ("bin/tandem", "bin/tandem-cc", "libexec/tandem-analyze"):
        if not (build / needed).exists():
            pytest.exit(f"{build / needed} is missing: build first, or set TANDEM_BUILD", 2)
    return Tandem(build)


def golden(name: str) -> str:
    return (DATA / name).read_text()


def large_report(sections: int) -> dict[str, Any]:
    """As many sections as memcached has, and nearly all of them in conflict."""
    report: dict[str, Any] = json.loads((CACHE / "cache.json").read_text())
    names = [f"process_request_of_kind_{number}" for number in range(sections)]
    locations = [f"stats.counter_{number}" for number in range(60)]
    report["colours"] = [{"name": "A", "locations": locations}]
    report["shared"] = locations
    report["locations"] = report["lock_sites"] = report["findings"] = []
    report["sections"] = [
        {
            **report["sections"][0],
            "name": name,
            "line": number + 1,
            "class": ("hybrid", "non-revocable", "pure")[number % 3],
            "colours": ["A"],
            "locks": [],
            "reads": locations,
            "writes": locations,
            "accesses": [],
            "lock": {**report["sections"][0]["lock"], "names": [f"lock_{number % 23}"]},
            "conflicts": [
                {"with": other, "on": locations[number % 7 : 40]}
                for at, other in enumerate(names)
                if (at + number) % 5
            ],
        }
        for number, name in enumerate(names)
    ]
    return report
