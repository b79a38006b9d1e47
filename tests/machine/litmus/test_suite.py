# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Litmus tests in files: those in files/, and the public ones below TANDEM_LITMUS.

No state that a log beside them does not have, none that `~exists` or `forall` excludes.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from herd import (
    FileTest,
    State,
    Suite,
    UnknownError,
    assembly,
    judge,
    judged,
    parse,
    parse_log,
    read,
    state_of,
)
from program import build_assembly, printed
from test_litmus import PROTOCOLS, SEED, WEAK, run

FOLDER = os.environ.get("TANDEM_LITMUS", "")
OURS = Path(__file__).resolve().parent / "files"
TIMES = int(os.environ.get("TANDEM_LITMUS_TIMES", "40"))
AT_ONCE = 400  # tests of a program


def seen(
    folder: Path, tests: list[FileTest], protocol: str, times: int, *settings: str
) -> list[list[State]]:
    text = run(build_assembly(folder, assembly(tests)), protocol, times, *settings)
    states: list[list[State]] = [[] for _ in tests]
    for number, _, values in printed(text):
        states[number].append(state_of(tests[number], values))
    return states


def wrong(suite: Suite, states: list[list[State]], tests: list[FileTest]) -> list[str]:
    return [
        f"{test.name}: {state}: {why}"
        for test, found in zip(tests, states, strict=True)
        for state in found
        if (why := judge(suite, test, state)) is not None
    ]


@pytest.mark.parametrize("settings", [(), WEAK], ids=["sequential", "weak"])
def test_files_of_ours(settings: tuple[str, ...], tmp_path: Path) -> None:
    suite = read(OURS)
    assert not suite.unknown
    assert len(suite.tests) == 5
    assert all(judged(suite, test) for test in suite.tests)
    states = seen(tmp_path, suite.tests, "flask", 100, *settings)
    assert wrong(suite, states, suite.tests) == []
    assert sum(len(found) > 1 for found in states) >= 3  # the threads meet
    by_name = {test.name: found for test, found in zip(suite.tests, states, strict=True)}
    relaxed = {"0:x7": 0, "1:x7": 0}
    assert (relaxed in by_name["SB-two-words"]) == bool(settings)


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    """The same tests with a state less, and with conditions that do not hold."""
    suite = read(OURS)
    states = seen(tmp_path, suite.tests, "flask", 60)
    by_name = {test.name: number for number, test in enumerate(suite.tests)}
    less = dict(suite.allowed)
    less["MP-control"] = less["MP-control"][1:]
    less.pop("SB-two-words")
    found = wrong(Suite(suite.tests, {}, less), states, suite.tests)
    assert found
    assert all(each.startswith("MP-control: ") and "no state" in each for each in found)
    without = replace(next(t for t in suite.tests if t.name == "MP-filter"), counts=lambda _: True)
    assert wrong(suite, [states[by_name["MP-filter"]]], [without])
    for name, quantifier in (("SB-fences", "forall"), ("LR-SC-counter", "~exists")):
        text = next(path for path in OURS.glob("*.litmus") if f"RISCV {name}\n" in path.read_text())
        old = {"SB-fences": "~exists", "LR-SC-counter": "forall"}[name]
        turned = parse(text.read_text().replace(f"{old} ", f"{quantifier} "))
        assert wrong(suite, [states[by_name[name]]], [turned])


FRAME = """RISCV T
{ INITIAL }
 P0          | P1          ;
 CODE | nop ;
CLAUSE
"""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"CODE": "vle8.v v1, (x6)"}, "instruction 'vle8.v v1, (x6)'"),
        ({"CODE": "nop | nop"}, "3 columns where there are 2 threads"),
        ({"INITIAL": "3:x5=1; x=0;"}, "3:x5 of a thread that is not there"),
        ({"INITIAL": "0:x5=P1:modified; x=0;"}, "value 'P1:modified'"),
        ({"INITIAL": "0:y5=1; x=0;"}, "register 'y5'"),
        ({"CLAUSE": "exists (0:x5=1"}, "a condition with an open bracket"),
        ({"CLAUSE": "exists (0:x5=x)"}, "value 'x'"),
        ({"CLAUSE": "filter (0:x5=x)\nexists (0:x5=1)"}, "value 'x'"),
        ({"RISCV": "AArch64"}, "a test for AArch64"),
    ],
)
def test_what_is_not_known_is_said(change: dict[str, str], why: str) -> None:
    usual = {"INITIAL": "0:x6=x;", "CODE": "lw x5, 0(x6)", "CLAUSE": "exists (0:x5=0)"}
    text = FRAME
    for old, new in (usual | change).items():
        text = text.replace(old, new)
    with pytest.raises(UnknownError, match=why.replace("(", r"\(").replace(")", r"\)")):
        assembly([parse(text)])


def test_logs_of_what_is_not_known_allow_nothing_by_it() -> None:
    allowed = parse_log(
        "Test A Allowed\nStates 1\n0:x5=x;\nTest B Allowed\nStates 1\nx=1; y=0x2;\n"
    )
    assert allowed == {"B": [{"[x]": 1, "[y]": 2}]}


@pytest.fixture(scope="module")
def public() -> Suite:
    suite = read(Path(FOLDER))
    assert suite.tests, f"{FOLDER}: no litmus test for RISC-V in there"
    for path, why in suite.unknown.items():
        print(f"{path}: not run: {why}")
    known = sum(judged(suite, test) for test in suite.tests)
    print(f"{len(suite.tests)} tests, {known} with an answer, {len(suite.unknown)} not run")
    assert known, f"{FOLDER}: no log says what these tests may show"
    return suite


@pytest.mark.skipif(not FOLDER, reason="TANDEM_LITMUS names no folder with litmus tests")
@pytest.mark.parametrize("settings", [(), WEAK], ids=["sequential", "weak"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_public_ones(
    public: Suite, protocol: str, settings: tuple[str, ...], tmp_path: Path
) -> None:
    found: list[str] = []
    several = 0
    for first in range(0, len(public.tests), AT_ONCE):
        tests = public.tests[first : first + AT_ONCE]
        states = seen(tmp_path, tests, protocol, TIMES, *settings)
        several += sum(len(each) > 1 for each in states)
        found += wrong(public, states, tests)
    print(f"{protocol}: {several} of {len(public.tests)} with several states, seed {SEED}")
    assert found == []
