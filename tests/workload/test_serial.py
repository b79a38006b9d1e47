# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What of a profile counts as run serially, and when that is too much."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tandem.errors import CommandError
from tandem.workload.serial import print_serial, read_serial
from tandem.workload.steps import one_at_a_time

BUILD = Path(os.environ["TANDEM_BUILD"])


def profile(folder: Path, commits: int, causes: dict[str, int], aborts: int = 0) -> Path:
    file = folder / f"{len(list(folder.iterdir()))}.json"
    stack = [{"function": "get.tandem.tm", "file": "a.c", "line": 7}]
    section = {
        "name": "get_1",
        "commits": commits,
        "aborts": [{"cause": "validation", "count": aborts}] if aborts else [],
        "serialisations": [
            {"cause": cause, "count": count, "stack": stack} for cause, count in causes.items()
        ],
    }
    file.write_text(json.dumps({"version": 1, "sections": [section]}), encoding="utf-8")
    return file


def test_rounds_are_added_up(tmp_path: Path) -> None:
    first = profile(tmp_path, 1_000_000, {"retries": 9}, 20)
    serial = read_serial("stm", 2, [first, profile(tmp_path, 1_000_000, {"retries": 10})])
    assert (serial.commits, serial.aborts, serial.after_aborts) == (2_000_000, 20, 19)
    assert print_serial([serial])


@pytest.mark.parametrize(
    ("commits", "causes", "said"),
    [
        (10**6, {"retries": 10}, "10 of 1000000 ran serially after aborts"),
        # A cause that is not known is none that the plan asked for, but the attempt ran serially.
        (10**6, {"something-new": 10}, "10 of 1000000 ran serially after aborts"),
        (10**6, {"requested": 1}, "1 in-flight switches"),
        (10**6, {"irrevocable-call": 1}, "1 in-flight switches"),
        (10**6, {"irrevocable-begin": 1}, "1 serial starts"),
        (10**6, {"algorithm": 1}, "1 serial starts"),
        (0, {}, "no section ran"),
    ],
)
def test_too_much(
    commits: int,
    causes: dict[str, int],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not print_serial([read_serial("stm", 2, [profile(tmp_path, commits, causes)])])
    assert f"FAILED: stm, 2 threads: {said}" in capsys.readouterr().out


def test_who_asked_for_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    print_serial([read_serial("stm", 2, [profile(tmp_path, 10, {"irrevocable-call": 3})])])
    assert "stm: 3 times get_1: irrevocable-call in get (a.c:7)" in capsys.readouterr().out


def test_a_file_that_is_no_profile(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"sections": [{"name": "get_1"}]}', encoding="utf-8")
    with pytest.raises(CommandError, match="is not a profile of sections"):
        read_serial("stm", 2, [file])


def test_variants_without_transactions_are_refused(tmp_path: Path) -> None:
    """At once, whoever works in the folder."""
    command = [str(BUILD / "bin" / "tandem"), "workload", "memcached", "replay", "--check-serial"]
    command += ["--folder", str(tmp_path)]
    with one_at_a_time(tmp_path):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "use one of" in done.stderr
