# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Under `locks` the colours alone must order what sections do: ThreadSanitizer, which the runtime
tells what each colour orders, sees no race; in a program that is not enforced it does.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import PROGRAMS, Compilers, Outcome
from histories import generate, is_cxx

SEEDS = range(1, int(os.environ.get("TANDEM_SEEDS", "4")) + 1)
TSAN = {"TSAN_OPTIONS": "exitcode=66 halt_on_error=1 report_atomic_races=0"}


def run(compilers: Compilers, source: Path, enforce: str, arguments: tuple[int, ...]) -> Outcome:
    program = compilers.compile(
        source,
        f"{source.name}-tsan-{enforce}",
        enforce=enforce,
        level="-O0",
        flags=(
            *("-DATOMIC=__attribute__((atomic))", "-Wno-macro-redefined"),
            *("-Wno-unused", "-fsanitize=thread"),
        ),
    )
    return compilers.run(program, *arguments, environment=TSAN)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_race_in_random_sections(compilers: Compilers, seed: int) -> None:
    source = compilers.folder / f"tsan{seed}.{'cc' if is_cxx(seed) else 'c'}"
    source.write_text(generate(seed), encoding="utf-8")
    outcome = run(compilers, source, "locks", (4, 40))
    assert outcome.status == 0, f"seed {seed}: {outcome.output[:4000]}; {source}"


@pytest.mark.parametrize("name", ["sections.c", "blocks.c"])
def test_no_race_in_programs(compilers: Compilers, name: str) -> None:
    outcome = run(compilers, PROGRAMS / name, "locks", (4, 40))
    assert outcome.status == 0, outcome.output[:4000]


def test_a_race_would_be_seen(compilers: Compilers) -> None:
    outcome = run(compilers, PROGRAMS / "sections.c", "none", (4, 40))
    assert outcome.status == 66, outcome.output[:4000]
