# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem workload programs`: small programs through the whole of it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

BUILD = Path(os.environ["TANDEM_BUILD"])
HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"


def survey(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            BUILD / "bin/tandem",
            "workload",
            "programs",
            "--folder",
            folder,
            "--rounds=1",
            *words,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=550,
    )


def test_what_a_program_computes_stays_the_same(tmp_path: Path) -> None:
    result, page = tmp_path / "r.json", tmp_path / "r.html"
    words = ("--threads=1,2", f"--json={result}", f"--html={page}")
    done = survey(tmp_path / "builds", str(PROGRAMS / "tally.toml"), *words)
    assert done.returncode == 0, done.stdout + done.stderr
    outcome = json.loads(result.read_text(encoding="utf-8"))["programs"][0]
    # enter three times, enter_soon once, and the wait.
    assert (outcome["sites_in_sources"], outcome["sites"], outcome["understood"]) == (
        5,
        5,
        5,
    )
    assert outcome["sections"] >= 2
    assert set(outcome["seconds"]) == {"clang-lto", "none", "locks", "stm", "hybrid"}
    assert all(set(x) == {"1", "2"} for x in outcome["seconds"].values())
    for shares in (outcome["transactions"], outcome["waited"]):
        assert set(shares) == {"1", "2"}
        assert all(0 <= x <= 1 for x in shares.values())
    assert done.stdout.startswith("1 of 1 programs; 5 of 5 acquisitions of locks understood")
    assert "<td>tally</td>" in page.read_text(encoding="utf-8")


def test_what_differs_is_told(tmp_path: Path) -> None:
    words = ("--threads=1", "--enforce=locks", str(PROGRAMS / "unsteady.toml"))
    done = survey(tmp_path / "builds", *words)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "unsteady: DIFFERS: none at 1 threads: other output" in done.stdout
