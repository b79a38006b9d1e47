# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sections that use std::map: what its templates leave to the library is known."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

BUILD = Path(os.environ["TANDEM_BUILD"])
INCLUDE = Path(__file__).parent.parent.parent / "include"
PROGRAM = """
#include <map>
#include <mutex>
#include <thread>
#include <tandem/tandem.hpp>
static std::map<int, int> one;
static std::map<int, long> two;
static std::mutex lock;
static long apart;
static void locked() { std::lock_guard guard(lock); apart++; }
static void fill() { tandem::atomic([&] { one[3] = 1; one.erase(4); }); }
static long sum() {
  long all = 0;
  tandem::atomic([&] { for (auto &[key, value] : one) all += value; });
  return all;
}
static void other() { tandem::atomic([&] { two[1]++; }); }
static void run() { locked(); fill(); sum(); other(); }
int main() { std::thread a(run), b(run); a.join(); b.join(); }
"""


@pytest.mark.parametrize("mode", ["insensitive", "sensitive"])
def test_maps(mode: str, tmp_path: Path) -> None:
    source, report = tmp_path / "maps.cc", tmp_path / "maps.json"
    source.write_text(PROGRAM, encoding="utf-8")
    own = {name: value for name, value in os.environ.items() if not name.startswith("TANDEM_")}
    subprocess.run(
        [
            *(
                BUILD / "bin" / "tandem",
                "analyze",
                "--points-to",
                mode,
                "--json",
                report,
                source,
            ),
            *("--", "-std=c++20", "-pthread", "-I", INCLUDE),
        ],
        env=own,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    document: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    sections = {section["name"]: section for section in document["sections"]}
    conflicts = {
        name: {conflict["with"] for conflict in section["conflicts"]}
        for name, section in sections.items()
    }
    assert {"fill()_1", "sum()_1"} <= conflicts["fill()_1"]
    assert conflicts["locked()_1"] == {"locked()_1"}
    if mode == "sensitive":
        assert conflicts["other()_1"] == {"other()_1"}
    # Walking through a map runs no code of the program: no thread, and no lock of one.
    assert sections["sum()_1"]["irrevocable"] == []
    for name in ("fill()_1", "other()_1"):
        chains = [one["chain"] for one in sections[name]["irrevocable"]]
        assert any("_Rb_tree_insert_and_rebalance" in chain[-1] for chain in chains)
        assert not any("run()" in chain for chain in chains)
    assert not [x for x in document["findings"] if x["rule"] == "lock-in-section"]
