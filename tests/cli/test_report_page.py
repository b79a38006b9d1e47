# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of `tandem report --html`: what it says first, and in which order."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

BUILD = Path(os.environ["TANDEM_BUILD"])
NOTHING = {"counts": [], "sum": 0, "max": 0}
RETRIED = {"cause": "retries", "count": 2, "stack": []}


def section(name: str, commits: int, time_ns: int, **fields: Any) -> dict[str, Any]:
    aborts = fields.get("aborts", [])
    return {
        "name": name,
        **{x: fields[x] for x in ("group",) if x in fields},
        "output": "a.out",
        "file": "a.c",
        "line": 1,
        "kind": "block",
        "colours": [],
        "starts": commits + sum(x["count"] for x in aborts),
        "commits": commits,
        "unfinished": 0,
        "aborts": aborts,
        "serialisations": fields.get("serialisations", []),
        "read_set": NOTHING,
        "write_set": NOTHING,
        "retries": NOTHING,
        "time": {"section_ns": time_ns, "waiting_ns": time_ns // 4, "irrevocable_ns": 0},
    }


def page(folder: Path, *sections: dict[str, Any], **others: Any) -> str:
    run = {
        "program": "/a.out",
        "command": ["a.out"],
        "pid": 1,
        "algorithm": "norec",
        "policy": {"contention": "none", "backoff": "none", "serialise_after": 100},
        "threads": 2,
        "start": "2026-01-31T12:00:00.000Z",
        "wall_seconds": 1.0,
    }
    file = folder / "profile.json"
    file.write_text(
        json.dumps({"version": 1, "run": run, "sections": list(sections), **others}),
        encoding="utf-8",
    )
    command = [str(BUILD / "bin" / "tandem"), "report", str(file), "--html", "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def rows(text: str, title: str) -> list[list[str]]:
    """The cells of the table under a title."""
    table = text.split(f"<h2>{title}</h2>")[1].split("<tbody>")[1].split("</tbody>")[0]
    return [
        [re.sub(r"<[^>]*>", "", x) for x in re.findall(r"<td.*?</td>", row)]
        for row in table.split("<tr>")[1:]
    ]


def test_groups(tmp_path: Path) -> None:
    sections = [
        section("a/f", 10, 2000, group="a", aborts=[{"cause": "locked", "count": 3}]),
        section("b/g", 5, 8000, group="b"),
        section("a/h", 1, 4000, group="a", serialisations=[RETRIED]),
        section("k", 7, 9000),
    ]
    text = page(tmp_path, *sections)
    assert rows(text, "Groups") == [
        ["b", "1", "5", "0", "0", "8.0 µs", "2.0 µs"],
        ["a", "2", "11", "3", "2", "6.0 µs", "1.5 µs"],
    ]
    command = [str(BUILD / "bin" / "tandem"), "report", str(tmp_path / "profile.json")]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    told = shown.split("\nGroups\n")[1].split("\n\n")[0].splitlines()
    assert [x.split()[:5] for x in told[1:]] == [
        ["b", "1", "5", "0", "0"],
        ["a", "2", "11", "3", "2"],
    ]
    assert "Groups" not in page(tmp_path, section("k", 7, 9000))


def test_summary(tmp_path: Path) -> None:
    causes = {
        "requested": 1,
        "irrevocable-call": 2,
        "irrevocable-begin": 4,
        "algorithm": 8,
        "retries": 16,
    }
    alone = [{"cause": x, "count": n, "stack": []} for x, n in causes.items()]
    aborts = [{"cause": "locked", "count": 240}, {"cause": "cancel", "count": 10}]
    text = page(tmp_path, section("f", 750, 8000, aborts=aborts, serialisations=alone))
    assert text.index("<h2>Summary") < text.index("<h2>Sections")
    assert rows(text, "Summary") == [
        ["attempts", "1,000", "", ""],
        ["committed", "750", "75.0 %", "attempts"],
        ["aborted", "240", "24.0 %", "attempts"],
        ["cancelled by the program", "10", "1.0 %", "attempts"],
        ["serial or irrevocable: by a call under way", "3", "0.3 %", "attempts"],
        ["serial or irrevocable: planned so", "12", "1.2 %", "attempts"],
        ["serial or irrevocable: after aborts", "16", "1.6 %", "attempts"],
        ["time in sections", "8.0 µs", "", ""],
        ["of it waiting", "2.0 µs", "25.0 %", "time in sections"],
        ["of it irrevocable", "0 ns", "", ""],
    ]


def test_cancels_are_no_conflicts(tmp_path: Path) -> None:
    aborts = [{"cause": "cancel", "count": 900}, {"cause": "locked", "count": 3, "other": "g"}]
    text = page(tmp_path, section("f", 5, 10, aborts=aborts))
    [row] = rows(text, "Sections")
    assert row[2:6] == ["908", "5", "3", "900"]
    assert "(not known)" not in text.split("<h2>Who aborts whom</h2>")[1].split("<h2>")[0]
    assert [x[1].partition(": ")[0] for x in rows(text, "Aborts")] == ["cancel", "locked"]
    assert all(x[1].partition(": ")[2] for x in rows(text, "Aborts"))


def test_a_profile_of_locks_names_no_algorithm(tmp_path: Path) -> None:
    text = page(tmp_path, locks=[])
    assert "policy" not in text
    assert "<h2>Sections" not in text


def test_small_shares(tmp_path: Path) -> None:
    alone = [{"cause": "retries", "count": 1, "stack": []}]
    some = rows(page(tmp_path, section("f", 20_000, 1, serialisations=alone)), "Summary")
    assert some[6] == ["serial or irrevocable: after aborts", "1", "0.0050 %", "attempts"]
    least = rows(page(tmp_path, section("f", 10**9, 1, serialisations=alone)), "Summary")
    assert least[6][2] == "&lt; 0.0001 %"


def test_what_costs_most_comes_first(tmp_path: Path) -> None:
    def aborts(count: int) -> list[dict[str, Any]]:
        return [{"cause": "locked", "count": count, "other": "slow"}]

    text = page(
        tmp_path,
        section("quick", 5, 10, aborts=aborts(3)),
        section("slow", 5, 1000, aborts=aborts(7)),
        section("middle", 5, 100, aborts=aborts(5)),
    )
    assert [x[0] for x in rows(text, "Sections")] == ["slow", "middle", "quick"]
    assert [(x[0], x[2]) for x in rows(text, "Aborts")] == [
        ("slow", "7"),
        ("middle", "5"),
        ("quick", "3"),
    ]


def test_a_run_without_sections_has_no_summary(tmp_path: Path) -> None:
    assert "<h2>Summary" not in page(tmp_path)
