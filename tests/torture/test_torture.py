# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A sample of gcc's test programs, each as one section (torture.py, make verify: all of them)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from torture import EXPECTED, HERE, WAYS, Outcome, fetch, programs, run_program

EVERY = 110  # of some 2,400 programs
# What went past the log once: lists of variable arguments.
ALWAYS = ("va-arg-11.c", "va-arg-14.c", "stdarg-1.c")


@pytest.fixture(scope="session")
def build() -> Path:
    told = os.environ.get("TANDEM_BUILD")
    if not told:
        pytest.fail("TANDEM_BUILD is not set; set it to a build folder, as ctest does")
    return Path(told).resolve()


def test_a_sample(build: Path) -> None:
    everything = programs(fetch())
    assert len(everything) > 2000
    sample = [
        path
        for number, path in enumerate(everything)
        if number % EVERY == EVERY // 2 or path.name in ALWAYS
    ]
    outcomes = [
        run_program(build, path, [WAYS[number % len(WAYS)]], "-O2")
        for number, path in enumerate(sample)
    ]
    failed = [one for one in outcomes if one.usable and not one.passed and one.name not in EXPECTED]
    assert failed == []
    assert sum(one.passed for one in outcomes) > len(sample) // 2


def run(build: Path, folder: Path, text: str) -> Outcome:
    program = folder / "own.c"
    program.write_text(text)
    return run_program(build, program, WAYS[:1], "-O1")


def test_what_fails_is_told(build: Path, tmp_path: Path) -> None:
    """A program that can tell that another thread is there, as section.c's is."""
    text = "#include <stdlib.h>\n"
    text += 'int main(void) { if (getenv("TANDEM_ALGORITHM")) abort(); exit(0); }\n'
    outcome = run(build, tmp_path, text)
    assert outcome.usable
    assert not outcome.passed
    assert "hybrid, auto, -O1: status -6" in outcome.told


def test_what_is_no_program_is_not_counted(build: Path, tmp_path: Path) -> None:
    assert not run(build, tmp_path, "int main(void) { return no; }\n").usable
    assert not run(build, tmp_path, "int main(void) { return 1; }\n").usable
    assert run(build, tmp_path, "int main(void) { return 0; }\n").passed
    assert (HERE / "section.c").exists()
