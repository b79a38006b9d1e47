# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of README and docs/start do what the pages say; and what runs them can fail."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from pages import agrees, run, steps

SOURCE = Path(os.environ["TANDEM_SOURCE"])
BUILD = Path(os.environ["TANDEM_BUILD"])
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs/start").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda x: x.name)
def test_a_pages_commands_do_what_it_says(page: Path) -> None:
    findings = run(page.read_text(encoding="utf-8"), SOURCE, BUILD)
    assert not findings, "\n\n".join(findings)


def test_the_picture_shows_the_sections_of_today(tmp_path: Path) -> None:
    """README's command for the picture, as it stands, draws the sections that the picture has."""
    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    command = re.search(r"^cd workloads/apache && (tandem .*--svg )graph\.svg( .*)$", readme, re.M)
    assert command is not None
    drawn = tmp_path / "graph.svg"
    done = subprocess.run(
        ["bash", "-c", f"{command[1]}{drawn}{command[2]}"],
        cwd=SOURCE / "workloads/apache",
        env=os.environ | {"PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    names = [
        set(re.findall(r"<text[^>]*>([^<]+)<", path.read_text(encoding="utf-8")))
        for path in (drawn, SOURCE / "docs/images/conflicts.svg")
    ]
    assert len(names[0]) > 5
    assert names[0] == names[1]


def test_the_pages_have_commands() -> None:
    with_commands = {page.name for page in PAGES if steps(page.read_text(encoding="utf-8"))}
    assert {"README.md", "locks.md", "transactions.md", "machine.md"} <= with_commands


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ("```console\n$ echo a\na\n$ false\n$ echo $?\n1\n```\n", 0),
        ("```console\n$ echo a\nb\n```\n", 1),
        ("```console\n$ false\n```\n", 1),
        ("```console\n$ echo unexpected\n```\n", 1),
        ("```console\n$ exit 0\n$ echo a\na\n```\n", 1),
        ("```c\n// a.c\nint x;\n```\n```console\n$ cat a.c\n// a.c\nint x;\n```\n", 0),
        ("```c\n// a.c\nx\n```\n```diff\n--- a.c\n+++ a.c\n@@ -1,2 +1,2 @@\n // a.c\n-x\n+y\n```\n"
         "```console\n$ tail -1 a.c\ny\n```\n", 0),
        ("```console\n$ echo a \\\n    b\na b\n```\n", 0),
        ("<!-- numbers vary -->\n```console\n$ echo '1,234 ns  is 5.6 %'\n9 ms is 7 %\n```\n", 0),
        ("<!-- numbers vary -->\n```console\n$ echo 'x 5'\ny 5\n```\n", 1),
        ("<!-- output varies -->\n```console\n$ echo x\ny\n```\n", 0),
        ("<!-- output varies -->\n```console\n$ true\ny\n```\n", 1),
    ],
)  # fmt: skip
def test_what_runs_pages_sees_what_is_wrong(page: str, wrong: int) -> None:
    findings = run(page, SOURCE, BUILD)
    assert (len(findings) > 0) == (wrong > 0), findings


def test_any_lines() -> None:
    assert agrees("a\n...\nd", "a\nb\nc\nd\n", "")
    assert agrees("a\n...", "a\n", "")
    assert not agrees("a\n...\nd", "a\nb\n", "")
