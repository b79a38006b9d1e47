# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No execution of a generated program has a conflict that the analysis does not have.

`TANDEM_SEED=N` replaces the seeds by N, `TANDEM_SEEDS=N` takes the first N; a failure names its
seed and keeps the program, with all statements left out that it does not need.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from generator import generate
from observed import MODES, clashes, edges, execute, misses, shrink

ASKED = os.environ.get("TANDEM_SEED")
SEEDS = [int(ASKED)] if ASKED else list(range(1, 1 + int(os.environ.get("TANDEM_SEEDS", "40"))))
BUILD = Path(os.environ["TANDEM_BUILD"])


@pytest.mark.parametrize("seed", SEEDS)
def test_observed_conflicts_are_in_the_report(seed: int, tmp_path: Path) -> None:
    program = generate(seed)
    source = tmp_path / "whole.c"
    source.write_text(program.render(), encoding="utf-8")
    observed = clashes(execute(source))
    for mode in MODES:
        known = edges(BUILD, source, mode)
        if not observed.keys() <= known:
            missed, smallest = shrink(BUILD, program, tmp_path, mode)
            text = "\n".join(str(clash) for clash in missed)
            pytest.fail(f"seed {seed}, {mode}: {smallest} misses\n{text}")
        # The generator knows two sections that share nothing with any other.
        assert not {pair for pair in known if pair[0] != pair[1] and {*pair} & {*program.alone}}


def test_sensitive_edges_are_some_of_the_insensitive_ones(tmp_path: Path) -> None:
    for seed in SEEDS[:10]:
        source = tmp_path / f"{seed}.c"
        source.write_text(generate(seed).render(), encoding="utf-8")
        assert edges(BUILD, source, "sensitive") <= edges(BUILD, source, "insensitive"), seed


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_an_edge_less_is_noticed(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = generate(seed)
    source = tmp_path / "whole.c"
    source.write_text(program.render(), encoding="utf-8")
    observed = clashes(execute(source))
    assert observed
    for pair in observed:
        known = edges(BUILD, source, "insensitive") - {pair}
        monkeypatch.setattr("observed.edges", lambda *_, known=known: known)
        assert [clash.sections for clash in misses(BUILD, program, tmp_path, "insensitive")] == [
            pair
        ]
        monkeypatch.undo()
