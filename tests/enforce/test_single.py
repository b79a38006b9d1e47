# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sections that are one instruction, in a profile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import PROGRAMS, Compilers


@pytest.mark.parametrize("enforce", ["stm", "hybrid"])
def test_a_profile_counts_them(compilers: Compilers, tmp_path: Path, enforce: str) -> None:
    report = tmp_path / "report.json"
    program = compilers.compile(
        PROGRAMS / "single.c",
        f"single-{enforce}",
        enforce=enforce,
        level="-O2",
        flags=(f"-ftandem-report={report}",),
    )
    assert json.loads(report.read_text())["instrumentation"]["atomics"] == 1
    path = tmp_path / "profile.json"
    outcome = compilers.run(
        program, 3, 1000, environment={"TANDEM_PROFILE": str(path), "TANDEM_PROFILE_PERIOD": "1"}
    )
    assert outcome.status == 0, outcome
    (section,) = json.loads(path.read_text())["sections"]
    assert (section["name"], section["starts"], section["commits"]) == ("one", 3000, 3000)
    assert section["aborts"] == []
    assert section["unfinished"] == 0
    assert compilers.run(program, 3, 1000, environment={"TANDEM_PROFILE": ""}).status == 0
