# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A strict section that cannot be undone stops the link: its calls, status 2, no output."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import REPOSITORY, Compilers

SECTION = """#include <tandem/tandem.h>
void note(int value);
static int counter;
TANDEM_ATOMIC_STRICT void count(void) { note(++counter); }
int main(void) {
  count();
  return counter - 1;
}
"""
PRINTING = '#include <stdio.h>\nvoid note(int value) { printf("%d\\n", value); }\n'
SILENT = "static int last;\nvoid note(int value) { last = value; }\n"
WORDS = ("-g", f"-I{REPOSITORY / 'include'}", "section.c", "note.c", "-o", "program")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "section.c").write_text(SECTION)
    return tmp_path


@pytest.mark.parametrize("enforcement", ["global-lock", "stm", "hybrid"])
def test_an_irrevocable_action_in_another_file_stops_the_link(
    compilers: Compilers, folder: Path, enforcement: str
) -> None:
    (folder / "note.c").write_text(PRINTING)
    result = compilers.cc(
        f"-ftandem-enforce={enforcement}",
        "-ftandem-report=r.json",
        *WORDS,
        folder=folder,
        check=False,
    )
    assert result.returncode == 2
    lines = [line for line in result.stderr.splitlines() if "strict" in line]
    assert len(lines) == 1
    assert lines[0].startswith(
        "section.c:4: error: strict atomic section 'count' reaches 'printf': "
    )
    steps = [step.split(" (")[0] for step in lines[0].split("': ")[1].split(" → ")]
    assert steps == ["count", "note", "printf"]
    assert not (folder / "program").exists()
    assert not (folder / "r.json").exists()


def test_a_section_that_can_be_undone_links_and_runs(compilers: Compilers, folder: Path) -> None:
    (folder / "note.c").write_text(SILENT)
    compilers.cc("-ftandem-enforce=global-lock", *WORDS, folder=folder)
    compilers.run([str(folder / "program")], folder=folder)


def test_without_threads_the_mark_asks_for_nothing(compilers: Compilers, folder: Path) -> None:
    (folder / "note.c").write_text(PRINTING)
    result = compilers.run(["gcc", "-DTANDEM_SEQUENTIAL", *WORDS], folder=folder)
    assert result.stderr == ""
    assert compilers.run([str(folder / "program")], folder=folder).stdout == "1\n"
