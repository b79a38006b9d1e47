# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the tests of the compilers: the build under test (TANDEM_BUILD) and a way to run it."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PROJECTS = Path(__file__).parent / "projects"
REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Compilers:
    """The compilers of one build tree, called with an environment of their own."""

    folder: Path  # bin/
    environment: dict[str, str] = field(default_factory=dict)

    def with_environment(self, **variables: str) -> Compilers:
        return Compilers(self.folder, {**self.environment, **variables})

    def tool(self, name: str) -> str:
        return str(self.folder / f"tandem-{name}")

    def variables(self) -> dict[str, str]:
        """The environment of a build that uses the compilers for everything."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("TANDEM_", "MAKE"))}
        return {
            **inherited,
            "LC_ALL": "C",
            "CC": self.tool("cc"),
            "CXX": self.tool("c++"),
            "AR": self.tool("ar"),
            "RANLIB": self.tool("ranlib"),
            "NM": self.tool("nm"),
            **self.environment,
        }

    def run(
        self, command: list[str], folder: Path, *, check: bool = True, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs `command` in `folder`; with `check`, a failure fails the test with its output."""
        result = subprocess.run(
            command,
            cwd=folder,
            env=self.variables(),
            input=text,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        if check and result.returncode != 0:
            pytest.fail(f"{command} failed:\n{result.stdout[-4000:]}\n{result.stderr[-4000:]}")
        return result

    def cc(
        self, *words: str, folder: Path, check: bool = True, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        return self.run([self.tool("cc"), *words], folder, check=check, text=text)


@pytest.fixture(scope="session")
def compilers() -> Compilers:
    build = Path(os.environ.get("TANDEM_BUILD", REPOSITORY / "build" / "release")).resolve()
    for needed in ("bin/tandem-cc", "lib/tandem/TandemPass.so", "lib/tandem/TandemAttributes.so"):
        if not (build / needed).exists():
            pytest.exit(f"{build / needed} is missing: build first, or set TANDEM_BUILD", 2)
    return Compilers(build / "bin")


def copy_project(name: str, target: Path) -> Path:
    return Path(shutil.copytree(PROJECTS / name, target / name))
