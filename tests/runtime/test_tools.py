# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs load is read by the tools that users have: valgrind, gdb and perf, those of
Debian 12, and ThreadSanitizer. Programs of gcc's and of tandem-cc's, with threads."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import LIBRARY, ROOT, GnuTm

TANDEM_CC = LIBRARY.parent / "bin/tandem-cc"
# A transaction that calls, and one that is undone, so that there is something to see inside.
PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
static long sum, rows[64];
static long *kept;
SAFE __attribute__((noinline)) static void add(long n) {
  for (long i = 0; i < n; i++) rows[i & 63] += i;
  sum++;
}
static void *work(void *argument) {
  for (int i = 0; i < 200; i++)
    TRANSACTION {
      add(100);
      long *fresh = malloc(64);
      fresh[7] = sum;
      if (kept) free(kept);
      kept = fresh;
    }
  return argument;
}
int main(int count, char **arguments) {
  (void)arguments;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  int right = sum == 400 && kept[7] == 400;
  free(kept);
  return !right || count > 9;
}
"""
GCC = ("gcc", "-fgnu-tm", "-DSAFE=__attribute__((transaction_safe))")
OURS = (
    *(str(TANDEM_CC), "-ftandem-enforce=stm", "-DSAFE="),
    *(f"-I{ROOT / 'include'}", "-include", "tandem/tandem.h"),
)
COMPILERS = {
    "gcc": (*GCC, "-DTRANSACTION=__transaction_atomic"),
    "tandem-cc": (*OURS, "-DTRANSACTION=tandem_atomic"),
}


def compiled(gnu_tm: GnuTm, compiler: str, *options: str) -> Path:
    program = gnu_tm.folder / f"tools-{compiler}{''.join(options)}"
    source = gnu_tm.folder / "tools.c"
    source.write_text(PROGRAM, encoding="utf-8")
    if not program.exists():
        done = subprocess.run(
            [*COMPILERS[compiler], "-O2", "-w", "-pthread", *options, source, "-o", program],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return program


def run(*command: str | Path, algorithm: str = "auto") -> tuple[int, str]:
    done = subprocess.run(
        [str(word) for word in command],
        env=os.environ | {"LD_LIBRARY_PATH": str(LIBRARY), "TANDEM_ALGORITHM": algorithm},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("algorithm", ["auto", "eager", "norec"])
@pytest.mark.parametrize("options", [(), ("-g",)])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_valgrind(gnu_tm: GnuTm, compiler: str, options: tuple[str, ...], algorithm: str) -> None:
    program = compiled(gnu_tm, compiler, *options)
    # No hardware transactions on its processor.
    status, output = run("valgrind", "--error-exitcode=9", program, algorithm=algorithm)
    assert status == 0, output
    assert "unhandled" not in output, output
    assert "ERROR SUMMARY: 0 errors" in output, output


@pytest.mark.parametrize("compiler", COMPILERS)
def test_gdb_names_the_librarys_lines(gnu_tm: GnuTm, compiler: str) -> None:
    program = compiled(gnu_tm, compiler, "-g")
    status, output = run(
        *("gdb", "-q", "-batch", "-nx", "-ex", "set debuginfod enabled off"),
        *("-ex", "set breakpoint pending on"),
        *("-ex", "break tandem::serial::acquire", "-ex", "run", "-ex", "bt", program),
        algorithm="serial",
    )
    assert status == 0, output
    assert re.search(r"acquire .*at .*serial\.cc:\d+", output), output
    assert re.search(r"in work .*tools\.c:\d+", output), output
    assert "DWARF" not in output, output


@pytest.mark.parametrize("compiler", COMPILERS)
def test_perf_names_the_librarys_functions(gnu_tm: GnuTm, tmp_path: Path, compiler: str) -> None:
    program = compiled(gnu_tm, compiler, "-g")
    data = tmp_path / "perf.data"
    # Dwarf call graphs read what the compiler wrote for unwinding.
    status, output = run(
        *("perf", "record", "-q", "-e", "cpu-clock:u", "-F", "20000", "--call-graph", "dwarf,4096"),
        *("-o", data, program),
        algorithm="eager",
    )
    if "Permission" in output or "permission" in output or "perf_event_open" in output:
        pytest.skip(f"perf may not count here: {output.splitlines()[0]}")
    assert status == 0, output
    status, output = run("perf", "script", "-i", data, "-F", "comm,ip,sym,dso")
    assert status == 0, output
    if data.stat().st_size < 20_000:
        pytest.skip("perf has taken no samples")
    assert "libitm.so.1" in output, output[-2000:]
    assert re.search(r"(tandem::|_ITM_|_TANDEM_)\S+.*libitm\.so\.1", output), output[-2000:]


# A queue of nodes that one thread makes and another uses plainly once it has taken them. In the
# racy one a third thread touches a count outside of transactions.
QUEUE = """
#include <pthread.h>
#include <stdlib.h>
struct node { struct node *next; long value; };
static struct node *queue;
static long length, taken;
/* Of threads that have ended ThreadSanitizer may forget what they did. */
static pthread_barrier_t begin, end;
static void *fill(void *argument) {
  pthread_barrier_wait(&begin);
  for (long i = 1; i <= 300; i++) {
    struct node *made = malloc(sizeof *made);
    made->value = i;
    TRANSACTION { made->next = queue; queue = made; length++; }
  }
  pthread_barrier_wait(&end);
  return argument;
}
static void *race(void *argument) {
  pthread_barrier_wait(&begin);
  for (int i = 0; i < 300; i++) length++;
  pthread_barrier_wait(&end);
  return argument;
}
static void *drain(void *argument) {
  pthread_barrier_wait(&begin);
  for (long left = 300; left > 0;) {
    struct node *mine;
    TRANSACTION { mine = queue; if (mine) { queue = mine->next; length--; } }
    if (!mine) continue;
    left--;
    taken += mine->value;
    mine->value = -1;
    free(mine);
  }
  pthread_barrier_wait(&end);
  return argument;
}
int main(void) {
  pthread_t threads[3];
  pthread_barrier_init(&begin, 0, THREADS);
  pthread_barrier_init(&end, 0, THREADS);
  pthread_create(&threads[0], 0, fill, 0);
  pthread_create(&threads[1], 0, drain, 0);
  if (THREADS == 3) pthread_create(&threads[2], 0, race, 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
  return taken != 300 * 301 / 2;
}
"""
SANITIZED = {
    "gcc": COMPILERS["gcc"],
    **{
        mode: tuple(x.replace("=stm", f"={mode}") for x in COMPILERS["tandem-cc"])
        for mode in ("locks", "global-lock")
    },
}


@pytest.mark.parametrize("compiler", SANITIZED)
@pytest.mark.parametrize("racy", [False, True])
def test_thread_sanitizer_finds_races_and_no_others(
    gnu_tm: GnuTm, compiler: str, racy: bool
) -> None:
    source = gnu_tm.folder / "queue.c"
    source.write_text(QUEUE, encoding="utf-8")
    program = gnu_tm.folder / f"queue-{compiler}-{racy}"
    words = [*SANITIZED[compiler], "-O2", "-g", "-w", "-pthread", "-fsanitize=thread"]
    words.append(f"-DTHREADS={3 if racy else 2}")
    done = subprocess.run([*words, source, "-o", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # Its shadow memory does not suit every random placement of programs.
    status, text = run("setarch", "-R", program)
    assert ("WARNING: ThreadSanitizer: data race" in text) == racy, text
    assert status == (66 if racy else 0), text
    if racy:
        assert "length" in text
        assert text.count("WARNING") <= 4, text
