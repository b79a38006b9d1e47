# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that watch their own sections while they run: nothing may contradict the analysis; and
where an effect is deleted from it, something must.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from conftest import ENFORCE, MISS_STATUS, PROGRAMS, ROOT, Checker

MODES = ("insensitive", "sensitive")
TRIALS = 20

# Source, arguments, whether every one of its sections runs.
OWN = (
    (ROOT / "workloads" / "figure2" / "figure2.c", ()),
    (
        ROOT / "workloads" / "prime" / "prime.c",
        ("--threads", "4", "--numbers", "20000"),
    ),
    (PROGRAMS / "structures.c", ()),
    (PROGRAMS / "library.cc", ()),
    (PROGRAMS / "trees.cc", ()),
    (PROGRAMS / "ifunc.c", ()),
)
SHARED = ("sections.c", "sections.cc", "blocks.c", "blocks.cc", "restart.c")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("source", "arguments"), OWN, ids=[x[0].name for x in OWN])
def test_nothing_contradicts_the_analysis(
    checker: Checker, source: Path, arguments: tuple[str, ...], mode: str
) -> None:
    run = checker.run(checker.compile(source, mode=mode, flags=("-lm",)), *arguments)
    assert run.misses == []
    assert run.status == 0, run.output
    assert run.ran > 0
    assert run.needed, "no access was of memory that threads share: nothing was checked"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", SHARED)
def test_nothing_contradicts_the_analysis_of_enforced_programs(
    checker: Checker, interleave: Path, source: str, mode: str
) -> None:
    flags = (
        "-I",
        str(ENFORCE),
        str(interleave),
        f"-ftandem-catalogue={ENFORCE}/interleave.toml",
    )
    run = checker.run(checker.compile(ENFORCE / source, mode=mode, flags=flags), 4, 40)
    assert run.misses == []
    assert run.status == 0, run.output
    assert run.ran == run.sections
    assert run.needed


def two_programs(seed: int) -> tuple[Path, str]:
    source = (PROGRAMS / "structures.c", ROOT / "workloads" / "figure2" / "figure2.c")[seed % 2]
    return source, MODES[seed // 2 % 2]


@pytest.mark.parametrize("seed", range(TRIALS))
def test_a_deleted_effect_is_missed(checker: Checker, seed: int) -> None:
    """One of the effects that a run needed, at random, is deleted from the analysis."""
    source, mode = two_programs(seed)
    run = checker.run(checker.compile(source, mode=mode))
    needed = [x for x in run.needed if not x.startswith("edge ")]
    drop = random.Random(seed).choice(needed)
    print(f"seed {seed}: {source.name}, {mode}: without effect '{drop}' of {len(needed)}")
    run = checker.run(checker.compile(source, mode=mode, drop=drop))
    assert run.status == MISS_STATUS, run.output
    assert run.misses


@pytest.mark.parametrize("seed", range(4))
def test_a_deleted_edge_is_missed(checker: Checker, seed: int) -> None:
    source, mode = two_programs(seed)
    run = checker.run(checker.compile(source, mode=mode))
    needed = [x for x in run.needed if x.startswith("edge ")]
    drop = random.Random(seed).choice(needed)
    print(f"seed {seed}: {source.name}, {mode}: without '{drop}' of {len(needed)}")
    run = checker.run(checker.compile(source, mode=mode, drop=drop))
    assert run.status == MISS_STATUS, run.output
    assert all("there is no conflict between them" in x for x in run.misses)


def test_what_is_not_an_effect_cannot_be_deleted(checker: Checker) -> None:
    source = ROOT / "workloads" / "figure2" / "figure2.c"
    with pytest.raises(AssertionError, match="'1 2 3 4 w' is no effect of this program"):
        checker.compile(source, mode="insensitive", drop="1 2 3 4 w")


@pytest.mark.parametrize("mode", MODES)
def test_a_pool_is_trusted_and_contradicted_where_it_lies(checker: Checker, mode: str) -> None:
    catalogue = f"-ftandem-catalogue={PROGRAMS / 'pool.toml'}"
    program = checker.compile(PROGRAMS / "pool.c", mode=mode, flags=(catalogue,))
    run = checker.run(program)
    assert (run.misses, run.status) == ([], 0), run.output
    assert run.needed
    misused = checker.run(program, "misuse")
    assert misused.status == MISS_STATUS
    assert misused.misses
