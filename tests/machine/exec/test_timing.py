# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem machine exec` with time, as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cross import compiled

MACHINE = Path(os.environ["TANDEM_BUILD"]) / "libexec" / "tandem-machine"
HERE = Path(__file__).resolve().parent
PROTOCOLS = ("mesi-snoop", "token-b", "sparse-directory", "mosaic", "flask")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("timed"), HERE / "timed.c")


def execute(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(MACHINE), "exec", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def measured(program: Path, file: Path, *options: str) -> dict[str, Any]:
    done = execute("--harts", "4", "--json", file, *options, program, "4")
    assert (done.returncode, done.stdout, done.stderr) == (0, "800 100 800\n", "")
    result: dict[str, Any] = json.loads(file.read_text())
    return result


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_program_with_threads(program: Path, tmp_path: Path, protocol: str) -> None:
    options = ("--mode", "functional", "--protocol", protocol)
    first = measured(program, tmp_path / "first.json", *options)
    again = measured(program, tmp_path / "again.json", *options, "--check-values")
    for result in (first, again):
        assert result["timing"]["run"]["protocol"] == protocol
    # To look at values changes neither time nor state; so the same command gives the same, too.
    for field in ("instructions", "cycles", "memory_hash", "registers_hash"):
        assert first[field] == again[field], field
    region = first["timing"]["regions"][0]
    assert (region["region"], region["entered"]) == (1, 1)
    counts = region["counts"]
    assert counts["timed_instructions"] > 4 * 200 * 5
    assert counts["misses"] > 100
    assert counts["atomic_stall_cycles"] > 0
    # What is not in the region is without time.
    total = first["timing"]["run"]["instructions"]
    assert counts["timed_instructions"] <= total < first["instructions"]


def test_all_of_a_program_with_time(program: Path, tmp_path: Path) -> None:
    result = measured(
        program, tmp_path / "a.json", "--protocol", "flask", "--set", "l1d.size_kib=8"
    )
    assert result["timing"]["run"]["instructions"] < result["instructions"]
    warm = measured(program, tmp_path / "b.json", "--protocol", "flask", "--mode", "warming")
    assert warm["timing"]["run"]["cycles"] < result["timing"]["run"]["cycles"]


def test_statistics_of_intervals(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "stats"
    done = execute(
        "--harts", "2", "--protocol", "mesi-snoop", "--stats", file, "--stats-every", "2000",
        program, "2",
    )  # fmt: skip
    assert done.returncode == 0
    intervals = [json.loads(line) for line in file.read_text().splitlines()][1:]
    assert len(intervals) > 2
    assert sum(each["counts"]["bus_grants"] for each in intervals) > 50


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mode", "timing"), "--mode timing needs a protocol"),
        (("--protocol", "dragon"), "there is no protocol 'dragon'"),
        (
            ("--counts",),
            "--config, --set, --counts, --check-values and --timeline are about",
        ),
        (("--protocol", "flask", "--config", "metatm"), "flask needs a mesh"),
        (
            ("--protocol", "flask", "--trace", "-"),
            "--trace and --gdb follow harts without time",
        ),
        (("--protocol", "flask", "--set", "l1d.ways=3"), "l1d"),
    ],
)
def test_mistakes(program: Path, options: tuple[str, ...], message: str) -> None:
    done = execute(*options, program)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_summary(program: Path) -> None:
    done = execute("--harts", "2", "--protocol", "token-b", "--counts", program, "2")
    assert (done.returncode, done.stdout) == (0, "400 50 400\n")
    assert "atomic stall" in done.stderr


@pytest.mark.parametrize("protocol", ["mesi-snoop", "flask"])
def test_parts_of_an_access_are_its_own(tmp_path: Path, protocol: str) -> None:
    """A handler that comes between an access to two lines and its second part."""
    done = execute(
        "--harts", "2", "--protocol", protocol, compiled(tmp_path, HERE / "across_lines.c")
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 wrong\n", "")
