# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""memcached with its locks converted to transactions: some of its own tests, and a load whose every
answer is checked while its profile is recorded. The whole suite is
`tandem workload memcached suite --variant stm`.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["TANDEM_BUILD"])
# Short ones that between them store, evict, expire, crawl, move slabs and use external storage.
FILES = (
    "t/cas.t",
    "t/evictions.t",
    "t/error-extstore.t",
    "t/flush-all.t",
    "t/incrdecr.t",
    "t/lru-crawler.t",
    "t/metaget.t",
    "t/slabs_reassign.t",
    "t/stats.t",
)
# Causes of running alone that lie in what a section calls.
ENFORCED = ("irrevocable-call", "requested", "irrevocable-begin", "algorithm")


def run(
    *words: str, environment: dict[str, str] | None = None, statuses: tuple[int, ...] = (0,)
) -> str:
    command = [
        str(BUILD / "bin" / "tandem"),
        "workload",
        "memcached",
        *words,
        *(() if "--variant" in words else ("--variant", "stm")),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=1700,
        check=False,
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode in statuses, done.stdout + done.stderr
    return done.stdout


def test_its_own_tests_pass_on_transactions() -> None:
    words = [word for file in FILES for word in ("--test", file)]
    printed = run("suite", *words)
    assert f"files passed   {len(FILES):>7}" in printed, printed


def test_answers_are_right_and_nothing_runs_alone_by_what_it_calls(tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    run(
        *("replay", "--load", "mixed", "--threads", "4", "--operations", "5000"),
        environment={"TANDEM_PROFILE": str(file), "TANDEM_PROFILE_PERIOD": "1"},
    )
    sections = json.loads(file.read_text(encoding="utf-8"))["sections"]
    commits = sum(section["commits"] for section in sections)
    alone = [x for section in sections for x in section["serialisations"]]
    assert commits > 100_000
    # `stats` is among what is asked. Nothing runs alone because of what it calls.
    assert [x for x in alone if x["cause"] in ENFORCED] == []


@pytest.mark.parametrize("variant", ["stm", "hybrid"])
def test_nothing_runs_alone_under_the_papers_load(variant: str) -> None:
    # Status 1 also where too much ran serially after aborts, which depends on the machine.
    printed = run(
        *("replay", "--load", "cache", "--threads", "4", "--operations", "5000"),
        *("--check-serial", "--variant", variant),
        statuses=(0, 1),
    )
    # Below the table, `variant: count times ...` says what was aborted too often.
    words = [line.split() for line in printed.splitlines() if line.startswith(f"  {variant} ")][-1]
    assert int(words[2].replace(",", "")) > 100_000, printed
    assert words[4:6] == ["0", "0"], printed
    failed = [line for line in printed.splitlines() if line.startswith("FAILED")]
    assert all(line.endswith("ran serially after aborts") for line in failed), printed
