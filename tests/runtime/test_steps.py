# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a short transaction executes, instruction by instruction: where there is no profile nothing
of it, and no general path of begin and commit."""

from __future__ import annotations

import bisect
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from conftest import LIBRARY, GnuTm

PROGRAM = Path(__file__).parent / "gnu_tm" / "steps.c"


def functions() -> tuple[list[int], list[str]]:
    """The library's, by their addresses."""
    done = subprocess.run(
        ["nm", "-C", "--defined-only", str(LIBRARY / "libitm.so.1")],
        capture_output=True,
        text=True,
        check=True,
    )
    symbols = (line.split(maxsplit=2) for line in done.stdout.splitlines())
    code = sorted((int(place, 16), name) for place, kind, name in symbols if kind in "tTwW")
    return [place for place, _ in code], [name for _, name in code]


def executed(gnu_tm: GnuTm, algorithm: str, **environment: str) -> Counter[str]:
    """Instructions of one transaction, by function."""
    program = gnu_tm.compile("steps", [PROGRAM])
    # A processor undoes its own transactions at each single step.
    software = {"TANDEM_HARDWARE": "off"}
    outcome = gnu_tm.run(program, algorithm=algorithm, environment=software | environment)
    assert outcome.status == 0, outcome.output
    places, names = functions()
    found: Counter[str] = Counter()
    for line in outcome.output.splitlines():
        found[names[bisect.bisect_right(places, int(line, 16)) - 1]] += 1
    return found


def of_the_profile(steps: Counter[str]) -> list[str]:
    return [name for name in steps if "tandem::profile::" in name]


@pytest.mark.parametrize("algorithm", ["auto", "eager", "lazy", "norec", "two-phase"])
def test_a_profile_that_is_off_executes_nothing(
    gnu_tm: GnuTm, tmp_path: Path, algorithm: str
) -> None:
    off = executed(gnu_tm, algorithm)
    on = executed(gnu_tm, algorithm, TANDEM_PROFILE=str(tmp_path / "profile.json"))
    assert off.total() > 20
    assert of_the_profile(off) == []
    assert of_the_profile(on) != []
    assert off.total() < on.total()


@pytest.mark.parametrize("algorithm", ["auto", "norec", "eager", "two-phase"])
def test_a_short_transaction_takes_the_short_paths(gnu_tm: GnuTm, algorithm: str) -> None:
    steps = executed(gnu_tm, algorithm)
    assert not [name for name in steps if "commit_fully" in name or "begin_otherwise" in name]
    hourglass = executed(gnu_tm, algorithm, TANDEM_HOURGLASS="3")
    assert [name for name in hourglass if "begin_otherwise" in name]
