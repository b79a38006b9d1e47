# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The peer that the micro-benchmarks are measured against: NOrec by hand (workloads/micro)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BENCHMARKS, MICRO, SECONDS

HERE = Path(__file__).parent
COMPILERS = {
    "gcc": ["gcc", "-O2"],
    # What bench/transactions measures.
    "clang-lto": ["clang-19", "-O2", "-flto", "-fuse-ld=lld"],
}
Build = Callable[[str, list[Path]], Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    folder = tmp_path_factory.mktemp("by-hand")

    def compile_once(compiler: str, sources: list[Path]) -> Path:
        program = folder / f"{compiler}-{sources[0].stem}"
        if not program.exists():
            command = [*COMPILERS[compiler], "-Wall", "-Wextra", "-Werror", "-pthread"]
            command += ["-DMICRO_NOREC_BY_HAND", f"-I{MICRO}", *map(str, sources)]
            subprocess.run([*command, "-o", str(program)], check=True)
        return program

    return compile_once


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("threads", ["2", "6"])
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_no_operation_is_lost(build: Build, benchmark: str, threads: str, compiler: str) -> None:
    program = build(compiler, [MICRO / "micro.c", MICRO / "structures.c"])
    command = [str(program), benchmark, threads, "40"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    assert '"variant": "norec-by-hand"' in done.stdout


@pytest.mark.parametrize("compiler", COMPILERS)
def test_rules(build: Build, compiler: str) -> None:
    """Validation by value, the redo log, and blocks that wait for older sections."""
    program = build(compiler, [HERE / "by_hand/norec.c"])
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
