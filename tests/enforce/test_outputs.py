# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program, a library that it is linked with and a plugin that it loads, each planned alone, with
sections on the same data."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ALGORITHMS, MODES, PROGRAMS, Compilers

OUTPUTS = PROGRAMS / "outputs"
ROUNDS = 60


def build(compilers: Compilers, enforce: str, level: str) -> tuple[Path, Path]:
    """The program and the plugin."""
    mark = f"{enforce}{level}"
    shared = ("-fPIC", "-shared")
    library = compilers.compile(
        OUTPUTS / "library.c", f"libouter{mark}.so", enforce=enforce, level=level, flags=shared
    )
    plugin = compilers.compile(
        OUTPUTS / "plugin.c", f"plugin{mark}.so", enforce=enforce, level=level, flags=shared
    )
    host = compilers.compile(
        OUTPUTS / "host.c",
        f"host{mark}",
        enforce=enforce,
        level=level,
        flags=("-rdynamic", str(library), f"-Wl,-rpath,{compilers.folder}"),
    )
    return host, plugin


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("enforce", MODES)
def test_outputs_exclude_each_other(compilers: Compilers, enforce: str, level: str) -> None:
    host, plugin = build(compilers, enforce, level)
    for threads in (1, 2, 4):
        outcome = compilers.run(host, plugin, threads, ROUNDS)
        assert outcome.status == 0, f"{threads} threads: {outcome}"


def test_without_enforcement_they_do_not(compilers: Compilers) -> None:
    host, plugin = build(compilers, "none", "-O2")
    assert compilers.run(host, plugin, 1, ROUNDS).status == 0
    outcomes = (compilers.run(host, plugin, 4, 10 * ROUNDS) for _ in range(10))
    assert any(outcome.status == 1 for outcome in outcomes)


def build_handed(compilers: Compilers, enforce: str) -> Path:
    library = compilers.compile(
        OUTPUTS / "caller.c",
        f"libcaller{enforce}.so",
        enforce=enforce,
        level="-O2",
        flags=("-fPIC", "-shared"),
    )
    return compilers.compile(
        OUTPUTS / "handed.c",
        f"handed{enforce}",
        enforce=enforce,
        level="-O2",
        flags=(str(library), f"-Wl,-rpath,{compilers.folder}"),
    )


@pytest.mark.parametrize("enforce", MODES)
def test_another_outputs_section_calls_a_function(compilers: Compilers, enforce: str) -> None:
    """It is in no section of its own output, which has sections on the same data."""
    handed = build_handed(compilers, enforce)
    for algorithm in ("auto", *(ALGORITHMS if enforce in ("stm", "hybrid", "htm") else ())):
        environment = {"TANDEM_ALGORITHM": algorithm}
        outcome = compilers.run(handed, 10 * ROUNDS, environment=environment)
        assert outcome.status == 0, f"{algorithm}: {outcome}"


def test_without_enforcement_changes_are_lost(compilers: Compilers) -> None:
    handed = build_handed(compilers, "none")
    outcomes = (compilers.run(handed, 10 * ROUNDS) for _ in range(10))
    assert any(outcome.status == 1 for outcome in outcomes)
