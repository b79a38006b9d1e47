# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the documents have agreed to be: short where readers begin, whole where they look up."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

SOURCE = Path(os.environ["TANDEM_SOURCE"])
DOCS = SOURCE / "docs"


def text(name: str) -> str:
    return (SOURCE / name).read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    """What stands below the heading, to the next one of its level."""
    return page.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def rows(page: str) -> list[list[str]]:
    """The cells of every table's rows, without heads."""
    lines = [x for x in page.splitlines() if x.startswith("|")]
    heads = {i - 1 for i, x in enumerate(lines) if re.fullmatch(r"[|: -]+", x)}
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for i, line in enumerate(lines)
        if i not in heads and not re.fullmatch(r"[|: -]+", line)
    ]


def test_readme_is_short() -> None:
    page = text("README.md")
    assert len(page.splitlines()) <= 150
    assert len(rows(section(page, "Measured"))) <= 10
    assert section(page, "Limits").count("\n- ") <= 6
    assert "docs/limits.md" in page
    assert "docs/measured.md" in page


def test_every_figure_has_its_command_machine_and_commit() -> None:
    figures = [row for row in rows(text("docs/measured.md")) if len(row) == 7]
    assert 10 <= len(figures) <= 30
    machines = {row[0] for row in rows(text("docs/measured.md")) if len(row) == 2}
    for what, command, *_, machine, commit in figures:
        assert machine in machines, what
        assert re.fullmatch(r"[0-9a-f]{7,40}", commit), what
        if command == "the same":
            continue
        match = re.fullmatch(r"`(?:time )?(tandem \w+|bench/run) ?.*`", command)
        assert match, f"{what}: {command}"


def test_benches_that_are_named_exist() -> None:
    for name in re.findall(r"`bench/run ([\w ]+)`", text("docs/measured.md")):
        for bench in name.split():
            assert (SOURCE / "bench" / bench).is_dir(), bench


def test_a_term_stands_once_in_the_glossary() -> None:
    terms = [row[0] for row in rows(text("docs/glossary.md"))]
    assert len(terms) > 50
    assert sorted(terms) == sorted(set(terms))
    assert all(len(row) == 3 and row[1] for row in rows(text("docs/glossary.md")))


@pytest.mark.parametrize("folder", ["docs", "docs/start", "docs/machine"])
def test_the_map_leads_to_every_page(folder: str) -> None:
    page = text("docs/README.md")
    linked = {(DOCS / x).resolve() for x in re.findall(r"\]\(([^)#]+)", page)}
    pages = {x.resolve() for x in (SOURCE / folder).glob("*.md")} - {(DOCS / "README.md").resolve()}
    assert not {x.name for x in pages - linked}


# What a page that tells history says. Design notes may.
HISTORY = re.compile(
    r"half an hour (?:later|before)|\bsince \[?00\d\d|\bbefore \[?00\d\d|\bsince then\b"
    r"|\bon another day\b|\bused to be\b|\bup to now\b",
    re.I,
)


def test_pages_tell_no_history() -> None:
    pages = [SOURCE / "README.md", *(x for x in DOCS.rglob("*.md") if "design" not in x.parts)]
    found = [
        f"{page.relative_to(SOURCE)}: {match[0]}"
        for page in pages
        for match in HISTORY.finditer(page.read_text(encoding="utf-8"))
    ]
    assert not found
