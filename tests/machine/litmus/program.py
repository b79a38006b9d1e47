# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Litmus tests as one program: a function for each thread, run over and over by harness.c.

a0 is the first place (each in a line of its own), a1 where the results go; t0 to t2 are the places'
addresses, a4 to a7 the results, t4 and t5 what dependencies need.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from model import Litmus, Op, Outcome

HERE = Path(__file__).resolve().parent
STRIDE = 64
# As in harness.c.
THREADS, PLACES, RESULTS = 4, 8, 16


def instructions(op: Op, label: str) -> list[str]:
    if op.kind == "fence":
        return [f"fence {op.before}, {op.after}"]
    lines = []
    if op.control is not None:
        lines += [f"bnez a{4 + op.control}, {label}", f"{label}:"]
    place = f"t{op.place}"
    if op.address is not None:
        source = f"a{4 + op.address}"
        lines += [f"xor t4, {source}, {source}", f"add t5, {place}, t4"]
        place = "t5"
    lines.append(f"li a2, {op.value}")
    if op.data is not None:
        source = f"a{4 + op.data}"
        lines += [f"xor t4, {source}, {source}", "add a2, a2, t4"]
    marks = ("." if op.aq or op.rl else "") + ("aq" if op.aq else "") + ("rl" if op.rl else "")
    result = "zero" if op.register is None else f"a{4 + op.register}"
    lines.append(
        {
            "load": f"ld {result}, 0({place})",
            "store": f"sd a2, 0({place})",
            "amo": f"amoswap.d{marks} {result}, a2, ({place})",
            "lr": f"lr.d{marks} {result}, ({place})",
            "sc": f"sc.d{marks} {result}, a2, ({place})",
        }[op.kind]
    )
    return lines


def assembly(tests: list[Litmus]) -> str:
    lines = [".text"]
    table = [".section .rodata", ".globl tests, tests_end", ".balign 8", "tests:"]
    for number, test in enumerate(tests):
        for thread, ops in enumerate(test.threads):
            name = f"body_{number}_{thread}"
            lines += [".balign 64", f"{name}:"]
            lines += [f"addi t{place}, a0, {STRIDE * place}" for place in range(test.places)]
            for index, op in enumerate(ops):
                lines += instructions(op, f".L{number}_{thread}_{index}")
            lines += [f"sd a{4 + n}, {8 * n}(a1)" for n in range(test.results(thread))]
            lines.append("ret")
        results = [test.results(thread) for thread in range(len(test.threads))]
        table += row(number, results, [0] * test.places)
    return "\n".join([*lines, *table, "tests_end:", ""])


def row(number: int, results: list[int], initial: list[int]) -> list[str]:
    """A `struct test` of harness.c; `results`: how many each thread has, `initial`: the places."""
    count = len(results)
    bodies = [f"body_{number}_{thread}" for thread in range(count)] + ["0"] * (THREADS - count)
    return [
        f".dword {', '.join(bodies)}",
        f".word {', '.join(map(str, results + [0] * (THREADS - count)))}, {count}, {len(initial)}",
        f".dword {', '.join(map(str, initial + [0] * (PLACES - len(initial))))}",
    ]


def build(folder: Path, tests: list[Litmus]) -> Path:
    return build_assembly(folder, assembly(tests))


def build_assembly(folder: Path, text: str) -> Path:
    source = folder / "tests.S"
    source.write_text(text)
    program = folder / "litmus"
    subprocess.run(
        ["riscv64-linux-gnu-gcc", "-O2", "-static", "-pthread", "-Wall", "-o", str(program),
         str(HERE / "harness.c"), str(source)],
        check=True,
    )  # fmt: skip
    return program


def printed(text: str) -> Iterator[tuple[int, int, list[int]]]:
    """Number of the test, how often, registers and places."""
    for line in text.splitlines():
        number, count, *values = map(int, line.split())
        yield number, count, values


def parse(tests: list[Litmus], text: str) -> list[dict[Outcome, int]]:
    """How often each test had which outcome; `text` is what the program has printed."""
    found: list[dict[Outcome, int]] = [{} for _ in tests]
    for number, count, values in printed(text):
        test = tests[number]
        registers = len(values) - test.places
        outcome = Outcome(tuple(values[:registers]), tuple(values[registers:]))
        found[number][outcome] = count
    return found
