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


TARGETS = """\
cmake_minimum_required(VERSION 3.16)
project(two C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)
add_library(store STATIC store.c spare.c)
add_library(shown SHARED shown.c)
foreach(name one two)
  add_executable(${name} main.c)
  target_compile_definitions(${name} PRIVATE NAME=${name}_step)
  target_link_libraries(${name} store Threads::Threads)
endforeach()
"""
STORE = """\
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int stored;
void store(int n) { pthread_mutex_lock(&m); stored += n; pthread_mutex_unlock(&m); }
"""
USER = """\
#include <pthread.h>
void store(int n);
static void *NAME(void *unused) { store(1); return unused; }
int main(void) {
  pthread_t other;
  if (pthread_create(&other, 0, NAME, 0) != 0)
    return 1;
  return pthread_join(other, 0);
}
"""


@pytest.fixture(params=["Ninja", "Unix Makefiles", "no link commands"])
def built(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A project with two programs, a static and a shared library, configured in `made`."""
    (tmp_path / "CMakeLists.txt").write_text(TARGETS)
    (tmp_path / "store.c").write_text(STORE)
    (tmp_path / "spare.c").write_text(STORE.replace("store", "spare"))
    (tmp_path / "shown.c").write_text(STORE.replace("store", "shown"))
    (tmp_path / "main.c").write_text(USER)
    generator = "Ninja" if request.param == "Ninja" else "Unix Makefiles"
    subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "made", "-G", generator],
        check=True,
        capture_output=True,
        timeout=120,
    )
    if request.param == "no link commands":
        # As Bear writes it: two programs of a file each.
        for name in ("one", "two"):
            (tmp_path / f"{name}.c").write_text(USER.replace("NAME", f"{name}_step"))
        files = ["store.c", "spare.c", "one.c", "two.c"]
        (tmp_path / "apart").mkdir()
        (tmp_path / "apart/compile_commands.json").write_text(
            json.dumps(
                [{"directory": str(tmp_path), "file": f, "command": f"cc -c {f}"} for f in files]
            )
        )
        (tmp_path / "made").rename(tmp_path / "unused")
        (tmp_path / "apart").rename(tmp_path / "made")
    return tmp_path


def test_one_answer_a_target(tandem: Tandem, built: Path) -> None:
    tandem.output("analyze", "-p", "made", "--json", "%o.json", folder=built)
    reports = {file.stem: json.loads(file.read_text()) for file in built.glob("*.json")}
    linked = {"one", "two", "libshown"} - (
        set() if (built / "made/CMakeFiles").exists() else {"libshown"}
    )
    assert {name.split(".")[0] for name in reports} == linked
    for name in ("one", "two"):
        # What the static library's other object has is not in the program.
        assert [s["name"] for s in reports[name]["sections"]] == ["store_1"]
        assert f"{name}_step" in [t["function"] for t in reports[name]["threads"]]
    text = tandem.output("analyze", "-p", "made", folder=built)
    assert text.count("PROGRAM") == len(linked)


def test_one_target(tandem: Tandem, built: Path) -> None:
    report = json.loads(
        tandem.output("analyze", "-p", "made", "--target", "two", "--json", "-", folder=built)
    )
    assert "two_step" in [t["function"] for t in report["threads"]]
    message = tandem.mistake("analyze", "-p", "made", "--target", "thre", folder=built)
    assert "--target thre: the build links no such program or library" in message
    message = tandem.mistake("analyze", "-p", "made", "--json", "-", folder=built)
    assert "standard output: would be of each of" in message
    message = tandem.mistake("analyze", "store.c", "--target", "one", folder=built)
    assert message == "tandem analyze: --target: is for -p; add it"
