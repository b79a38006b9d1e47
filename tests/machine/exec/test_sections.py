# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that tandem-cc compiles for the machine's harts: unchanged, under every enforcement."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cross import SOURCE

BUILD = Path(os.environ["TANDEM_BUILD"])
MACHINE = BUILD / "libexec" / "tandem-machine"
TARGET = "--target=riscv64-linux-gnu"
ENFORCEMENTS = ("global-lock", "locks", "stm", "hybrid", "htm")

COUNTER = """
#include <pthread.h>
#include <stdio.h>
#include "tandem/tandem.h"
static long counter, twice;
TANDEM_ATOMIC void add(long more) { counter += more; twice += 2 * more; }
static void *run(void *unused) {
  (void)unused;
  for (int i = 0; i < 300; ++i)
    add(1);
  return 0;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], 0);
  printf("%ld %ld\\n", counter, twice);
  return 0;
}
"""

# Sections that hold what the hardware refuses (a system call) and what it undoes (a cancel).
MIXED = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tandem/tandem.h"
static long entries, printed;
static char *names[64];
TANDEM_ATOMIC int enter(const char *name) {
  for (long i = 0; i < entries; ++i)
    if (strcmp(names[i], name) == 0)
      return 0;
  names[entries] = malloc(strlen(name) + 1);
  strcpy(names[entries++], name);
  return 1;
}
TANDEM_ATOMIC void tell(void) {
  ++printed;
  fputs("told\\n", stdout);
}
static void *run(void *unused) {
  char name[16];
  (void)unused;
  for (int i = 0; i < 40; ++i) {
    snprintf(name, sizeof name, "name %d", i);
    enter(name);
  }
  tell();
  return 0;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], 0);
  printf("%ld %ld %s\\n", entries, printed, names[39]);
  return 0;
}
"""
MIXED_RESULT = "told\n" * 4 + "40 4 name 39\n"


# Containers, strings, exceptions that leave a section.
CPP = """
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <tandem/tandem.hpp>
#include <thread>
#include <vector>
static std::map<std::string, long> counts;
static long refused;
__attribute__((atomic)) void add(const std::string &name) { ++counts[name]; }
__attribute__((atomic)) void refuse(long number) {
  if (number % 7 != 0)
    return;
  ++refused;
  throw std::runtime_error("seven");
}
static void run() {
  for (int i = 0; i < 30; ++i) {
    add("name " + std::to_string(i % 5));
    try {
      refuse(i);
    } catch (const std::exception &) {
    }
  }
}
int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(run);
  for (std::thread &thread : threads)
    thread.join();
  long sum = 0;
  for (const auto &[name, count] : counts)
    sum += count;
  std::printf("%ld %ld %zu\\n", sum, refused, counts.size());
}
"""

Build = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """A text under an enforcement, built once."""
    made: dict[tuple[str, str], Path] = {}

    def build(text: str, enforcement: str) -> Path:
        if (text, enforcement) in made:
            return made[text, enforcement]
        folder = tmp_path_factory.mktemp("program")
        source = folder / ("program.cc" if text is CPP else "program.c")
        source.write_text(text)
        program = folder / enforcement
        compiler = BUILD / "bin" / ("tandem-c++" if text is CPP else "tandem-cc")
        words = [compiler, TARGET, "-O2", "-pthread", f"-I{SOURCE / 'include'}"]
        words += [f"-ftandem-enforce={enforcement}", source, "-o", program]
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        made[text, enforcement] = program
        return program

    return build


def run(program: Path, file: Path, *words: str) -> tuple[str, dict[str, Any]]:
    command = [
        MACHINE,
        "exec",
        "--harts",
        "4",
        "--quiet",
        "--json",
        file,
        *words,
        program,
    ]
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    result: dict[str, Any] = json.loads(file.read_text())
    return done.stdout, result.get("transactions", {})


@pytest.mark.parametrize("enforcement", ENFORCEMENTS)
@pytest.mark.parametrize("protocol", [(), ("-p", "mesi-snoop")])
def test_a_counter(
    built: Build, tmp_path: Path, enforcement: str, protocol: tuple[str, ...]
) -> None:
    program = built(COUNTER, enforcement)
    text, counts = run(program, tmp_path / "out.json", "--tx-limit", "16", *protocol)
    assert text == "1200 2400\n"
    if enforcement == "htm":
        assert counts["commits"] >= 600
        if protocol:
            assert counts["restarts"] > 0
    if enforcement in ("global-lock", "locks"):
        assert counts.get("commits", 0) == 0


@pytest.mark.parametrize("enforcement", ["stm", "hybrid", "htm"])
@pytest.mark.parametrize("algorithm", ["serial", "eager", "lazy", "norec", "two-phase"])
def test_algorithms_of_software(
    built: Build, tmp_path: Path, enforcement: str, algorithm: str
) -> None:
    program = built(MIXED, enforcement)
    words = ["--env", f"TANDEM_ALGORITHM={algorithm}", "-p", "mesi-snoop"]
    text, counts = run(program, tmp_path / "out.json", *words)
    assert text == MIXED_RESULT
    assert counts.get("commits", 0) == 0


@pytest.mark.parametrize("enforcement", ENFORCEMENTS)
def test_system_calls_and_allocations(built: Build, tmp_path: Path, enforcement: str) -> None:
    program = built(MIXED, enforcement)
    text, counts = run(program, tmp_path / "out.json", "--tx-limit", "16", "-p", "mesi-snoop")
    assert text == MIXED_RESULT
    assert counts.get("commits", 0) > 0 or enforcement != "htm"


@pytest.mark.parametrize("enforcement", ["locks", "stm", "htm"])
def test_cpp(built: Build, tmp_path: Path, enforcement: str) -> None:
    program = built(CPP, enforcement)
    text, counts = run(program, tmp_path / "out.json", "--tx-limit", "16", "-p", "mesi-snoop")
    assert text == "120 20 5\n"
    assert counts.get("commits", 0) > 0 or enforcement != "htm"


# Two places, one inside a function of its own, one in a block; more of one than of the other.
PLACES = """
#include <pthread.h>
#include <stdio.h>
#include "tandem/tandem.h"
static long sum, most, rounds, last;
TANDEM_ATOMIC static void add(long more) {
  sum += more;
  most = more > most ? more : most;
}
static void *run(void *unused) {
  (void)unused;
  for (int i = 0; i < 100; ++i) {
    add(i);
    if (i % 4 == 0) {
      tandem_atomic {
        ++rounds;
        last = i;
      }
    }
  }
  return 0;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], 0);
  printf("%ld %ld\\n", sum, rounds);
  return 0;
}
"""


@pytest.mark.parametrize("enforcement", ["htm", "hybrid"])
def test_counts_are_of_sections(built: Build, tmp_path: Path, enforcement: str) -> None:
    program = built(PLACES, enforcement)
    profile = tmp_path / "profile.json"
    # What one thread runs alone, hybrid keeps off the hardware; that is chosen here.
    words = [
        "--env",
        "TANDEM_ALGORITHM=htm",
        "-p",
        "mesi-snoop",
        "--profile",
        str(profile),
    ]
    text, counts = run(program, tmp_path / "out.json", *words)
    assert text == "19800 100\n"
    lines = PLACES.splitlines()
    places = {"add": 1 + next(i for i, x in enumerate(lines) if "void add" in x)}
    places["run"] = 1 + next(i for i, x in enumerate(lines) if "tandem_atomic {" in x)
    document = json.loads(profile.read_text())
    schema = json.loads((SOURCE / "docs/formats/profile.schema.json").read_text())
    jsonschema.validate(document, schema)
    sections = {x["line"]: x for x in document["sections"]}
    assert set(sections) == set(places.values())
    for name, commits in (("add", 400), ("run", 100)):
        section = sections[places[name]]
        assert section["name"].startswith(name)
        assert section["file"].endswith("program.c")
        assert section["output"] == enforcement
        assert section["kind"] == ("function" if name == "add" else "block")
        assert section["class"] == "pure"
        assert (len(section["colours"]) > 0) == (enforcement == "hybrid")
        assert 0 < section["commits"] <= commits
    # The machine's own counts name the same.
    named = {x["line"]: x["site"] for x in counts["sites"]}
    assert named == {line: x["name"] for line, x in sections.items()}
    pairs = {x["loser"] for x in counts["pairs"]} | {x["winner"] for x in counts["pairs"]}
    assert pairs - {""} <= set(named.values())
    shown = subprocess.run(
        [str(BUILD / "libexec" / "tandem-report"), str(profile)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"program.c:{places['add']}" in shown.stdout


def test_a_limit_of_one_takes_the_fallback(built: Build, tmp_path: Path) -> None:
    program = built(COUNTER, "htm")
    text, counts = run(program, tmp_path / "out.json", "--tx-limit", "1", "-p", "mesi-snoop")
    assert text == "1200 2400\n"
    assert counts["fallbacks"] > 0


def test_shared_libraries_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int a;\n")
    words = [
        BUILD / "bin" / "tandem-cc",
        TARGET,
        "-shared",
        source,
        "-o",
        tmp_path / "a.so",
    ]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "tandem-cc: -shared: programs for riscv64 are static; link what it is of with the program"
    ]
    assert not (tmp_path / "a.so").exists()
