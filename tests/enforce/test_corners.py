# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Corners of C and C++ that a transformation gets wrong first, one program each."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import MODES, PROGRAMS, Compilers

CORNERS = sorted((PROGRAMS / "corners").iterdir())


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("enforce", MODES)
@pytest.mark.parametrize("source", CORNERS, ids=[source.name for source in CORNERS])
def test_corner(compilers: Compilers, source: Path, enforce: str, level: str) -> None:
    name = f"{source.name}-{enforce}{level}"
    program = compilers.compile(source, name, enforce=enforce, level=level)
    outcome = compilers.run(program, environment={"TANDEM_ALGORITHM": "eager"})
    assert outcome.status == 0, outcome.output
