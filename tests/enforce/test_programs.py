# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that check themselves, at every level of optimisation, under every way to enforce
sections and every number of threads; and the same with nothing enforced, which must fail. Without
TANDEM_LONG=1 (scripts/verify matrices), at half the levels and numbers of threads.
"""

from __future__ import annotations

import os
import re

import pytest
from conftest import ALGORITHMS, PROGRAMS, Compilers
from tandem.experiment.host import has_rtm

SOURCES = (
    *("sections.c", "sections.cc", "blocks.c", "blocks.cc", "restart.c"),
    *("captured.c", "captured_block.c", "by_value.c"),
)
CANCELLING = ("cancel.c", "cancel.cc")  # no lock undoes anything
SHORT = "short.c"  # has nothing that makes threads meet, so unenforced it may well be right
TAKEN = "taken.c"  # is about plain code after sections
DEEP = "deep.c"  # is about the stack
LOCALS = "block_locals.c"  # is about one thread's view
# Those that print how often sections ran again.
COUNTING = ("restart.c", "blocks.c", "captured.c", "captured_block.c", "by_value.c")
LONG = os.environ.get("TANDEM_LONG") == "1"
LEVELS = ("-O0", "-O1", "-O2", "-O3") if LONG else ("-O0", "-O2")
THREADS = (1, 2, 4, 8) if LONG else (1, 4)
ROUNDS = 240  # of all threads together
TRIES = 10  # of a program that is expected to fail now and then; it nearly always does


def check(
    compilers: Compilers, source: str, level: str, enforce: str, algorithms: tuple[str, ...]
) -> str:
    """Compiles, and runs with all numbers of threads. Result: all that the runs printed."""
    name = f"{source}{level}-{enforce}"
    program = compilers.compile(PROGRAMS / source, name, enforce=enforce, level=level)
    printed = ""
    for threads in THREADS:
        for algorithm in algorithms:
            outcome = compilers.run(
                program, threads, ROUNDS // threads, environment={"TANDEM_ALGORITHM": algorithm}
            )
            assert outcome.status == 0, f"{threads} threads, {algorithm}: {outcome}"
            printed += outcome.output
        for phase in ("locks", "transactions") if enforce == "hybrid" else ():
            outcome = compilers.run(
                program, threads, ROUNDS // threads, environment={"TANDEM_HYBRID": phase}
            )
            assert outcome.status == 0, f"{threads} threads, phase of {phase}: {outcome}"
    return printed


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("enforce", ["global-lock", "locks"])
@pytest.mark.parametrize("source", SOURCES)
def test_by_locks(compilers: Compilers, source: str, enforce: str, level: str) -> None:
    check(compilers, source, level, enforce, ("auto",))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("enforce", ["stm", "hybrid"])
@pytest.mark.parametrize("source", SOURCES)
def test_by_transactions(compilers: Compilers, source: str, enforce: str, level: str) -> None:
    printed = check(compilers, source, level, enforce, ALGORITHMS)
    if source in COUNTING:
        restarts = sum(int(x) for x in re.findall(r"restarts (\d+)", printed))
        assert restarts > 0, "no section ever ran again, so nothing was tested"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("enforce", ["stm", "hybrid", "locks"])
def test_short_sections(compilers: Compilers, enforce: str, level: str) -> None:
    check(compilers, SHORT, level, enforce, ALGORITHMS if enforce == "stm" else ("auto",))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("enforce", ["stm", "hybrid", "locks"])
def test_what_a_section_took_out_is_private(compilers: Compilers, enforce: str, level: str) -> None:
    check(compilers, TAKEN, level, enforce, ALGORITHMS if enforce == "stm" else ("auto",))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("enforce", ["stm", "hybrid", "locks"])
def test_a_recursion_does_not_get_a_sections_frame(
    compilers: Compilers, enforce: str, level: str
) -> None:
    program = compilers.compile(
        PROGRAMS / DEEP, f"deep{level}-{enforce}", enforce=enforce, level=level
    )
    outcome = compilers.run(program)
    assert outcome.status == 0, outcome


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("enforce", ["stm", "hybrid"])
def test_locals_of_the_function_around(compilers: Compilers, enforce: str, level: str) -> None:
    check(compilers, LOCALS, level, enforce, ALGORITHMS if enforce == "stm" else ("auto",))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("enforce", ["stm", "hybrid"])
@pytest.mark.parametrize("source", CANCELLING)
def test_cancels(compilers: Compilers, source: str, enforce: str, level: str) -> None:
    check(compilers, source, level, enforce, ALGORITHMS)


@pytest.mark.parametrize("enforce", ["stm", "hybrid"])
@pytest.mark.parametrize("source", CANCELLING)
def test_cancels_in_hardware(compilers: Compilers, source: str, enforce: str) -> None:
    """Hardware transactions, emulated where the processor has none (tests/runtime/rtm_emulator)."""
    program = compilers.compile(
        PROGRAMS / source, f"{source}-hardware-{enforce}", enforce=enforce, level="-O2"
    )
    environment = {"TANDEM_ALGORITHM": "htm"}
    if not has_rtm():
        environment |= {
            "LD_PRELOAD": str(compilers.build / "tests/librtm_emulator.so"),
            "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
            "RTM_EMULATOR_SEED": "5",
        }
    for threads in (1, 4):
        outcome = compilers.run(program, threads, 10, environment=environment)
        assert outcome.status == 0, f"{threads} threads: {outcome}"
        assert "processor has none" not in outcome.output


@pytest.mark.parametrize("source", [*SOURCES, *CANCELLING])
def test_htm(compilers: Compilers, source: str) -> None:
    check(compilers, source, "-O2", "htm", ("auto",))


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("source", SOURCES)
def test_without_enforcement_the_programs_fail(
    compilers: Compilers, source: str, level: str
) -> None:
    program = compilers.compile(
        PROGRAMS / source, f"{source}{level}-none", enforce="none", level=level
    )
    assert compilers.run(program, 1, ROUNDS).status == 0
    outcomes = (compilers.run(program, 4, 2 * ROUNDS, timeout_s=5) for _ in range(TRIES))
    assert any(outcome.status != 0 for outcome in outcomes)
