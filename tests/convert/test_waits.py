# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads that wait for conditions with converted locks: programs are right under every way to
enforce sections and do what the plain build does; a wait that cannot be converted is refused.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAMS, RUN_SECONDS, Compiled, Converter
from tandem.experiment.host import has_rtm

NAMES = ("barrier", "gone", "mixed", "pool", "queue", "readers", "timed", "turns", "window")
THREADS = (1, 4)
TRANSACTIONS = ("auto", "eager", "lazy", "norec", "two-phase", "serial")
ENFORCEMENTS = ("global-lock", "locks", "stm", "htm", "hybrid")


CLANG = Path(os.environ.get("TANDEM_LLVM_BIN", "/usr/lib/llvm-19/bin")) / "clang"


def build_plainly(converter: Converter, source: Path, level: str) -> Path:
    program = converter.folder / "plain"
    command: list[str | Path] = [CLANG, "-std=gnu17", level, "-pthread", "-I", PROGRAMS]
    command += [source, "-o", program]
    subprocess.run(command, check=True)
    return program


def runs_of(enforce: str) -> list[tuple[str, str]]:
    """Algorithm and phase of each run."""
    if enforce == "hybrid":
        return [("auto", "auto"), ("auto", "locks"), ("norec", "transactions")]
    return [(x, "auto") for x in (TRANSACTIONS if enforce in ("stm", "htm") else ("auto",))]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("name", NAMES)
def test_program_does_what_the_plain_build_does(
    converter: Converter, name: str, level: str
) -> None:
    source = PROGRAMS / f"wait_{name}.c"
    conversion = PROGRAMS / f"wait_{name}.toml"
    plain = build_plainly(converter, source, level)
    wanted = {x: converter.run(plain, x, "auto") for x in THREADS}
    for enforce in ENFORCEMENTS:
        compiled = converter.compile(source, conversion, level, f"-ftandem-enforce={enforce}")
        assert compiled.status == 0, compiled.errors
        for threads in THREADS:
            for algorithm, phase in runs_of(enforce):
                found = converter.run(compiled.program, threads, algorithm, phase)
                where = f"{enforce}, {threads} threads, {algorithm}, {phase}"
                assert found[0] == 0, f"{where}: {found}"
                assert found == wanted[threads], where


@pytest.mark.parametrize("enforce", ["locks", "stm"])
def test_child_forgets_the_sleepers_of_its_parent(converter: Converter, enforce: str) -> None:
    """With the library's conditions, which keep them, the child may hang."""
    compiled = converter.compile(
        PROGRAMS / "wait_fork.c",
        PROGRAMS / "wait_fork.toml",
        "-O2",
        f"-ftandem-enforce={enforce}",
    )
    assert compiled.status == 0, compiled.errors
    assert converter.run(compiled.program, 4, "auto") == (0, "child 0\nwoken 4\n")


@pytest.mark.parametrize("name", ["barrier", "mixed", "pool", "queue"])
def test_program_is_right_in_hardware(converter: Converter, name: str) -> None:
    """Hardware transactions, emulated where the processor has none (tests/runtime/rtm_emulator)."""
    compiled = converter.compile(
        PROGRAMS / f"wait_{name}.c",
        PROGRAMS / f"wait_{name}.toml",
        "-O2",
        "-ftandem-enforce=htm",
    )
    assert compiled.status == 0, compiled.errors
    environment = {**os.environ, "TANDEM_ALGORITHM": "htm"}
    if not has_rtm():
        environment |= {
            "LD_PRELOAD": str(converter.build / "tests/librtm_emulator.so"),
            "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
            "RTM_EMULATOR_SEED": "5",
        }
    done = subprocess.run(
        [compiled.program, "1"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_library_neither_waits_nor_signals(converter: Converter) -> None:
    """Where no thread waits really, a signal does not touch the condition: it may be gone."""
    compiled = converter.compile(
        PROGRAMS / "wait_queue.c",
        PROGRAMS / "wait_queue.toml",
        "-O2",
        "-ftandem-enforce=locks",
    )
    assert compiled.status == 0, compiled.errors
    program = compiled.program.read_bytes()
    assert b"pthread_cond_wait" not in program
    assert b"pthread_cond_signal" not in program
    mixed = converter.compile(
        PROGRAMS / "wait_mixed.c",
        PROGRAMS / "wait_mixed.toml",
        "-O2",
        "-ftandem-enforce=locks",
    )
    assert mixed.status == 0, mixed.errors
    program = mixed.program.read_bytes()
    assert b"pthread_cond_wait" in program
    assert b"pthread_cond_broadcast" in program


def test_report_tells_what_became_of_waits(converter: Converter) -> None:
    """A converted wait belongs to the section that begins where it returns."""
    compiled = converter.compile(
        PROGRAMS / "wait_mixed.c",
        PROGRAMS / "wait_mixed.toml",
        "-O2",
        "-ftandem-enforce=stm",
    )
    assert compiled.status == 0, compiled.errors
    document = json.loads(compiled.report.read_text(encoding="utf-8"))
    kinds = {x["name"]: (x["kind"], x["line"]) for x in document["sections"]}
    waits = [x for x in document["lock_sites"] if x["operation"] == "wait"]
    assert [x["lock"] for x in waits] == ["one", "other", "real", "one"]
    for wait in waits:
        begun = {kinds[name][0] for name in wait["sections"] if kinds[name][1] == wait["line"]}
        assert begun == {"lock-region" if wait["lock"] == "real" else "block"}, wait
    converted = [x for x in document["lock_sites"] if x.get("reason", "").startswith("converted: ")]
    assert [(x["operation"], x["lock"]) for x in converted] == [("signal", "turned")]


HEAD = """\
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int x, y;
"""
FIRST = HEAD.count("\n") + 1  # the next line's number
SECTION_A = 'version = 1\n[[section]]\nlocks = ["a"]\nreason = "r"\n'
SECTION_AB = SECTION_A.replace('"a"', '"a", "b"')


def compiled_text(converter: Converter, code: str, conversion: str, *options: str) -> Compiled:
    source = converter.folder / "p.c"
    source.write_text(HEAD + code, encoding="utf-8")
    file = converter.folder / "p.toml"
    file.write_text(conversion, encoding="utf-8")
    return converter.compile(
        source,
        file,
        "-O1",
        "-D_GNU_SOURCE",
        "-Wno-unused",
        *(options or ("-ftandem-enforce=stm",)),
    )


MAIN = "int main(void) { f(); return x; }\n"
WAIT = (
    "static void f(void) { pthread_mutex_lock(&a);\n"
    "  while (!x) pthread_cond_wait(&c, &a);\n"
    "  pthread_mutex_unlock(&a); }\n"
)
AT_WAIT = f"p.c:{FIRST + 1}: "

REFUSED = {
    "another converted lock": (
        "static void f(void) { pthread_mutex_lock(&b); pthread_mutex_lock(&a);\n"
        "  while (!x) pthread_cond_wait(&c, &a);\n"
        "  pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); }\n" + MAIN,
        SECTION_AB,
        AT_WAIT + "a thread waits here with 'a' for 'c', and 'b' may be held too: a section cannot "
        "give up the middle of itself; keep 'b' a lock",
    ),
    "held since a later acquisition": (
        "static void f(void) { pthread_mutex_lock(&a); pthread_mutex_lock(&b);\n"
        "  while (!x) pthread_cond_wait(&c, &a);\n"
        "  pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); }\n" + MAIN,
        SECTION_AB,
        AT_WAIT + "a thread waits here with 'a' for 'c', and 'b' may be held too",
    ),
    "twice": (
        "static void f(void) { pthread_mutex_lock(&a); pthread_mutex_lock(&a);\n"
        "  while (!x) pthread_cond_wait(&c, &a);\n"
        "  pthread_mutex_unlock(&a); pthread_mutex_unlock(&a); }\n" + MAIN,
        SECTION_A,
        AT_WAIT + "a thread waits here with 'a' for 'c', and that lock a second time may be held",
    ),
    "in what a section calls": (
        WAIT + "static void g(void) { pthread_mutex_lock(&b); ++y;\n"
        "  f(); pthread_mutex_unlock(&b); }\n"
        "int main(void) { g(); return x; }\n",
        SECTION_AB,
        AT_WAIT + "a thread waits here with 'a' for 'c', which may be inside of a section of "
        f"'a' or 'b' (called from g at p.c:{FIRST + 4}): a section cannot give up the middle of "
        "itself; keep the locks of that section",
    ),
    "in a marked section": (
        "#include <tandem/tandem.h>\n" + WAIT + "TANDEM_ATOMIC __attribute__((noinline)) "
        "void g(void) { f(); }\nint main(void) { g(); return x; }\n",
        SECTION_A,
        f"p.c:{FIRST + 2}: a thread waits here with 'a' for 'c', which may be inside of a section "
        "that the program marks",
    ),
    "cancelled": (
        "static void *g(void *p) { return p; }\n"
        + WAIT
        + "int main(void) { pthread_t t; pthread_create(&t, NULL, g, NULL); f();\n"
        "  pthread_cancel(t); return x; }\n",
        SECTION_A,
        f"p.c:{FIRST + 2}: lock 'a' is given up by a condition wait, and the program cancels "
        f"threads, which could not wait for the lock again (p.c:{FIRST + 5}); keep it a lock",
    ),
    "shared by processes": (
        WAIT + "int main(void) { pthread_condattr_t t; pthread_condattr_init(&t);\n"
        "  pthread_condattr_setpshared(&t, PTHREAD_PROCESS_SHARED); pthread_cond_init(&c, &t);\n"
        "  f(); return x; }\n",
        SECTION_A,
        AT_WAIT + "lock 'a' is given up by a condition wait, and the program may make conditions "
        f"that several processes share (p.c:{FIRST + 4}); keep it a lock",
    ),
    "signalled outside the program": (
        "void outside(pthread_cond_t *);\n" + WAIT + "int main(void) { outside(&c); f();\n"
        "  return x; }\n",
        SECTION_A,
        f"p.c:{FIRST + 4}: condition 'c' is given to 'outside', code outside the program, and "
        f"a thread waits for it with the converted lock 'a' at p.c:{FIRST + 2}; keep that "
        "lock",
    ),
    "signalled by the functions of C11": (
        "int cnd_signal(void *);\n" + WAIT + "int main(void) { cnd_signal(&c); f();\n"
        "  return x; }\n",
        SECTION_A,
        f"p.c:{FIRST + 4}: condition 'c' is given to 'cnd_signal', code outside the program",
    ),
    "known by its name": (
        "pthread_cond_t shown = PTHREAD_COND_INITIALIZER;\n" + WAIT.replace("&c", "&shown") + MAIN,
        SECTION_A,
        f"p.c:{FIRST + 2}: a thread waits with 'a' for 'shown', and the condition may lie in "
        "'shown', which code outside the program can name; keep 'a' a lock",
    ),
    "by pointer": (
        "static int (*volatile wait)(pthread_cond_t *, pthread_mutex_t *) = pthread_cond_wait;\n"
        "static void f(void) { pthread_mutex_lock(&a);\n"
        "  while (!x) wait(&c, &a);\n"
        "  pthread_mutex_unlock(&a); }\n" + MAIN,
        SECTION_A,
        f"p.c:{FIRST}: 'pthread_cond_wait' is called by pointer, with locks that cannot be found",
    ),
    "signals by pointer": (
        "static int (*volatile wake)(pthread_cond_t *) = pthread_cond_signal;\n"
        + WAIT
        + "int main(void) { wake(&c); f(); return x; }\n",
        SECTION_A,
        f"p.c:{FIRST}: 'pthread_cond_signal' is called by pointer, with locks that cannot be found",
    ),
    "in a region that stays real": (
        WAIT + MAIN,
        SECTION_A + '[[lock-region]]\nfunction = "f"\nlock = "a"\nreason = "r"\n',
        AT_WAIT + "a region of lock 'a' cannot stay real here, as p.toml:5 has it: it is not "
        "between pthread_mutex_lock and pthread_mutex_unlock",
    ),
    "behind a real lock that sections take": (
        "static void g(void) { pthread_mutex_lock(&b); pthread_mutex_lock(&a);\n"
        "  while (!x) pthread_cond_wait(&c, &a);\n"
        "  pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); }\n"
        "static void f(void) { pthread_mutex_lock(&a); pthread_mutex_lock(&b); ++y;\n"
        "  pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); g(); }\n" + MAIN,
        SECTION_A,
        f"p.c:{FIRST + 3}: a section of 'a' waits for 'b' at p.c:{FIRST + 3}, who holds 'b' ",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wait_that_cannot_be_converted(converter: Converter, case: str) -> None:
    code, conversion, message = REFUSED[case]
    shown = ["-rdynamic"] if case == "known by its name" else []
    compiled = compiled_text(converter, code, conversion, "-ftandem-enforce=stm", *shown)
    lines = [x for x in compiled.errors.splitlines() if x.startswith("tandem-cc: ")]
    assert compiled.status == 2, f"{compiled.status}: {compiled.errors}"
    assert len(lines) == 1, compiled.errors
    line = lines[0].removeprefix("tandem-cc: ").replace(f"{converter.folder}/", "")
    assert line.startswith(message), line
    assert not compiled.program.exists()


# A real lock around a wait is in no cycle where no section takes it.
BEHIND_A_GATE = """\
static void *g(void *p) {
  pthread_mutex_lock(&a); x = 1; pthread_mutex_unlock(&a); pthread_cond_signal(&c);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, g, NULL);
  pthread_mutex_lock(&b); pthread_mutex_lock(&a);
  while (!x) pthread_cond_wait(&c, &a);
  pthread_mutex_unlock(&a); pthread_mutex_unlock(&b);
  return pthread_join(t, NULL);
}
"""


@pytest.mark.parametrize("enforce", ENFORCEMENTS)
def test_wait_behind_a_real_lock(converter: Converter, enforce: str) -> None:
    compiled = compiled_text(converter, BEHIND_A_GATE, SECTION_A, f"-ftandem-enforce={enforce}")
    assert compiled.status == 0, compiled.errors
    assert converter.run(compiled.program, 1, "auto") == (0, "")


# `a` is held where the program is given an argument; the file says that it never is.
BALANCED = """\
static void f(int deep) {
  if (deep)
    pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  while (!x) pthread_cond_wait(&c, &b);
  pthread_mutex_unlock(&b);
  if (deep)
    pthread_mutex_unlock(&a);
}
static void *g(void *p) {
  pthread_mutex_lock(&b); x = 1; pthread_mutex_unlock(&b); pthread_cond_signal(&c);
  return p;
}
int main(int argc, char **argv) {
  pthread_t t;
  (void)argv;
  if (argc > 2) // else it does not wait where it may not
    f(1);
  pthread_create(&t, NULL, g, NULL);
  f(0);
  return pthread_join(t, NULL);
}
"""
BALANCED_FILE = (
    SECTION_AB + '[[balanced]]\nfunction = "f"\nreason = "never deep"\nwaits-outside = true\n'
)


@pytest.mark.parametrize("enforce", ["locks", "stm"])
def test_wait_that_is_said_to_be_outside(converter: Converter, enforce: str) -> None:
    compiled = compiled_text(converter, BALANCED, BALANCED_FILE, f"-ftandem-enforce={enforce}")
    assert compiled.status == 0, compiled.errors
    assert converter.run(compiled.program, 1, "auto") == (0, "")
    done = subprocess.run([compiled.program, "1", "deep"], timeout=RUN_SECONDS, check=False)
    assert done.returncode in (-signal.SIGILL, -signal.SIGTRAP)


# The library waits with its own mutex: it stays a lock, whatever the program's other locks are.
STANDARD = """\
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <thread>
static std::mutex m;
static std::condition_variable c;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static bool ready;
static int x;
int main() {
  std::thread other([] {
    pthread_mutex_lock(&a);
    ++x;
    pthread_mutex_unlock(&a);
    std::lock_guard<std::mutex> held(m);
    ready = true;
    c.notify_one();
  });
  {
    std::unique_lock<std::mutex> held(m);
    while (!ready)
      c.wait(held);
  }
  other.join();
  return x == 1 ? 0 : 1;
}
"""


def compile_standard(converter: Converter, lock: str) -> subprocess.CompletedProcess[str]:
    source = converter.folder / "s.cc"
    source.write_text(STANDARD, encoding="utf-8")
    conversion = converter.folder / "s.toml"
    conversion.write_text(SECTION_A.replace('"a"', f'"{lock}"'), encoding="utf-8")
    command: list[str | Path] = [
        converter.build / "bin" / "tandem-c++",
        "-g",
        "-O1",
        "-pthread",
    ]
    command += [f"-ftandem-convert={conversion}", "-ftandem-enforce=stm", source]
    command += ["-o", converter.folder / "s"]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=converter.folder, check=False
    )


@pytest.mark.parametrize("lock", ["m", "a"])
def test_condition_variable_of_the_standard_library(converter: Converter, lock: str) -> None:
    """With its lock converted, and beside other locks that are."""
    compiled = compile_standard(converter, lock)
    assert compiled.returncode == 0, compiled.stderr
    done = subprocess.run([converter.folder / "s"], timeout=RUN_SECONDS, check=False)
    assert done.returncode == 0
