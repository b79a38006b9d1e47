# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of `tandem workload txlinux` that need no kernel."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tandem.paths import ROOT
from tandem.workload.cli import main
from tandem.workload.txlinux import compare as comparison
from tandem.workload.txlinux.compare import print_comparison
from tandem.workload.txlinux.counters import by_subsystem, group_profile, print_run, subsystem_of
from tandem.workload.txlinux.guest import VARIANTS, Image, Run
from tandem.workload.txlinux.tables import tables_of


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "run takes one workload of counter,"),
        (["run", "counter", "find"], "run takes one workload"),
        (["run", "untar"], "there is no workload 'untar'; there are counter,"),
        (["compare", "--length", "short", "counter", "untar"], "there is no workload 'untar'"),
        (["image", "counter"], "image takes no workload; use run"),
        (["image", "--variant", "bsd"], "invalid choice: 'bsd'"),
        (["image", "--early-release", "on"], "--early-release is an option of boot and run and co"),
        (
            ["run", "counter", "--early-release", "on", "--variant", "linux"],
            "of kernels with transactions",
        ),
        (["image", "--seed", "2"], "--seed is an option of boot and run"),
        (["run", "counter", "--harts", "65"], "'65' is not a number from 1 to 64"),
        (["run", "counter", "--policy", "best"], "invalid choice: 'best'"),
        (["compare", "--variant", "linux"], "compare takes two kernels or more; give it again"),
        (
            ["run", "counter", "--variant", "linux", "--variant", "txlinux"],
            "--variant is given 2 times; run takes one",
        ),
        (["run", "counter", "--json", "/nowhere/x"], "--json /nowhere/x: cannot be written"),
    ],
)
def test_mistakes(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["txlinux", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.count("\n") == 1


def site(name: str, **counts: int) -> dict[str, Any]:
    causes = ("conflict", "software", "io", "call", "csr", "limit")
    return {
        "site": name,
        "transactions": counts.get("transactions", 0),
        "commits": counts.get("commits", 0),
        "fallbacks": counts.get("fallbacks", 0),
        "restarts": counts.get("restarts", 0),
        "causes": {x: counts.get(x, 0) for x in causes},
    }


def test_subsystems() -> None:
    counted = {
        "sites": [
            site("dput+0x4c", transactions=5, commits=5),
            site("lockref_get_not_dead+0x8", transactions=3, commits=2, fallbacks=1, io=1),
            site("rmqueue_bulk.constprop.0+0x1", transactions=9, commits=9, restarts=2, conflict=2),
        ]
    }
    rows = by_subsystem(counted)
    assert list(rows) == ["zone", "dcache"]
    assert (rows["dcache"].transactions, rows["dcache"].fallbacks, rows["dcache"].io) == (8, 1, 1)
    assert rows["zone"].restarts == 2
    assert subsystem_of("worker") == "counter"
    assert subsystem_of("filemap_map_pages") == "memory"
    assert subsystem_of("filemap_add_folio") == "address space"
    assert subsystem_of("get_page_from_freelist") == "zone"
    assert subsystem_of("nobody_knows") == "other"


def run(variant: str, seed: int, system: int) -> Run:
    counted: dict[str, Any] = {}
    if variant == "txlinux":
        counted = {
            **{"transactions": 200, "fallbacks": 2, "restarts": 50, "restart_percent": 20.0},
            **{"unique_restarts": 30, "begun_in_system_calls": 100, "begun_in_interrupts": 20},
            **{"interrupted": 1, "live_stack_overwrites": 1},
            "pairs": [
                {"loser": "worker+0x10", "winner": "", "count": 7},
                {"loser": "worker+0x10", "winner": "worker+0x10", "count": 43},
            ],
            "sites": [site("worker+0x10", transactions=200, commits=198, fallbacks=2)],
        }
    counts = {
        **{"timed_instructions": system, "load_stall_cycles": system // 2},
        **{"l1_hits": 90, "l2_hits": 8, "misses": 2},
    }
    return Run(variant, "counter", 8, seed, system // 4, system, "value 1", counted, counts)


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [
        *(run("linux", 1, 1000), run("linux", 2, 2000), run("linux", 3, 1000)),
        *(run("txlinux", 1, 500), run("txlinux", 2, 1800), run("txlinux", 3, 800)),
    ]
    print_comparison(runs)
    rows = [x for x in capsys.readouterr().out.splitlines() if x.startswith("counter")]
    assert re.split(r"\s+", rows[0])[1:6] == ["linux", "1,000", "1.000", "1.000", "1.000"]
    assert rows[0].endswith("0.00%     0.00%   25/50/25")
    assert re.split(r"\s+", rows[1])[1:6] == ["txlinux", "800", "0.800", "0.500", "0.900"]
    assert rows[1].endswith("1.00%    20.00%   25/50/25")
    print_run(runs[-1])
    shown = capsys.readouterr().out
    assert "in system calls              50.0 %" in shown
    assert re.search(r"counter +200 +198 +2 ", shown)
    assert re.search(
        r"43 +worker\+0x10 for worker\+0x10\n +7 +worker\+0x10 for an access outside", shown
    )


def test_the_manual_has_what_compare_printed(capsys: pytest.CaptureFixture[str]) -> None:
    record = ROOT / "docs" / "machine" / "results" / "txlinux-compare.json"
    print_comparison([Run(**x, said="") for x in json.loads(record.read_text(encoding="utf-8"))])
    manual = (ROOT / "docs" / "txlinux.md").read_text(encoding="utf-8")
    assert f"```\n{capsys.readouterr().out}```" in manual


def test_two_machines_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2)

    def measured(image: Image, workload: str, *, seed: int, **_: object) -> Run:
        both.wait(timeout=60)
        return run(image.variant, seed, 1000)

    monkeypatch.setattr(comparison, "measure", measured)
    images = [Image(x, tmp_path, tmp_path) for x in ("linux", "txlinux")]
    options: dict[str, Any] = {
        "harts": 8,
        "limit": 8,
        "protocol": "none",
        "settings": [],
        "folder": tmp_path,
        "early_release": False,
    }
    runs = comparison.compare(images, ["counter"], seeds=3, short=True, jobs=2, **options)
    assert [(x.variant, x.seed) for x in runs] == [
        (variant, seed) for seed in (1, 2, 3) for variant in ("linux", "txlinux")
    ]


def test_a_profile_has_subsystems() -> None:
    aborts = [{"cause": "hardware-conflict", "other": "dput+0x4"}, {"cause": "hardware-limit"}]
    profile = {"sections": [{"name": "rmqueue_bulk+0x60", "aborts": aborts}]}
    group_profile(profile)
    assert profile["sections"][0]["name"] == "zone/rmqueue_bulk+0x60"
    assert profile["sections"][0]["group"] == "zone"
    assert [x.get("other") for x in aborts] == ["dcache/dput+0x4", None]


def test_what_the_papers_tables_have() -> None:
    none = tables_of(Run("linux", "find", 8, 1, 0, 0, "", {}))
    assert none == {}
    linux = tables_of(run("linux", 1, 4000))
    assert linux["system_s"] == 4e-6
    assert (linux["user_percent"], linux["system_percent"], linux["idle_percent"]) == (25, 50, 25)
    assert (linux["l1_miss_percent"], linux["l2_miss_percent"]) == (10, 20)
    assert "sizes" not in linux
    tx = run("txlinux", 1, 4000)
    sizes = {
        "bytes": [1, 0, 3],
        "blocks": [0] * 12 + [4],
        "written_bytes": [],
        "written_blocks": [],
    }
    counted = {"backoffs": 4, "backoff_cycles": 10, "cycles": 300, "commits": 100, "sizes": sizes}
    found = tables_of(replace(tx, transactions={**tx.transactions, **counted}))
    assert found["fallback_percent"] == 1
    assert found["in_system_calls_percent"] == 50
    assert found["outside_system_calls_percent"] == 50
    assert found["mean_backoff_cycles"] == 2.5
    assert found["mean_section_cycles"] == 3
    assert found["sections_per_s"] == 200 * 1e9 / 1000
    assert found["sizes"]["bytes"]["16"] == 75
    assert found["sizes"]["blocks"]["8192"] == 100


def test_the_script_names_its_variants() -> None:
    """The build script and the command know the same variants."""
    script = Path(__file__).resolve().parents[2] / "workloads" / "txlinux" / "build"
    text = script.read_text()
    labels = re.findall(r"^([a-z| -]+)\) options\+=\(", text, re.MULTILINE)
    assert {x for each in labels for x in each.split(" | ")} == set(VARIANTS)
    told = re.search(r"there are ([a-z, -]+)\"", text)
    assert told is not None
    assert told.group(1).split(", ") == list(VARIANTS)
