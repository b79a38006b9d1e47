# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's tests on the harts of the simulated machine; all of them with TANDEM_LONG."""

from __future__ import annotations

import os
import re
import shutil

import pytest
from harts import ALGORITHMS, GNU_TM, UNIT, Harts, Program, opacity

LONG = os.environ.get("TANDEM_LONG", "") != ""
pytestmark = pytest.mark.skipif(
    shutil.which("riscv64-linux-gnu-g++") is None,
    reason="the cross compiler is not installed: scripts/setup cross",
)
PROTOCOL = ("-p", "mesi-snoop", "--tx-limit", "16")


@pytest.fixture(scope="session")
def harts(tmp_path_factory: pytest.TempPathFactory) -> Harts:
    return Harts(tmp_path_factory.mktemp("harts"))


def names(cases: list[tuple[Program, str]]) -> list[str]:
    return [f"{program.name}-{algorithm}" for program, algorithm in cases]


def check(harts: Harts, program: Program, algorithm: str, *words: str) -> str:
    outcome = harts.run(program, algorithm, *words)
    assert outcome.status == 0, outcome.output
    return outcome.output


OF_GCC = [(x, a) for x in GNU_TM for a in ALGORITHMS
          if LONG or a in ("norec", "htm") or (x.name, a) == ("privatise", "serial")]  # fmt: skip


@pytest.mark.parametrize(("program", "algorithm"), OF_GCC, ids=names(OF_GCC))
def test_programs_of_gcc(harts: Harts, program: Program, algorithm: str) -> None:
    check(harts, program, algorithm)


# Where hardware transactions meet each other and software, by the cycle.
TIMED = [(x, a) for x in GNU_TM for a in (ALGORITHMS if LONG else ("htm",)) if LONG or x.name in (
    "exceptions", "nesting", "opaque", "privatise")]  # fmt: skip


@pytest.mark.parametrize(("program", "algorithm"), TIMED, ids=names(TIMED))
def test_programs_of_gcc_with_time(harts: Harts, program: Program, algorithm: str) -> None:
    check(harts, program, algorithm, *PROTOCOL)


# Recorded histories, checked for opacity.
@pytest.mark.parametrize("words", [(), PROTOCOL], ids=["untimed", "timed"])
@pytest.mark.parametrize("algorithm", ALGORITHMS if LONG else ["htm"])
def test_histories(harts: Harts, algorithm: str, words: tuple[str, ...]) -> None:
    check(harts, opacity(1, 10), algorithm, *words)


if LONG:
    UNITS = [(x, a) for x in UNIT for a in x.algorithms]

    @pytest.mark.parametrize("words", [(), PROTOCOL], ids=["untimed", "timed"])
    @pytest.mark.parametrize(("program", "algorithm"), UNITS, ids=names(UNITS))
    def test_units(harts: Harts, program: Program, algorithm: str, words: tuple[str, ...]) -> None:
        printed = check(harts, program, algorithm, *words)
        # With a filter that nothing passes GoogleTest ends well, too.
        assert re.search(r"\[  PASSED  \] [1-9]", printed), printed
