# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs, rewritten and compiled by gcc, against the same with threads in sequence.

`TANDEM_SEED=N` replaces the seeds by N; a failure names its seed.
"""

from __future__ import annotations

import os
import random
import subprocess

import pytest
from conftest import REPOSITORY, Rewriter
from generator import generate

ASKED = os.environ.get("TANDEM_SEED")
SEEDS = [int(ASKED)] if ASKED else [2, 5, 14, 15, 36, 37]
THREADS = (1, 3, 8)
ROUNDS = 60


def write(rewriter: Rewriter, seed: int) -> list[str]:
    files = generate(seed)
    for name, text in files.items():
        rewriter.write(name, text)
    return [name for name in files if name.endswith(".c")]


def expected(rewriter: Rewriter, sources: list[str]) -> dict[int, str]:
    """What the program must print, by the number of its threads."""
    flags = ("-O1", "-DTANDEM_SEQUENTIAL", "-Wno-attributes", "-I", REPOSITORY / "include")
    program = rewriter.compile("oracle", *flags, *sources, transactions=False)
    return {threads: rewriter.run(program, 1, threads, ROUNDS) for threads in THREADS}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", ["locks", "hybrid"])
def test_rewritten_sections_are_atomic(rewriter: Rewriter, seed: int, mode: str) -> None:
    sources = write(rewriter, seed)
    wanted = expected(rewriter, sources)
    (rewriter.folder / mode).mkdir()
    rewriter.text("--mode", mode, "--output-dir", mode, *sources, "--", "-w")
    outputs = [f"{mode}/{source}" for source in sources]
    levels = random.Random(seed).sample(["-O0", "-O1", "-O2"], 2)
    libraries = ["", str(rewriter.build / "lib")]  # gcc's libitm, and ours
    for level in levels:
        program = rewriter.compile(
            f"{mode}.program", level, "-I.", *outputs, transactions=mode == "hybrid"
        )
        for library in libraries if mode == "hybrid" else [""]:
            for threads in THREADS:
                printed = rewriter.run(
                    program, 0, threads, ROUNDS, environment={"LD_LIBRARY_PATH": library}
                )
                assert printed == wanted[threads], f"seed {seed}, {mode} {level} '{library}'"


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_as_tandem_cc_has_it(rewriter: Rewriter, seed: int) -> None:
    sources = write(rewriter, seed)
    wanted = expected(rewriter, sources)
    program = rewriter.folder / "by-tandem"
    command = [str(rewriter.build / "bin" / "tandem-cc"), "-std=gnu17", "-O1", "-w", "-pthread"]
    command += ["-ftandem-enforce=global-lock", *sources, "-o", str(program)]
    subprocess.run(command, cwd=rewriter.folder, check=True, capture_output=True)
    for threads in THREADS:
        assert rewriter.run(program, 0, threads, ROUNDS) == wanted[threads], f"seed {seed}"


def test_without_guards_they_are_not(rewriter: Rewriter) -> None:
    """The oracle tells: the same program without any guard loses parts of sections."""
    sources = write(rewriter, SEEDS[0])
    flags = ("-O0", "-DTANDEM_SEQUENTIAL", "-Wno-attributes", "-I", REPOSITORY / "include")
    program = rewriter.compile("bare", *flags, *sources, transactions=False)
    rounds = 30000
    wanted = rewriter.run(program, 1, 8, rounds)
    outcomes = (
        subprocess.run(
            [program, "0", "8", str(rounds)], check=False, capture_output=True, text=True
        )
        for _ in range(10)
    )
    assert any((one.returncode, one.stdout) != (0, wanted) for one in outcomes)


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_no_races_under_locks(rewriter: Rewriter, seed: int) -> None:
    sources = write(rewriter, seed)
    wanted = expected(rewriter, sources)
    (rewriter.folder / "locks").mkdir()
    rewriter.text("--mode", "locks", "--output-dir", "locks", *sources, "--", "-w")
    outputs = [f"locks/{source}" for source in sources]
    flags = ("-O1", "-g", "-fsanitize=thread", "-I.")
    program = rewriter.compile("watched", *flags, *outputs, compiler="clang-19", transactions=False)
    printed = rewriter.run(
        program, 0, 4, 20, environment={"TSAN_OPTIONS": "halt_on_error=1:exitcode=66"}
    )
    assert printed == rewriter.run(program, 1, 4, 20), f"seed {seed}"
    assert wanted
