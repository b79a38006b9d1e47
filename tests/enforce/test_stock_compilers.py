# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks and lambdas of C++ that other compilers than ours build: libtandem makes them atomic, also
beside sections that ours build, and beside transactions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import ALGORITHMS, MODES, PROGRAMS, Compilers

INCLUDE = Path(__file__).parents[2] / "include"


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_blocks_are_atomic(compilers: Compilers, compiler: str, level: str) -> None:
    program = compilers.folder / f"stock-{compiler}{level}"
    libraries = compilers.build / "lib"
    command = [
        *(compiler, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", level),
        *("-pthread", "-I", str(PROGRAMS), "-I", str(INCLUDE)),
        *(str(PROGRAMS / "blocks.cc"), str(compilers.interleave), "-o", str(program)),
        *(f"-L{libraries}", "-ltandem", f"-Wl,-rpath,{libraries}"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for threads in (1, 4):
        outcome = compilers.run(program, threads, 200)
        assert outcome.status == 0, outcome.output


def plain_part(compilers: Compilers) -> Path:
    part = compilers.folder / "mixed_plain.o"
    if not part.exists():
        command = ["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-I", str(INCLUDE)]
        command += ["-c", str(PROGRAMS / "mixed_plain.cc"), "-o", str(part)]
        subprocess.run(command, check=True)
    return part


@pytest.mark.parametrize("enforce", MODES)
def test_blocks_are_atomic_beside_sections_of_ours(compilers: Compilers, enforce: str) -> None:
    name = f"mixed-{enforce}"
    libraries = compilers.build / "lib"
    flags = (str(plain_part(compilers)), f"-L{libraries}", "-ltandem", f"-Wl,-rpath,{libraries}")
    program = compilers.compile(
        PROGRAMS / "mixed.cc", name, enforce=enforce, level="-O2", flags=flags
    )
    fixed = ALGORITHMS if enforce == "stm" else ("auto",)
    for algorithm in fixed:
        environment = {"TANDEM_ALGORITHM": algorithm}
        outcome = compilers.run(program, 50_000, environment=environment)
        assert outcome.status == 0, f"{algorithm}: {outcome.output}"


def test_blocks_are_atomic_beside_transactions(compilers: Compilers) -> None:
    program = compilers.folder / "mixed-library"
    libraries = compilers.build / "lib"
    command = [
        *("g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-DLIBRARY"),
        *("-I", str(INCLUDE), str(PROGRAMS / "mixed.cc"), str(plain_part(compilers))),
        *("-o", str(program), f"-L{libraries}", "-ltandem_tm", "-ltandem"),
        f"-Wl,-rpath,{libraries}",
    ]
    subprocess.run(command, check=True)
    for algorithm in (*ALGORITHMS, "auto"):
        outcome = compilers.run(program, 50_000, environment={"TANDEM_ALGORITHM": algorithm})
        assert outcome.status == 0, f"{algorithm}: {outcome.output}"
