# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bugs that mutants.py puts into the engine are about the engine as it is now."""

from __future__ import annotations

import pytest
from conftest import ROOT
from engine_bugs import BUGS
from mutants import ATTEMPTS, PARTS, UNIT


@pytest.mark.parametrize("name", BUGS)
def test_what_a_bug_replaces_is_there_once(name: str) -> None:
    bug = BUGS[name]
    text = (ROOT / "src/runtime" / bug.file).read_text(encoding="utf-8")
    assert text.count(bug.old) == 1
    assert bug.new != bug.old


def test_the_engines_own_tests_are_where_the_bugs_look_for_them() -> None:
    assert ATTEMPTS > 0
    for sources in UNIT.values():
        for source in sources:
            assert (ROOT / "src/runtime" / source).is_file()
    assert {binary for binary, *_ in PARTS.values()} <= UNIT.keys()
