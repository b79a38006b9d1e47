# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our checker against Spin: one protocol, written twice, must have the same number of states."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["TANDEM_BUILD"])
PEER = Path(__file__).resolve().parents[3] / "bench" / "machine" / "checker_peer.py"


@pytest.mark.parametrize("cores", ["1", "2", "3", "4"])
def test_spin_reaches_as_many_states(cores: str, tmp_path: Path) -> None:
    theirs, ours = tmp_path / "spin.json", tmp_path / "tandem.json"
    subprocess.run([PEER, "spin", cores, BUILD, tmp_path / "work", theirs], check=True, timeout=300)
    command: list[str | Path] = [
        BUILD / "libexec" / "tandem-machine",
        "check",
        "mesi-snoop",
        "--cores",
        cores,
    ]
    subprocess.run([*command, "--no-symmetry", "--json", ours], check=True, timeout=300)
    states = [json.loads(path.read_text())["searches"][0]["states"] for path in (theirs, ours)]
    assert states[0] == states[1] > 10


def test_renaming_cores_merges_states(tmp_path: Path) -> None:
    command: list[str | Path] = [
        BUILD / "libexec" / "tandem-machine",
        "check",
        "mesi-snoop",
        "--cores",
        "3",
    ]
    states = []
    for option in ("--safety", "--no-symmetry"):
        path = tmp_path / f"{option}.json"
        subprocess.run([*command, option, "--json", path], check=True, timeout=300)
        (search,) = json.loads(path.read_text())["searches"]
        assert search["symmetry"] is (option != "--no-symmetry")
        assert search["liveness"] is (option != "--safety")
        states.append(search["states"])
    assert states[0] < states[1] <= 6 * states[0]
