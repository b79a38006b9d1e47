# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs against an oracle: the same by stock clang, its threads one after the other.

`TANDEM_SEED=N` replaces the seeds by N; a failure names its seed and keeps the program.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from conftest import ALGORITHMS, MODES, PROGRAMS, Compilers
from generator import generate

ASKED = os.environ.get("TANDEM_SEED")
SEEDS = [int(ASKED)] if ASKED else list(range(1, 11))
THREADS = 4
ROUNDS = 40


def write(compilers: Compilers, seed: int, *, cancels: bool = False) -> Path:
    source = compilers.folder / f"{'cancelling' if cancels else 'generated'}{seed}.c"
    source.write_text(generate(seed, cancels=cancels), encoding="utf-8")
    return source


def oracle(compilers: Compilers, source: Path) -> str:
    """What the program must print."""
    program = source.with_suffix(".oracle")
    command = ["clang-19", "-std=gnu17", "-O1", "-DATOMIC=", "-DORACLE", "-pthread"]
    command += ["-I", str(PROGRAMS), str(source), str(compilers.interleave), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    outcome = compilers.run(program, 1, THREADS, ROUNDS)
    assert outcome.status == 0
    return outcome.output


def build(compilers: Compilers, source: Path, enforce: str, level: str) -> Path:
    return compilers.compile(
        source,
        f"{source.stem}-{enforce}{level}",
        enforce=enforce,
        level=level,
        flags=(
            "-DATOMIC=__attribute__((atomic))",
            "-Wno-unused-but-set-variable",
            "-Wno-unused-function",
        ),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_sections_are_atomic(compilers: Compilers, seed: int) -> None:
    source = write(compilers, seed)
    expected = oracle(compilers, source)
    rng = random.Random(seed)
    for enforce in MODES:
        level = rng.choice(["-O0", "-O1", "-O2", "-O3"])
        program = build(compilers, source, enforce, level)
        for algorithm in ALGORITHMS if enforce in ("stm", "hybrid") else ("auto",):
            outcome = compilers.run(
                program, 0, THREADS, ROUNDS, environment={"TANDEM_ALGORITHM": algorithm}
            )
            told = f"seed {seed}, {enforce} {level} {algorithm}: {source}"
            assert outcome.status == 0, f"{told}: {outcome}"
            assert outcome.output == expected, told


@pytest.mark.parametrize("seed", SEEDS[:5])
def test_cancelled_sections_do_nothing(compilers: Compilers, seed: int) -> None:
    source = write(compilers, seed, cancels=True)
    expected = oracle(compilers, source)
    level = random.Random(seed).choice(["-O0", "-O1", "-O2", "-O3"])
    for enforce in ("stm", "hybrid"):
        program = build(compilers, source, enforce, level)
        for algorithm in ALGORITHMS:
            outcome = compilers.run(
                program, 0, THREADS, ROUNDS, environment={"TANDEM_ALGORITHM": algorithm}
            )
            told = f"seed {seed}, {enforce} {level} {algorithm}: {source}"
            assert outcome.status == 0, f"{told}: {outcome}"
            assert outcome.output == expected, told


def test_without_enforcement_they_are_not(compilers: Compilers) -> None:
    seed = SEEDS[0]
    source = write(compilers, seed)
    expected = oracle(compilers, source)
    program = build(compilers, source, "none", "-O2")
    assert compilers.run(program, 1, THREADS, ROUNDS).output == expected
    outcomes = (compilers.run(program, 0, THREADS, 10 * ROUNDS, timeout_s=2) for _ in range(10))
    long = compilers.run(program, 1, THREADS, 10 * ROUNDS)
    assert any(outcome != long for outcome in outcomes)
