# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are instrumented at compile time keep their sections, and the instruments work."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Compilers

# A marked function, a marked block and a lock region, by two threads; with an argument each way of
# the first goes wrong: beyond the heap's block in a section, and an overflow in one.
PROGRAM = """\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tandem/tandem.h>
static long n, b, k, *a;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
__attribute__((atomic, noinline)) static void add(int by) { n += by; a[by] += 1; }
static void *work(void *p) {
  for (int i = 0; i < 500; ++i) {
    add(1);
    tandem_atomic { ++b; }
    pthread_mutex_lock(&m);
    ++k;
    pthread_mutex_unlock(&m);
  }
  return p;
}
int main(int count, char **words) {
  pthread_t s, t;
  a = calloc(4, sizeof *a);
  if (count == 2 && words[1][0] == 'a')
    add(4);
  if (count == 2 && words[1][0] == 'u')
    tandem_atomic { b = 0x7fffffffffffffff; b += count; }
  pthread_create(&s, 0, work, 0);
  pthread_create(&t, 0, work, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  printf("%ld %ld %ld %ld\\n", n, b, k, a[1]);
  free(a);
}
"""
CONVERSION = 'version = 1\n[[section]]\nlocks = ["m"]\nreason = "guards k"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.c").write_text(PROGRAM)
    (tmp_path / "p.toml").write_text(CONVERSION)
    return tmp_path


def build(compilers: Compilers, folder: Path, *words: str) -> None:
    """In two steps, as build systems do; the lock is a section like the three marked ones."""
    compilers.cc("-pthread", "-g", *words, "-c", "p.c", folder=folder)
    link = ("-ftandem-convert=p.toml", "-ftandem-verbose", "p.o", "-o", "p")
    told = compilers.cc("-pthread", "-g", *words, *link, folder=folder).stderr
    assert "4 atomic sections" in told
    assert "0 lock regions unchanged" in told


@pytest.mark.parametrize(
    ("enforce", "level"), [("locks", "-O1"), ("stm", "-O2"), ("hybrid", "-O3")]
)
@pytest.mark.parametrize(
    "option",
    [
        *("-fsanitize=address", "-fsanitize=undefined", "-fsanitize=address,undefined"),
        *("-fsanitize=thread", "--coverage", "-pg"),
    ],
)
def test_sections_stay_atomic(
    compilers: Compilers, folder: Path, option: str, level: str, enforce: str
) -> None:
    chosen = (option, level, f"-ftandem-enforce={enforce}")
    if option == "-fsanitize=thread" and enforce != "locks":
        refused = compilers.cc(*chosen, "-c", "p.c", folder=folder, check=False)
        assert refused.returncode == 2
        assert refused.stderr.count("\n") == 1
        assert "compile and link with -ftandem-enforce=locks" in refused.stderr
        return
    build(compilers, folder, *chosen)
    done = compilers.run(["./p"], folder)
    assert (done.stdout, done.stderr) == ("1000 1000 1000 1000\n", "")


@pytest.mark.parametrize("enforce", ["locks", "stm", "hybrid"])
@pytest.mark.parametrize(
    ("option", "argument", "found"),
    [
        ("-fsanitize=address", "a", "heap-buffer-overflow"),
        ("-fsanitize=undefined", "u", "signed integer overflow"),
    ],
)
def test_mistakes_in_sections_are_found(
    compilers: Compilers, folder: Path, option: str, argument: str, found: str, enforce: str
) -> None:
    build(compilers, folder, option, "-O1", f"-ftandem-enforce={enforce}")
    assert found in compilers.run(["./p", argument], folder, check=False).stderr


def test_lines_of_sections_are_counted(compilers: Compilers, folder: Path) -> None:
    build(compilers, folder, "--coverage", "-O2", "-ftandem-enforce=locks")
    compilers.run(["./p"], folder)
    compilers.run(["llvm-cov-19", "gcov", "p.gcda"], folder)
    counted = (folder / "p.c.gcov").read_text().splitlines()
    line = next(x for x in counted if "static void add" in x)
    assert line.split(":")[0].strip() == "1000"
