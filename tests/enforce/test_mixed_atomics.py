# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic operations that a catalogue says need not be undone: none hides a conflict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import PROGRAMS, Compilers

CATALOGUE = """\
version = 1
[functions]
pure = ["interleave", "interleave_for_sure", "(atomic operation)"]
"""


@pytest.mark.parametrize("enforce", ["locks", "stm", "hybrid"])
@pytest.mark.parametrize("algorithm", ["eager", "lazy", "norec"])
def test_what_other_accesses_see(
    compilers: Compilers, tmp_path: Path, enforce: str, algorithm: str
) -> None:
    catalogue = tmp_path / "pure.toml"
    catalogue.write_text(CATALOGUE, encoding="utf-8")
    report = tmp_path / "report.json"
    program = compilers.compile(
        PROGRAMS / "mixed_atomics.c",
        f"mixed-atomics-{enforce}-{algorithm}",
        enforce=enforce,
        level="-O2",
        flags=(f"-ftandem-catalogue={catalogue}", f"-ftandem-report={report}"),
    )
    sections = {x["name"]: x for x in json.loads(report.read_text())["sections"]}
    assert [x["callee"] for x in sections["take"]["irrevocable"]] == ["(atomic operation)"]
    assert sections["count"]["irrevocable"] == sections["difference"]["irrevocable"] == []
    outcome = compilers.run(program, 3000, environment={"TANDEM_ALGORITHM": algorithm})
    assert outcome.status == 0, outcome
