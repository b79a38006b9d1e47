# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sections that share memory by a hidden pointer, or that run where none seems to, are in conflict.

The programs of hidden_programs.py with seed 1, without running them: one link of each shows the
conflicts of its pairs. `scripts/verify hidden` runs them, under every enforcement, with more seeds.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from check import MODES, Checker, Setting, conflicting_pairs
from hidden_programs import CASES, Case

BUILD = Path(os.environ["TANDEM_BUILD"])


@pytest.mark.parametrize(
    ("case", "mode"),
    [(case, MODES[turn % 2]) for turn, case in enumerate(CASES)],
    ids=lambda x: str(x),
)
def test_pairs_conflict(case: Case, mode: str, tmp_path: Path) -> None:
    checker = Checker(BUILD, tmp_path)
    program = case.program
    _, report = checker.link(program, checker.compile(program), Setting("locks", mode))
    known = conflicting_pairs(report)
    assert known, "the report names no pair"
    assert [pair for number, pair in enumerate(program.pairs) if number not in known] == []
