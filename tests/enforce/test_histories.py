# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs that check that their history is serialisable (histories.py).

Every seed is run under some of all combinations of enforcement, catalogue and optimisation, chosen
by the seed; a failure names them and keeps the program. `TANDEM_SEED=N` replaces the seeds by N;
`TANDEM_SEEDS=N` takes seeds 1 to N; `TANDEM_ALL=1` runs all combinations of each.
"""

from __future__ import annotations

import itertools
import os
import random
from pathlib import Path

import pytest
from conftest import ALGORITHMS, MODES, Compilers
from histories import generate, is_cxx

ASKED = os.environ.get("TANDEM_SEED")
SEEDS = [int(ASKED)] if ASKED else range(1, int(os.environ.get("TANDEM_SEEDS", "8")) + 1)
COMBINATIONS = list(itertools.product(MODES, ("own", "papers"), ("-O0", "-O2")))
SOME = 3  # combinations of a seed
ROUNDS = 40


def write(compilers: Compilers, seed: int) -> Path:
    source = compilers.folder / f"history{seed}.{'cc' if is_cxx(seed) else 'c'}"
    source.write_text(generate(seed), encoding="utf-8")
    return source


def build(
    compilers: Compilers, source: Path, enforce: str, catalogue: str, level: str, *more: str
) -> Path:
    flags = ["-DATOMIC=__attribute__((atomic))", "-Wno-unused", "-Wno-unused-const-variable", *more]
    if catalogue == "papers":  # in which interleave() may do anything
        flags += ["-DPLAIN_CALLS", "-ftandem-catalogue=papers"]
    return compilers.compile(
        source,
        f"{source.stem}-{enforce}-{catalogue}{level}",
        enforce=enforce,
        level=level,
        flags=tuple(flags),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_histories_are_serialisable(compilers: Compilers, seed: int) -> None:
    rng = random.Random(seed)
    source = write(compilers, seed)
    chosen = COMBINATIONS if os.environ.get("TANDEM_ALL") else rng.sample(COMBINATIONS, SOME)
    for enforce, catalogue, level in chosen:
        program = build(compilers, source, enforce, catalogue, level)
        for threads in (1, 2, 4, 8):
            algorithm = rng.choice(["auto", *ALGORITHMS])
            outcome = compilers.run(
                program, threads, ROUNDS, environment={"TANDEM_ALGORITHM": algorithm}
            )
            told = f"seed {seed}, {enforce} {catalogue} {level} {algorithm}, {threads} threads"
            assert outcome.status == 0, f"{told}: {outcome}; {source}"


@pytest.mark.parametrize("seed", [1, 2])
def test_without_enforcement_they_are_not(compilers: Compilers, seed: int) -> None:
    source = write(compilers, seed)
    program = build(compilers, source, "none", "own", "-O2")
    assert compilers.run(program, 1, ROUNDS).status == 0
    outcomes = (compilers.run(program, 4, 10 * ROUNDS, timeout_s=5) for _ in range(10))
    assert any(outcome.status != 0 for outcome in outcomes)
