# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""memcached under some of its own tests, built so that its sections are checked against the
analysis while it runs: nothing may contradict it. The whole suite is
`tandem workload memcached suite --variant check`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["TANDEM_BUILD"])
# Short ones that between them store, evict, expire, crawl, rebalance slabs and count.
FILES = (
    "t/cas.t",
    "t/binary-get.t",
    "t/chunked-items.t",
    "t/evictions.t",
    "t/flush-all.t",
    "t/incrdecr.t",
    "t/lru-crawler.t",
    "t/metaget.t",
    "t/slabs_reassign.t",
    "t/stats.t",
)


def test_the_sections_of_memcached_touch_what_the_analysis_says() -> None:
    command = [str(BUILD / "bin" / "tandem"), "workload", "memcached", "suite"]
    command += ["--variant", "check", "--jobs", "2"]
    for file in FILES:
        command += ["--test", file]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1700, check=False, env=os.environ.copy()
    )
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    figures = {
        words[0]: words[1]
        for line in done.stdout.splitlines()
        if line.startswith("  ") and not line.startswith("  files")
        if len(words := line.split(maxsplit=2)) >= 2
    }
    assert int(figures["misses"]) == 0, text
    assert int(figures["accesses"]) > 1_000_000, text
    assert f"files passed   {len(FILES):>7}" in done.stdout, text


def test_statistics_and_items_do_not_conflict(tmp_path: Path) -> None:
    """Regions that touch nothing but statistics, against those that touch items and none."""
    file = tmp_path / "memcached.json"
    command = [str(BUILD / "bin" / "tandem"), "workload", "memcached", "analyse"]
    command += ["--variant", "check", "--report", str(file)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1700, check=False, env=os.environ.copy()
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sections = {s["name"]: s for s in json.loads(file.read_text(encoding="utf-8"))["sections"]}
    touched = {name: {*s["reads"], *s["writes"]} for name, s in sections.items()}
    statistic = re.compile(r"(stats|stats_state)(\.|$)")
    item = re.compile(r"(it|ch|nch|(heads|tails)\[\])\b")
    statistics = {
        name for name, paths in touched.items() if paths and all(map(statistic.match, paths))
    }
    # The name of heap memory has a file in it, which is no statistic: (heap of stats_prefix.c:69).
    heap = re.compile(r"\(heap of [^)]*\)")
    items = {
        name
        for name, paths in touched.items()
        if any(map(item.match, paths)) and not any("stats" in heap.sub("", x) for x in paths)
    }
    assert len(statistics) >= 20
    assert len(items) >= 8
    meet = [
        (name, conflict["with"])
        for name in sorted(statistics)
        for conflict in sections[name]["conflicts"]
        if conflict["with"] in items
    ]
    assert meet == []


@pytest.mark.parametrize("load", ["counters", "cache"])
def test_the_replay(load: str) -> None:
    command = [str(BUILD / "bin" / "tandem"), "workload", "memcached", "replay"]
    command += ["--variant", "check", "--load", load, "--threads", "4"]
    command += ["--operations", "2000"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1700, check=False, env=os.environ.copy()
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "misses                    0" in done.stdout
