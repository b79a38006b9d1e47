# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Litmus tests on simulated caches, under every protocol: no outcome outside the memory model's.

Without a store buffer the harts promise more than RVWMO asks, sequential consistency: an outcome
that RVWMO would allow but no interleaving gives is a failure, too. With one, outcomes that only
RVWMO allows are seen. The model itself is held to verdicts of the manual.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from model import Litmus, Op, Outcome, outcomes
from program import build, parse
from shapes import SHAPES, chosen, variants

MACHINE = Path(os.environ["TANDEM_BUILD"]) / "libexec" / "tandem-machine"
PROTOCOLS = (
    "mesi-snoop",
    "token-b",
    "sparse-directory",
    "mosaic",
    "flask",
    "flask-plus",
)
LONG = os.environ.get("TANDEM_LONG") == "1"
PER_SHAPE = 40 if LONG else 2
TIMES = 200 if LONG else 40
RELAXED_TIMES = 1000 if LONG else 200
SEED = 1
IN_ORDER = ("--set", "hart.store_buffer=8")
WEAK = (*IN_ORDER, "--set", "hart.store_order=weak")


@dataclass(frozen=True)
class Prepared:
    program: Path
    tests: list[Litmus]
    weak: list[frozenset[Outcome]]
    sequential: list[frozenset[Outcome]]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    made = chosen(PER_SHAPE, SEED)
    answers = [outcomes(test) for test in made]
    return Prepared(
        build(tmp_path_factory.mktemp("litmus"), made),
        made,
        [weak for weak, _ in answers],
        [sequential for _, sequential in answers],
    )


def run(program: Path, protocol: str, times: int, *more: str) -> str:
    done = subprocess.run(
        [str(MACHINE), "exec", "--harts", "4", "--protocol", protocol, *more, str(program),
         str(times), str(SEED)],
        capture_output=True, text=True, check=False, timeout=3600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("model", ["in-order", "window"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_outcome_outside_the_model(prepared: Prepared, protocol: str, model: str) -> None:
    seen = parse(
        prepared.tests, run(prepared.program, protocol, TIMES, "--set", f"hart.model={model}")
    )
    wrong = [
        f"{test.name}: {outcome}, {count} times, {'RVWMO allows it' if outcome in weak else ''}"
        for test, found, weak, sequential in zip(
            prepared.tests, seen, prepared.weak, prepared.sequential, strict=True
        )
        for outcome, count in found.items()
        if outcome not in sequential
    ]
    assert wrong == []
    # Silence proves something only where threads do meet: most tests have several outcomes.
    several = sum(len(found) > 1 for found in seen)
    assert 2 * several > len(seen), f"{several} of {len(seen)}"
    assert all(sum(found.values()) == TIMES for found in seen)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_store_buffers_reorder_no_more_than_rvwmo(prepared: Prepared, protocol: str) -> None:
    seen = parse(prepared.tests, run(prepared.program, protocol, TIMES, *WEAK))
    wrong = [
        f"{test.name}: {outcome}, {count} times"
        for test, found, weak in zip(prepared.tests, seen, prepared.weak, strict=True)
        for outcome, count in found.items()
        if outcome not in weak
    ]
    assert wrong == []
    assert all(sum(found.values()) == TIMES for found in seen)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Shapes that stores in a buffer show relaxed, and the same with what keeps their order."""
    names = {
        "SB": [
            "po+po",
            "fence.rw.rw+fence.rw.rw",
            "fence.w.r+fence.rw.rw",
            "aq.rl+aq.rl+amo",
        ],
        "MP": [
            "po+po",
            "fence.w.w+addr",
            "rl+aq+amo",
            "rl+aq+pair",
            "fence.rw.w+fence.r.rw",
        ],
        "2+2W": ["po+po", "fence.w.w+fence.rw.rw", "rl+rl+amo", "rl+rl+pair"],
        "R": ["po+po", "fence.w.w+fence.w.r"],
    }
    tests = [
        next(each for each in variants(shape) if each.name == f"{shape}+{name}")
        for shape, some in names.items()
        for name in some
    ]
    answers = [outcomes(test) for test in tests]
    return Prepared(
        build(tmp_path_factory.mktemp("plain"), tests),
        tests,
        [weak for weak, _ in answers],
        [sequential for _, sequential in answers],
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("settings", [IN_ORDER, WEAK], ids=["in-order", "weak"])
def test_relaxed_outcomes_are_seen(
    plain: Prepared, protocol: str, settings: tuple[str, ...]
) -> None:
    """Those that only RVWMO allows, of the tests whose stores may wait for them."""
    seen = parse(plain.tests, run(plain.program, protocol, RELAXED_TIMES, *settings))
    shown = set()
    for test, found, weak, sequential in zip(
        plain.tests, seen, plain.weak, plain.sequential, strict=True
    ):
        assert set(found) <= weak, test.name
        if set(found) - sequential:
            shown.add(test.name)
    must = {"SB+po+po"}
    may = {"SB+po+po", "R+po+po"}
    if settings == WEAK:
        must |= {"MP+po+po", "2+2W+po+po"}
        may |= must
    assert must <= shown <= may


def test_harts_that_reorder_would_be_found(tmp_path: Path) -> None:
    """Threads whose two accesses change places are what such harts would make of them."""
    shapes = ("MP", "SB", "LB", "R", "S", "2+2W")
    plain = [next(variants(shape)) for shape in shapes]
    turned = [
        Litmus(test.name, tuple(tuple(reversed(ops)) for ops in test.threads)) for test in plain
    ]
    seen = parse(plain, run(build(tmp_path, turned), "flask", 100))
    assert all(
        set(found) - sequential and not set(found) - weak
        for found, (weak, sequential) in zip(seen, map(outcomes, plain), strict=True)
    )


RELAXED = {  # registers of the outcome that no interleaving has; then last values
    "MP": ((1, 0), None),
    "SB": ((0, 0), None),
    "LB": ((1, 1), None),
    "R": ((0,), (1, 2)),
    "S": ((1,), (2, 1)),
    "2+2W": ((), (1, 1)),
    "CoRR": ((1, 0), None),
    "WRC": ((1, 1, 0), None),
    "RWC": ((1, 0, 0), None),
    "ISA2": ((1, 1, 0), None),
    "IRIW": ((1, 0, 1, 0), None),
    "W+RWC": ((1, 0, 0), None),
}


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("MP+po+po", True),
        ("MP+fence.w.w+fence.r.r", False),
        ("MP+fence.w.w+addr", False),
        ("MP+fence.w.w+ctrl", True),
        ("MP+fence.w.w+po", True),
        ("MP+fence.r.r+fence.r.r", True),
        ("MP+rl+aq+amo", False),
        ("SB+po+po", True),
        ("SB+fence.rw.rw+fence.rw.rw", False),
        ("SB+fence.w.r+fence.w.r", False),
        ("SB+fence.w.w+fence.rw.rw", True),
        ("LB+po+po", True),
        ("LB+data+data", False),
        ("LB+ctrl+addr", False),
        ("LB+po+data", True),
        ("R+fence.w.w+fence.w.r", False),
        ("R+fence.w.w+po", True),
        ("S+fence.w.w+data", False),
        ("S+fence.w.w+po", True),
        ("2+2W+po+po", True),
        ("2+2W+fence.w.w+fence.w.w", False),
        ("CoRR+po", False),
        ("WRC+po+po", True),
        ("WRC+data+addr", False),  # a store is seen by all others at once
        ("WRC+po+addr", True),
        ("RWC+addr+fence.w.r", False),
        ("ISA2+fence.w.w+data+addr", False),
        ("IRIW+po+po", True),
        ("IRIW+addr+addr", False),
        ("IRIW+fence.r.r+fence.r.r", False),
        ("W+RWC+fence.w.w+addr+po", True),
        ("W+RWC+fence.w.w+addr+fence.w.r", False),
    ],
)
def test_known_verdicts(name: str, allowed: bool) -> None:
    test = next(each for each in variants(shape_of(name)) if each.name == name)
    registers, places = RELAXED[shape_of(name)]
    # Of writes in another flavour the results are not part of the shape.
    reads = [
        (thread, op.register)
        for thread, ops in enumerate(test.threads)
        for op in ops
        if op.register is not None and shape_reads(name, thread, ops, op)
    ]
    offsets = [sum(test.results(before) for before in range(t)) for t in range(len(test.threads))]
    weak, _ = outcomes(test)
    hits = [
        outcome
        for outcome in weak
        if tuple(outcome.registers[offsets[t] + (r or 0)] for t, r in reads) == registers
        and (places is None or outcome.places == places)
    ]
    assert bool(hits) == allowed


def shape_of(name: str) -> str:
    return max((shape for shape in SHAPES if name.startswith(shape + "+")), key=len)


def shape_reads(name: str, thread: int, ops: tuple[Op, ...], op: Op) -> bool:
    """Whether it stands for a read of the shape."""
    accesses = [each for each in ops if each.kind != "fence"]
    return SHAPES[shape_of(name)][thread][accesses.index(op)].kind == "load"


def test_store_conditionals_are_atomic() -> None:
    """Two increments by LR and SC: both that succeed are seen."""
    increment = (Op("lr", 0, register=0), Op("sc", 0, 1, register=1))
    other = (Op("lr", 0, register=0), Op("sc", 0, 2, register=1))
    weak, _ = outcomes(Litmus("two", (increment, other)))
    assert not any(
        first == second == 0 and a == b == 0 for a, first, b, second in (o.registers for o in weak)
    )
