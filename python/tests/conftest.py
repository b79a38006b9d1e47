# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the experiment harness share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).parent
Harness = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    """Runs `tandem experiment …` as its users do; `env` adds to the environment."""

    def call(
        *arguments: str | Path, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tandem.experiment", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "MPLCONFIGDIR": str(tmp_path / "mpl"), **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return call


@pytest.fixture
def tiny(harness: Harness, tmp_path: Path) -> Harness:
    """Runs the tiny experiment into tmp_path/tiny.json."""

    def call(
        *arguments: str | Path, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return harness(
            "run",
            HERE / "tiny.toml",
            "--source",
            HERE.parent,
            "--published",
            HERE / "published.toml",
            "--results",
            tmp_path,
            "--no-plots",
            *arguments,
            env=env,
        )

    return call
