# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A process that cannot go on says in one line what is wrong, in which section that is, and what
state the transaction is in."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from conftest import LIBRARY, ROOT, GnuTm, Outcome

ALGORITHMS = ("auto", "serial", "eager", "lazy", "norec", "two-phase")
CANCELLED = "a transaction is cancelled after it became irrevocable"

GNU_TM = """extern void _ITM_changeTransactionMode(int) __attribute__((transaction_pure));
int x = 1;
int main(int argc, char **argv) {
  __transaction_atomic {
    ++x;
    if (argc > 1) {
      __transaction_atomic {
        ++x;
        if (argc > 2)
          _ITM_changeTransactionMode(0);
        if (x)
          __transaction_cancel;
      }
    }
    _ITM_changeTransactionMode(0);
    if (x)
      __transaction_cancel;
  }
}
"""

# A log of 512 MiB, and more, in 256 MiB: the transaction runs serially, and nothing can be undone.
EXHAUSTED = """#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
static long *place;
static int stop;
static void *live(void *argument) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
    ;
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, live, 0);
  place = malloc(128 << 20);
  struct rlimit limit = {256 << 20, 256 << 20};
  setrlimit(RLIMIT_AS, &limit);
  long size = (128 << 20) / sizeof *place;
  __transaction_atomic {
    for (long i = 0; i < size; ++i)
      place[i] = i;
    if (place[1])
      __transaction_cancel;
  }
  return 1;
}
"""

TANDEM = """#include <tandem/tandem.h>
#include <tandem/transaction.h>
int x;
static void body(void *argument) {
  ++*(int *)argument;
  tandem_become_irrevocable();
  tandem_cancel();
}
static int again(void) {
  tandem_atomic {
    ++x;
    if (x > 1) {
      tandem_become_irrevocable();
      tandem_cancel();
    }
  }
  return x;
}
int main(int argc, char **argv) {
  int before = again();
  if (argc > 1)
    tandem_run(body, &before, 0);
  return again() + before;
}
"""


def check(outcome: Outcome, message: str, *rest: str) -> None:
    assert outcome.status == -6, outcome.output
    assert outcome.output.startswith(f"libitm: error: {message}"), outcome.output
    assert outcome.output.count("\n") == 1, outcome.output
    for part in rest:
        assert re.search(part, outcome.output), outcome.output


def compiled(gnu_tm: GnuTm, name: str, text: str, *options: str) -> str:
    source = gnu_tm.folder / f"{name}.c"
    source.write_text(text, encoding="utf-8")
    return str(gnu_tm.compile(name, [source], options))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_begin_is_named(gnu_tm: GnuTm, algorithm: str) -> None:
    for name, options, place in (
        ("with-lines", ["-g"], r"main \(with-lines\.c:4\)"),
        ("without-lines", [], r"main\+0x[0-9a-f]+ of 'without-lines'"),
        ("without-symbols", ["-s"], r"0x[0-9a-f]+ of 'without-symbols'"),
    ):
        program = gnu_tm.folder / name
        compiled(gnu_tm, name, GNU_TM, *options)
        where = f"{CANCELLED}, in the transaction that begins at {place}; serial, irrevocable"
        check(gnu_tm.run(program, algorithm=algorithm), CANCELLED, where)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_nested_cancel_names_the_outermost_begin(gnu_tm: GnuTm, algorithm: str) -> None:
    compiled(gnu_tm, "nested-lines", GNU_TM, "-g")
    outcome = gnu_tm.run(gnu_tm.folder / "nested-lines", "1", "2", algorithm=algorithm)
    check(
        outcome,
        "a nested transaction is cancelled after it became irrevocable",
        r"begins at main \(nested-lines\.c:4\); .*irrevocable, attempt \d+, nesting 2",
    )


@pytest.mark.parametrize("algorithm", ["eager", "lazy", "norec", "two-phase"])
def test_a_cancel_without_memory_for_the_log_names_the_section(
    gnu_tm: GnuTm, algorithm: str
) -> None:
    compiled(gnu_tm, "exhausted", EXHAUSTED, "-g")
    outcome = gnu_tm.run(gnu_tm.folder / "exhausted", algorithm=algorithm)
    check(
        outcome,
        CANCELLED,
        r"begins at main \(exhausted\.c:18\); serial, irrevocable",
    )


@pytest.mark.parametrize("enforcement", ["stm", "hybrid"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_section_is_named(gnu_tm: GnuTm, algorithm: str, enforcement: str) -> None:
    source = gnu_tm.folder / "section.c"
    source.write_text(TANDEM, encoding="utf-8")
    program = gnu_tm.folder / f"section-{enforcement}"
    if not program.exists():
        subprocess.run(
            [str(LIBRARY.parent / "bin/tandem-cc"), "-g", "-O2", f"-ftandem-enforce={enforcement}",
             f"-I{ROOT / 'include'}", str(source), "-o", str(program)],
            check=True,
        )  # fmt: skip
    environment = dict(os.environ)
    environment["TANDEM_ALGORITHM"] = algorithm
    for arguments, place in (
        ([], r", in the section 'again(_\d+)?' \(.*section\.c:10\); "),
        # After a section, whose name must not stay.
        (["1"], r", in the transaction that runs body \(.*section\.c:\d+\); "),
    ):
        done = subprocess.run(
            [str(program), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        check(Outcome(done.returncode, done.stderr), CANCELLED, place)
