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


def run(*words: str, environment: dict[str, str] | None = None) -> str:
    command = [
        str(BUILD / "bin" / "tandem"),
        "workload",
        "memcached",
        *words,
        "--variant",
        "stm",
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_own_tests_pass_on_transactions() -> None:
    words = [word for file in FILES for word in ("--test", file)]
    printed = run("suite", *words)
    assert f"files passed   {len(FILES):>7}" in printed, printed


def test_answers_are_right_and_almost_nothing_runs_alone(tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    run(
        *("replay", "--load", "mixed", "--threads", "4", "--operations", "5000"),
        environment={"TANDEM_PROFILE": str(file)},
    )
    sections = json.loads(file.read_text(encoding="utf-8"))["sections"]
    commits = sum(section["commits"] for section in sections)
    alone = sum(x["count"] for section in sections for x in section["serialisations"])
    assert commits > 100_000
    assert alone < commits / 10_000, f"{alone} of {commits}"
