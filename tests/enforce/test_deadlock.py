# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sections that would wait for each other for ever without the order of 0031: the program ends."""

from __future__ import annotations

import pytest
from conftest import ALGORITHMS, MODES, PROGRAMS, Compilers

ROUNDS = 120


@pytest.mark.parametrize("enforce", MODES)
def test_it_ends(compilers: Compilers, enforce: str) -> None:
    program = compilers.compile(
        PROGRAMS / "deadlock.cc", f"deadlock-{enforce}", enforce=enforce, level="-O2"
    )
    algorithms = ALGORITHMS if enforce in ("stm", "hybrid") else ("auto",)
    for threads in (2, 4, 8):
        for algorithm in algorithms:
            outcome = compilers.run(
                program, threads, ROUNDS, environment={"TANDEM_ALGORITHM": algorithm}
            )
            assert outcome.status == 0, f"{threads} threads, {algorithm}: {outcome}"
