# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem analyze` on strict sections: what tandem-cc would refuse is an error here too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import REPOSITORY, Tandem

SECTION = """#include <stdio.h>
#include <tandem/tandem.h>
static int counter;
static void note(int value) { %s }
TANDEM_ATOMIC_STRICT void count(void) { note(++counter); }
int main(void) { count(); }
"""
FLAGS = ("--", f"-I{REPOSITORY / 'include'}")


def test_an_irrevocable_action_is_an_error(tandem: Tandem, tmp_path: Path) -> None:
    (tmp_path / "section.c").write_text(SECTION % 'printf("%d\\n", value);')
    result = tandem.run("analyze", "--json", "r.json", "section.c", *FLAGS, folder=tmp_path)
    assert result.returncode == 2
    assert "error: strict atomic section 'count' reaches 'printf'" in result.stdout
    findings = json.loads((tmp_path / "r.json").read_text())["findings"]
    (finding,) = [finding for finding in findings if finding["rule"] == "strict-atomicity"]
    assert finding["line"] == 5
    assert [(note["line"], note["message"]) for note in finding["notes"]] == [
        (5, "'count' calls 'note'"),
        (4, "'note' calls 'printf'"),
    ]


@pytest.mark.parametrize("words", [(), ("--section", "count")], ids=["table", "section"])
def test_a_section_that_can_be_undone_is_fine(
    tandem: Tandem, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "section.c").write_text(SECTION % "counter += value;")
    result = tandem.run("analyze", *words, "section.c", *FLAGS, folder=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
