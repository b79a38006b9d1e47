# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Projects that nobody prepared build through the compilers and do what they did before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Compilers, copy_project

MODES = ["none", "default", "report"]


def build_cmake(compilers: Compilers, project: Path) -> None:
    configure = compilers.run(
        [
            "cmake",
            *("-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release"),
            f"-DCMAKE_AR={compilers.tool('ar')}",
            f"-DCMAKE_RANLIB={compilers.tool('ranlib')}",
            f"-DCMAKE_NM={compilers.tool('nm')}",
        ],
        project,
    )
    assert "The C compiler identification is Clang 19" in configure.stdout
    assert "warning" not in configure.stderr.lower()
    compilers.run(["cmake", "--build", "build"], project)


def build_autotools(compilers: Compilers, project: Path) -> None:
    compilers.run(["autoreconf", "--install"], project)
    compilers.run(["./configure"], project)
    compilers.run(["make"], project)


def build_make(compilers: Compilers, project: Path) -> None:
    built = compilers.run(["make"], project)
    assert built.stderr == ""


# Project, how it is built, the program to run, what it prints, its linked outputs.
CASES = [
    pytest.param(
        "cmake",
        build_cmake,
        "build/wordcount",
        "words 16000 letters 64000 long 8 checks 10\n",
        ["wordcount"],
        id="cmake",
    ),
    pytest.param(
        "autotools",
        build_autotools,
        "./sum",
        "sum 10.0 helped 42 pointer 8\n",
        ["sum", "libsum.so.0.0.0"],
        id="autotools",
    ),
    pytest.param(
        "cxx",
        build_make,
        "./shapes",
        "total 30 shape\ncaught no shape circle\n",
        ["shapes"],
        id="cxx",
    ),
    pytest.param("dlopen", build_make, "./host", "plugin 42\n", ["host", "plugin.so"], id="dlopen"),
    pytest.param("make_ar", build_make, "./stack", "pushed 8 sum 28\n", ["stack"], id="make_ar"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "build", "program", "expected", "outputs"), CASES)
def test_project(
    compilers: Compilers,
    tmp_path: Path,
    name: str,
    build: Callable[[Compilers, Path], None],
    program: str,
    expected: str,
    outputs: list[str],
    mode: str,
) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    if mode == "none":
        compilers = compilers.with_environment(TANDEM_ENFORCE="none")
    elif mode == "report":
        compilers = compilers.with_environment(TANDEM_REPORT=f"{reports}/%o.json")
    project = copy_project(name, tmp_path)
    build(compilers, project)
    assert compilers.run([program], project).stdout == expected
    if mode != "report":
        assert list(reports.iterdir()) == []
        return
    for output in outputs:
        report = json.loads((reports / f"{output}.json").read_text())
        assert report["version"] == 1
        assert report["enforcement"]["requested"] == "hybrid"


@pytest.mark.parametrize("enforcement", ["global-lock", "locks", "stm", "hybrid"])
def test_marked_sections_are_atomic(compilers: Compilers, tmp_path: Path, enforcement: str) -> None:
    project = copy_project("sections", tmp_path)
    compilers.cc(
        *("-O2", "-Wall", "-Werror", f"-ftandem-enforce={enforcement}", "counter.c"),
        *("-o", "counter", "-lpthread"),
        folder=project,
    )
    result = compilers.run(["./counter"], project)
    assert result.stdout == "count 80000 twice 160000 torn 0\n"
