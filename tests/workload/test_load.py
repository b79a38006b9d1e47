# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Load over sockets: what libmemcached's tools print is read right, what they find is not passed
over, and both put their load on the real memcached.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tandem.errors import CommandError
from tandem.workload.cli import main
from tandem.workload.load import TOOLS, Measured, Round, load, print_load
from tandem.workload.server import serving

BUILD = Path(os.environ["TANDEM_BUILD"])
MEMASLAP = """\
execute number: 50000
cmd_get: 44992
cmd_set: 5008
get_misses: {misses}
verify_misses: 0
verify_failed: {failed}

Run time: 0.8s Ops: 50000 TPS: 62500 Net_rate: 70.3M/s
"""
MEMCSLAP = """\
Time to generate      20000 test keys:                0.074 seconds.
Time to set           20000 keys:                     3.031 seconds.
Time to get           40000 keys by    2 threads:     1.250 seconds.
"""


def test_what_the_tools_print() -> None:
    told = MEMASLAP.format(misses=0, failed=0)
    assert TOOLS["memaslap"].read(told) == (50_000, 0.8, 50_000)
    assert TOOLS["memcslap"].read(MEMCSLAP) == (40_000, 1.25, 60_000)


@pytest.mark.parametrize(("misses", "failed"), [(1, 0), (0, 7)])
def test_wrong_answers_are_no_result(misses: int, failed: int) -> None:
    with pytest.raises(ValueError, match="where nothing may be lost or changed"):
        TOOLS["memaslap"].read(MEMASLAP.format(misses=misses, failed=failed))


@pytest.mark.parametrize("text", ["", "Time to get 0 keys by 1 threads: 0.0 seconds."])
@pytest.mark.parametrize("tool", TOOLS)
def test_no_figures_are_no_result(tool: str, text: str) -> None:
    with pytest.raises(ValueError, match="it has"):
        TOOLS[tool].read(text)


def fake_tool(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch, status: int = 0) -> None:
    tool = folder / "bin" / "memcaslap"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\ncat <<'E'\n{text}E\nexit {status}\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")


def run_fake(program: Path, **environment: str) -> list[Measured]:
    return load(
        {"fake": program},
        "memaslap",
        "tcp",
        threads=1,
        rounds=2,
        operations=100,
        environment={**os.environ, **environment},
    )


def test_rounds_are_measured(
    fake_memcached: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake_tool(tmp_path, MEMASLAP.format(misses=0, failed=0), monkeypatch)
    (measured,) = run_fake(fake_memcached)
    assert [x.operations for x in measured.rounds] == [50_000, 50_000]
    assert all(x.cpu_seconds >= 0 for x in measured.rounds)


def test_a_wrong_answer_ends_the_load(
    fake_memcached: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tool(tmp_path, MEMASLAP.format(misses=0, failed=1), monkeypatch)
    with pytest.raises(CommandError, match="verify_failed is 1"):
        run_fake(fake_memcached)


def test_a_tool_that_fails_ends_the_load(
    fake_memcached: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tool(tmp_path, MEMASLAP.format(misses=0, failed=0), monkeypatch, status=4)
    with pytest.raises(CommandError, match="status 4"):
        run_fake(fake_memcached)


def test_a_server_that_fails_ends_the_load(
    fake_memcached: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_tool(tmp_path, MEMASLAP.format(misses=0, failed=0), monkeypatch)
    with pytest.raises(CommandError, match="ended with status 3"):
        run_fake(fake_memcached, FAULT="status")


def test_a_server_that_does_not_start() -> None:
    with (
        pytest.raises(CommandError, match="did not start: status 1"),
        serving(Path("/bin/false"), "tcp", 1, (), os.environ),
    ):
        pass


def test_ratios_are_of_the_same_round(capsys: pytest.CaptureFixture[str]) -> None:
    slow, fast = Round(100, 1.0, 100, 2e-6), Round(100, 0.25, 100, 1e-6)
    results = [Measured("one", (slow, fast)), Measured("two", (fast, slow))]
    print_load(results, "memaslap", "tcp")
    two = capsys.readouterr().out.splitlines()[-1].split()
    # Four times as fast, and a quarter; the median of two is their mean.
    assert two[0] == "two"
    assert " ".join(two[2:6]) == "2.12 (0.25 - 4.00)"
    # 10 and 20 ns an operation; half and twice as much.
    assert two[6:] == ["15", "1.25"]


@pytest.mark.parametrize(("tool", "over"), [("memaslap", "tcp"), ("memcslap", "unix")])
def test_the_real_ones(tool: str, over: str, tmp_path: Path) -> None:
    file = tmp_path / "rounds.json"
    command = [str(BUILD / "bin" / "tandem"), "workload", "memcached", "load", "--tool", tool]
    command += ["--over", over, "--operations", "8000", "--rounds", "2", "--json", str(file)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=1700,
        check=False,
        env=os.environ.copy(),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(file.read_text(encoding="utf-8"))
    assert (told["tool"], told["over"]) == (tool, over)
    (run,) = told["runs"]
    assert [x["operations"] >= 8000 for x in run["rounds"]] == [True, True]
    assert all(x["cpu_seconds"] > 0 for x in run["rounds"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--variant", "stm", "--variant", "stm"], "--variant: one is given twice"),
        (["--tool", "memcslap"], "memcslap is not installed"),
    ],
)
def test_mistakes_are_told_before_anything_is_built(
    options: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    own = tmp_path / "own"
    assert main(["memcached", "load", *options, "--folder", str(own)]) == 2
    assert said in capsys.readouterr().err
    assert not own.exists()


def test_a_tool_that_cannot_connect_so() -> None:
    command = [str(BUILD / "bin" / "tandem"), "workload", "memcached", "load", "--over", "unix"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "tandem workload: --over unix: the tool cannot connect so; use --tool memcslap"
    ]
