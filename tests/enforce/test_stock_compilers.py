# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks and lambdas of C++ that other compilers than ours build: libtandem makes them atomic."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAMS, Compilers

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
