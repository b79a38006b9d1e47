# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transactions at the end of what there is: no memory for their logs, rows of restarts."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import GnuTm

PROGRAMS = Path(__file__).parent / "gnu_tm"
SPECULATIVE = ("auto", "eager", "lazy", "norec", "two-phase")
ROOMS = (0, 40_000, 300_000, 2_500_000)  # nothing, less than a log, some of them, most of them


@pytest.mark.parametrize("algorithm", SPECULATIVE)
def test_without_memory_a_section_runs_alone(gnu_tm: GnuTm, algorithm: str) -> None:
    program = gnu_tm.compile("without_memory", [PROGRAMS / "without_memory.c"])
    for kind in ("write", "read", "calls"):
        for room in ROOMS:
            outcome = gnu_tm.run(
                program,
                str(room),
                kind,
                algorithm=algorithm,
                environment={"TANDEM_HARDWARE": "off", "MALLOC_ARENA_MAX": "1"},
            )
            assert (outcome.status, outcome.output) == (0, "12\n"), (kind, room)


@pytest.mark.parametrize("backoff", ["random", "none"])
@pytest.mark.parametrize("algorithm", ["two-phase", "eager"])
def test_rows_of_restarts_end(gnu_tm: GnuTm, algorithm: str, backoff: str) -> None:
    program = gnu_tm.compile("long_rows", [PROGRAMS / "long_rows.c"])
    environment = {"TANDEM_BACKOFF": backoff, "TANDEM_SERIALISE_AFTER": "never"}
    assert gnu_tm.run(program, algorithm=algorithm, environment=environment).status == 0
