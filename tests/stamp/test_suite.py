# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every application under every variant: results are verified by the programs themselves, and
compared here where they must be equal. Without TANDEM_LONG=1 (scripts/verify matrices), with two
numbers of threads.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROWS, STAMP, Suite

VARIANTS = (
    "mutex",
    "libitm-default",
    "libitm-ml_wt",
    "libitm-gl_wt",
    "libitm-htm",
    "libitm-serialirr",
    "tandem-auto",
    "tandem-eager",
    "tandem-lazy",
    "tandem-norec",
    "tandem-two-phase",
    "tandem-serial",
    "cc-global-lock",
    "cc-locks",
    "cc-stm",
    "cc-hybrid",
    "cc-htm",
    "cc-hybrid-malloc",
)
THREADS = (1, 2, 4, 8) if os.environ.get("TANDEM_LONG") == "1" else (1, 4)
# Their results do not depend on the order of the sections.
ORDERLESS = {"genome", "intruder", "kmeans-high", "kmeans-low", "ssca2"}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("row", ROWS)
def test_every_variant_is_right_with_one_thread_and_several(
    suite: Suite, row: str, variant: str
) -> None:
    expected = suite.report(row, "sequential", 1)["checksum"]
    for threads in THREADS:
        report = suite.report(row, variant, threads)
        if threads == 1 or row in ORDERLESS:
            assert report["checksum"] == expected, f"{threads} threads"


@pytest.mark.parametrize("row", ROWS)
def test_64_threads(suite: Suite, row: str) -> None:
    suite.report(row, "mutex", 64)
    suite.report(row, "tandem-norec", 64)


@pytest.mark.parametrize("row", ROWS)
def test_gcc_and_clang_agree(suite: Suite, row: str) -> None:
    for seed in (1, 2, 3):
        gcc = suite.report(row, "sequential", 1, seed=seed)
        clang = suite.report(row, "sequential-clang", 1, seed=seed)
        for report in (gcc, clang):
            del report["seconds"], report["cpu_seconds"]
        assert gcc == clang


@pytest.mark.parametrize("row", ROWS)
def test_another_seed_is_another_input(suite: Suite, row: str) -> None:
    reports = [suite.report(row, "sequential", 1, seed=seed) for seed in (1, 1, 2)]
    first, again, other = (x["checksum"] for x in reports)
    assert first == again != other


@pytest.mark.parametrize("row", ROWS)
def test_no_data_race_with_the_mutex(suite: Suite, row: str) -> None:
    for threads in (2, 4):
        suite.report(row, "mutex-tsan", threads)


@pytest.mark.parametrize("row", ROWS)
def test_verification_notices_lost_stores(suite: Suite, row: str) -> None:
    """One store of the run is lost, another one each time, until the result is wrong. Losing a
    store may also do no harm, crash the program, or keep it from ending.
    """
    assert suite.run(row, "sets", 1).returncode == 0
    for attempt in range(1, 21):
        try:
            done = suite.run(row, "sets", 1, timeout_s=3, STAMP_LOSE=str(31 * attempt))
        except subprocess.TimeoutExpired:
            continue
        if done.returncode == 1:
            assert "wrong result: " in done.stderr
            return
    pytest.fail("no lost store was noticed")


def test_containers(tmp_path: Path) -> None:
    program = tmp_path / "containers"
    library = [
        x for x in (STAMP / "lib").glob("*.c") if x.stem not in ("harness", "attempts_private")
    ]
    flags = [
        "-std=gnu17",
        "-O1",
        "-g",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-DSTAMP_SEQUENTIAL",
    ]
    sanitized = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    sources = [Path(__file__).with_name("containers.c"), *library]
    subprocess.run(
        ["clang-19", *flags, *sanitized, f"-I{STAMP}", *sources, "-o", program],
        check=True,
    )
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--threads", "65"], "--threads 65: not a number from 1 to 64"),
        (["--threads", "x"], "--threads x: not a number from 1 to 64"),
        (
            ["--size", "huge"],
            "--size huge: not known; there are test, small, medium, large",
        ),
        (["--input", "odd"], "--input odd: not known; there are high, low"),
        (["--seed"], "--seed: its value is missing, or it is not an option"),
        (["--colour", "red"], "--colour: not an option"),
        (
            ["--json", "/nowhere/x", "--size", "test"],
            "--json /nowhere/x: cannot be written: ",
        ),
    ],
)
def test_mistakes(suite: Suite, words: list[str], message: str) -> None:
    program = suite.work / "mutex" / "kmeans"
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"kmeans: {message}")
    assert done.stderr.count("\n") == 1


def test_a_sequential_build_refuses_threads(suite: Suite) -> None:
    done = suite.run("kmeans-high", "sequential", 2)
    assert done.returncode == 2
    assert done.stderr == "kmeans: --threads 2: this build is sequential; give 1; see --help\n"
