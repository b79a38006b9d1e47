# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two dozen random C programs with sections (csmith.py: half an hour of them).

`TANDEM_SEED=N` makes others; csmith.py takes random ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from csmith import Result, check, run, source_of

ASKED = os.environ.get("TANDEM_SEED")
SEED = int(ASKED) if ASKED else 1
PROGRAMS = 24


@pytest.fixture(scope="session")
def build() -> Path:
    told = os.environ.get("TANDEM_BUILD")
    if not told:
        pytest.fail("TANDEM_BUILD is not set; set it to a build folder, as ctest does")
    return Path(told).resolve()


def test_checksums_and_counters(build: Path, tmp_path: Path) -> None:
    print(f"seeds from {SEED} on")
    result: Result = run(build, tmp_path, SEED, jobs=1, most=PROGRAMS)
    assert result.failures == (), f"TANDEM_SEED={SEED}"
    print(f"{result.passed} passed, {result.unusable} not used")


def test_a_known_program(build: Path, tmp_path: Path) -> None:
    """One that plain clang runs, so that something is compared each time."""
    assert check(build, tmp_path, 3) is None


def test_functions_are_marked() -> None:
    text = source_of(3)
    assert text.count("ATOMIC static") >= 2
    assert text.count("    tandem_count();\n") >= 2
    assert text.count("tandem_begin();") == 1
    assert text.count("tandem_end();") == 1
