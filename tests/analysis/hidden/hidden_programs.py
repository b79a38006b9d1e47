# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No address is hidden from the analysis, and no code runs that it does not know of.

`TANDEM_SEED=N` replaces the seeds by N, `TANDEM_HIDDEN_SEEDS=N` takes the first N, each with more
pairs and settings than the one that is tested by itself. A failure names its seed, and the simplest
pair that fails in that way, whose program is kept.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from check import CHECK, ENFORCEMENTS, FOLDER, MODES, Checker, Setting, settings
from program import Program, pairs_of_all, programs_of, random_pairs

ASKED = os.environ.get("TANDEM_SEED")
MANY = int(os.environ.get("TANDEM_HIDDEN_SEEDS", "0"))
BUILD = Path(os.environ["TANDEM_BUILD"])
MOST_SHRUNK = 4  # of one program
RANDOM_PAIRS = 64


@dataclass(frozen=True)
class Case:
    seed: int
    program: Program
    settings: tuple[Setting, ...]

    def __str__(self) -> str:
        return f"{self.program.name}{self.program.suffix}"


def _cases(seed: int, turn: count[int]) -> list[Case]:
    """Programs of all ways and runs, each of which is in one of them, and of random chains."""
    found = []
    for cxx in (False, True):
        rng = random.Random(seed)
        pairs = [x for x in pairs_of_all(rng, cxx) if MANY or x.cxx == cxx]
        rng.shuffle(pairs)
        pairs += random_pairs(rng, RANDOM_PAIRS * (4 if MANY else 1), cxx)
        for program in programs_of(f"seed{seed}", pairs, cxx):
            found.append(Case(seed, program, _settings(next(turn))))
    return found


def _settings(turn: int) -> tuple[Setting, ...]:
    """Those that see most, and one more in turn; where there is time, all."""
    if MANY:
        return tuple(settings())
    one, other = MODES if turn % 2 == 0 else reversed(MODES)
    more = Setting(("stm", "global-lock", "htm")[turn % 3], other)
    return Setting("locks", one), Setting("hybrid", other), Setting(CHECK, one), more


SEEDS = [int(ASKED)] if ASKED else list(range(1, 1 + max(1, MANY)))
TURN = count()
CASES = [case for seed in SEEDS for case in _cases(seed, TURN)]


def test_each_setting_is_tested() -> None:
    tested = {setting for case in CASES for setting in case.settings}
    assert {x.enforcement for x in tested} == {*ENFORCEMENTS, CHECK}
    for enforcement in ("locks", "hybrid", CHECK):
        assert {x.mode for x in tested if x.enforcement == enforcement} == {*MODES}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_is_hidden(case: Case, tmp_path: Path) -> None:
    checker = Checker(BUILD, tmp_path)
    found = checker.failures(case.program, case.settings).of
    lines = []
    for number, texts in sorted(found.items()):
        pair = case.program.pairs[number]
        lines.append(f"pair {number}: {pair}\n    " + "\n    ".join(texts[:4]))
        if len(lines) <= MOST_SHRUNK:
            simplest, told = checker.shrink(f"pair{number}", pair, case.settings)
            if told:
                lines[-1] += f"\n    simplest: {simplest}, {told[0]}, {tmp_path}/pair{number}.*"
    if lines:
        pytest.fail(
            f"seed {case.seed}, {case}: {len(lines)} of {len(case.program.pairs)} pairs\n"
            + "\n".join(lines)
        )


def _small(cxx: bool = False) -> Program:
    pairs = [x for x in pairs_of_all(random.Random(1), cxx) if not x.run.quick]
    return Program("small", tuple(pairs[:8]), cxx)


def test_without_atomicity_updates_are_lost(tmp_path: Path) -> None:
    """The same program as other compilers make it."""
    checker = Checker(BUILD, tmp_path)
    source = tmp_path / "small.c"
    source.write_text(_small().render(), encoding="utf-8")
    include = FOLDER.parents[2] / "include"
    subprocess.run(
        [
            *("clang-19", "-std=gnu17", "-O1", "-pthread", "-w", "-DTANDEM_SEQUENTIAL"),
            *("-I", FOLDER, "-I", include, source, checker.library()),
            *(f"-Wl,-rpath,{tmp_path}", "-lm", "-o", tmp_path / "small"),
        ],
        check=True,
    )
    done = subprocess.run([tmp_path / "small"], capture_output=True, text=True, check=True)
    lost = [int(x) for x in re.findall(r"^pair \d+ lost (-?\d+)$", done.stdout, re.M)]
    assert len(lost) == len(_small().pairs)
    assert any(lost)


@pytest.mark.parametrize("mode", MODES)
def test_an_edge_less_is_noticed(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that checks itself, built without one of its conflicts."""
    checker = Checker(BUILD, tmp_path)
    program = _small()
    setting = Setting(CHECK, mode)
    made = checker.compile(program)
    _, report = checker.link(program, made, setting)
    names = re.findall(r'^ {6}"name": "(\w+)",$', report.read_text(encoding="utf-8"), re.M)
    mine, theirs = (names.index(f"{side}_3") + 1 for side in ("mine", "theirs"))
    drop = f"edge {min(mine, theirs)} {max(mine, theirs)}"
    monkeypatch.setattr(
        Checker,
        "_environment",
        lambda _: {**os.environ, "TANDEM_CHECK_EFFECTS_DROP": drop},
    )
    found = checker.failures(program, [setting]).of
    assert set(found) == {3}
    assert all("there is no conflict between them" in text for text in found[3])
