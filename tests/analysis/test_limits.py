# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program that is too large for a part of the analysis: that is said wherever results are."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["TANDEM_BUILD"])
INCLUDE = Path(__file__).parent.parent.parent / "include"
SENTENCE = "less precise: the program is too large for points-to by inclusion"


def program(objects: int) -> str:
    """Objects of as many sizes, all of which flow through as many variables, one after another:
    what inclusion hands on is the square of their number.
    """
    lines = [
        "#include <tandem/tandem.h>",
        "#include <pthread.h>",
        "#include <stdlib.h>",
    ]
    lines += [f"static char object_{i}[{i + 1}];" for i in range(objects)]
    lines += [f"static char *way_{i};" for i in range(objects)]
    lines.append("static void start(int which) { switch (which) {")
    lines += [f"case {i}: way_0 = object_{i}; break;" for i in range(objects)]
    lines.append("} }\nstatic void go(void) {")
    lines += [f"way_{i} = way_{i - 1};" for i in range(1, objects)]
    lines.append("}")
    lines.append(f"static TANDEM_ATOMIC void set(void) {{ *way_{objects - 1} = 1; }}")
    lines.append("static TANDEM_ATOMIC int get(void) { return object_0[0]; }")
    lines.append("static void *run(void *unused) { set(); get(); return unused; }")
    lines.append(
        "int main(int count, char **words) { (void)words; start(count); go(); pthread_t other;"
        " pthread_create(&other, NULL, run, NULL); run(NULL); return pthread_join(other, NULL); }"
    )
    return "\n".join(lines) + "\n"


def analyse(folder: Path, text: str, *words: str) -> str:
    source = folder / "large.c"
    source.write_text(text, encoding="utf-8")
    own = {name: value for name, value in os.environ.items() if not name.startswith("TANDEM_")}
    tandem = [str(BUILD / "bin" / "tandem"), "analyze", *words, str(source)]
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [*tandem, "--", "-std=gnu17", "-pthread", "-I", str(INCLUDE)],
        env=own,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.mark.parametrize(("objects", "limits"), [(100, []), (13000, ["inclusion"])])
def test_inclusion(objects: int, limits: list[str], tmp_path: Path) -> None:
    report, page = tmp_path / "large.json", tmp_path / "large.html"
    table = analyse(tmp_path, program(objects), "--json", str(report), "--html", str(page), "--all")
    document = json.loads(report.read_text(encoding="utf-8"))
    assert document["analysis"].get("limits", []) == limits
    names = {section["name"]: section for section in document["sections"]}
    assert "get" in {conflict["with"] for conflict in names["set"]["conflicts"]}
    assert (SENTENCE in " ".join(table.split())) == bool(limits)
    # Read again, it says the same; so does the page.
    again = subprocess.run(
        [BUILD / "bin" / "tandem", "analyze", report],
        check=True,
        capture_output=True,
        text=True,
    )
    assert (SENTENCE in " ".join(again.stdout.split())) == bool(limits)
    assert ("too large for points-to by inclusion" in page.read_text(encoding="utf-8")) == bool(
        limits
    )
