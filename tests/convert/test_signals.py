# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Locks that a signal handler takes, too: a section of the thread that it interrupts would exclude
other threads only. Such a lock stays real, the link says so, and the program does what it did.
"""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from conftest import Converter

# The signal comes once while the thread holds the lock, and once while it does not.
PROGRAM = """\
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static volatile int came, got;
static long n, k;
static int try_to(pthread_mutex_t *m) { return pthread_mutex_trylock(m) == 0; }
static void note(void) {
  ++came;
  if (try_to(&shared)) {
    ++got;
    ++n;
    pthread_mutex_unlock(&shared);
  }
}
static void handler(int number) { (void)number; note(); }
static void informed(int number, siginfo_t *why, void *where) {
  (void)number; (void)why; (void)where;
  note();
}
typedef void handler_t(int);
static handler_t *const table[] = {SIG_IGN, handler};
int main(int count, char **words) {
  (void)words;
  struct sigaction action = {0};
  (void)action; (void)informed; (void)table; (void)count;
  INSTALL;
  pthread_mutex_lock(&shared);
  ++n;
  raise(SIGUSR1);
  pthread_mutex_unlock(&shared);
  raise(SIGUSR1);
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_lock(&shared);
    ++n;
    pthread_mutex_unlock(&shared);
  }
  pthread_mutex_lock(&other);
  ++k;
  pthread_mutex_unlock(&other);
  return came != 2 || got != 1 || n != 4 || k != 1;
}
"""
INSTALLED = {
    "sigaction": "action.sa_handler = handler; sigaction(SIGUSR1, &action, 0)",
    "with information": "action.sa_flags = SA_SIGINFO; action.sa_sigaction = informed; "
    "sigaction(SIGUSR1, &action, 0)",
    "signal": "signal(SIGUSR1, handler)",
    "of a table": "signal(SIGUSR1, table[count > 0])",
    "ssignal": "ssignal(SIGUSR1, handler)",
}
BOTH = """\
version = 1
refused-stay-locks = true
[[section]]
locks = ["shared"]
reason = "guards n"
[[section]]
locks = ["other"]
reason = "guards k"
"""


def source_of(converter: Converter, how: str) -> Path:
    source = converter.folder / "p.c"
    source.write_text(PROGRAM.replace("INSTALL", INSTALLED[how]), encoding="utf-8")
    return source


@pytest.mark.parametrize("enforce", ["locks", "stm", "hybrid"])
@pytest.mark.parametrize("how", INSTALLED)
def test_the_lock_stays_real(converter: Converter, how: str, enforce: str) -> None:
    file = converter.folder / "p.toml"
    file.write_text(BOTH, encoding="utf-8")
    compiled = converter.compile(source_of(converter, how), file, f"-ftandem-enforce={enforce}")
    assert compiled.status == 0, compiled.errors
    handler = "informed" if how == "with information" else "handler"
    (note,) = compiled.errors.splitlines()
    assert "note: stays a lock: " in note
    assert f"p.c:9: lock 'shared' is used here by the signal handler '{handler}', which may" in note
    assert len(compiled.sections("atomic")) == 1
    assert subprocess.run([compiled.program], timeout=60, check=False).returncode == 0


def test_of_a_strict_standard(converter: Converter) -> None:
    """Where headers call `signal` by another name."""
    file = converter.folder / "p.toml"
    file.write_text(BOTH, encoding="utf-8")
    strict = ("-std=c11", "-D_XOPEN_SOURCE=700")
    compiled = converter.compile(source_of(converter, "signal"), file, *strict)
    assert compiled.status == 0, compiled.errors
    assert "lock 'shared' is used here by the signal handler 'handler'" in compiled.errors


def test_suggestions_keep_it(converter: Converter) -> None:
    suggested = converter.folder / "s.toml"
    subprocess.run(
        [
            *(converter.build / "bin/tandem", "analyze", "--quiet", "--suggest", suggested),
            *(source_of(converter, "sigaction"), "--", "-D_GNU_SOURCE"),
        ],
        env={k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")},
        capture_output=True,
        check=True,
    )
    file = tomllib.loads(suggested.read_text(encoding="utf-8"))
    assert [x["locks"] for x in file["section"]] == [["other"]]
    (kept,) = file["lock"]
    assert kept["locks"] == ["shared"]
    assert "by the signal handler 'handler'" in kept["reason"]
