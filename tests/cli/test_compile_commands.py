# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem analyze -p`: programs as a compilation database says that they are compiled."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Tandem

COUNT = """\
#include "count.h"
int count;
__attribute__((atomic)) void add(void) { count += STEP; }
"""
MAIN = """\
#include <pthread.h>
#include <count.h>
static void *work(void *unused) { add(); return unused; }
int main() {
  pthread_t other;
  if (pthread_create(&other, nullptr, work, nullptr) != 0)
    return 1;
  add();
  return pthread_join(other, nullptr);
}
"""
HEADER = """\
#ifdef __cplusplus
extern "C"
#endif
void add(void);
static inline int none(void) { return 0; }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("src", "include", "build", "elsewhere"):
        (tmp_path / folder).mkdir()
    (tmp_path / "src/count.c").write_text(COUNT)
    (tmp_path / "src/main.cc").write_text(MAIN)
    (tmp_path / "include/count.h").write_text(HEADER)
    return tmp_path


def database(project: Path, *more: dict[str, Any]) -> None:
    build = str(project / "build")
    entries = [
        {
            "directory": build,
            "file": "../src/count.c",
            "command": "ccache gcc -I../include -DSTEP='1 + 1' -Werror -Wno-gcc-only -MD -MF x.d "
            "-o count.o -c ../src/count.c",
        },
        {
            "directory": build,
            "file": str(project / "src/main.cc"),
            "arguments": [
                "g++",
                "-isystem",
                "../include",
                "-c",
                str(project / "src/main.cc"),
            ],
        },
        *more,
    ]
    (project / "build/compile_commands.json").write_text(json.dumps(entries))


def names(report: str) -> dict[str, str]:
    return {x["name"]: f"{x['file']}:{x['line']}" for x in json.loads(report)["sections"]}


@pytest.mark.parametrize("where", ["build", "build/compile_commands.json"])
def test_every_file_with_its_own_flags(tandem: Tandem, project: Path, where: str) -> None:
    database(project)
    report = tandem.output("analyze", "-p", where, "--json", "-", folder=project)
    # Names begin where the command was given, not where the compiler ran.
    assert names(report) == {"add": "src/count.c:3"}
    threads = [x["function"].split("(")[0] for x in json.loads(report)["threads"]]
    assert threads == ["main", "work"]
    assert sorted(file.name for file in (project / "build").iterdir()) == ["compile_commands.json"]


def test_sources_are_found_for_the_page(tandem: Tandem, project: Path) -> None:
    database(project)
    for folder in (project, project / "build", project / "elsewhere"):
        page = tandem.output("analyze", "-p", project / "build", "--html", "-", folder=folder)
        assert "{ count += STEP; }" in page


def test_only_the_files_that_are_named(tandem: Tandem, project: Path) -> None:
    database(project)
    text = tandem.output(
        "analyze",
        "-p",
        "build",
        "src/count.c",
        "--json",
        "-",
        "--",
        "-DMORE",
        folder=project,
    )
    assert names(text) == {"add": "src/count.c:3"}
    assert [x["kind"] for x in json.loads(text)["threads"]] != ["main"]
    message = tandem.mistake("analyze", "-p", "build", "src/other.c", folder=project)
    assert message == "tandem analyze: src/other.c: not in build/compile_commands.json"


def test_files_that_occur_twice_and_other_languages(tandem: Tandem, project: Path) -> None:
    again = {
        "directory": str(project),
        "file": "src/count.c",
        "command": "gcc -c src/count.c",
    }
    other = {
        "directory": str(project),
        "file": "src/start.S",
        "command": "gcc -c src/start.S",
    }
    database(project, again, other)
    assert names(tandem.output("analyze", "-p", "build", "--json", "-", folder=project)) == {
        "add": "src/count.c:3"
    }


def test_mistakes(tandem: Tandem, project: Path) -> None:
    database(project, {"directory": "/nonexistent", "file": "x.c", "command": "cc x.c"})
    assert tandem.mistake("analyze", "-p", "build", folder=project) == (
        "tandem analyze: /nonexistent: no such folder: the compilation database says that x.c is "
        "compiled there"
    )
    database(project, {"directory": str(project), "file": "gone.c", "command": "cc gone.c"})
    assert tandem.mistake("analyze", "-p", "build", folder=project) == (
        f"tandem analyze: {project}/gone.c: cannot be read: No such file or directory"
    )
    (project / "build/compile_commands.json").write_text("[\n{,}]")
    message = tandem.mistake("analyze", "-p", "build", folder=project)
    assert re.match(
        r"tandem analyze: build/compile_commands\.json:2:2: not JSON: unexpected", message
    )


def test_what_cmake_writes(tandem: Tandem, project: Path) -> None:
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(count C CXX)\n"
        "set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\ninclude_directories(include)\n"
        "add_compile_definitions(STEP=1)\nadd_executable(count src/count.c src/main.cc)\n"
    )
    subprocess.run(
        ["cmake", "-S", project, "-B", project / "made", "-G", "Ninja"],
        check=True,
        capture_output=True,
        timeout=120,
    )
    report = tandem.output("analyze", "-p", "made", "--json", "-", folder=project)
    assert names(report) == {"add": "src/count.c:3"}
