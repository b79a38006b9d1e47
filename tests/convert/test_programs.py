# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that check themselves, their locks converted: what becomes a section, and that they are
right at every level of optimisation, under every way to enforce sections: with TANDEM_LONG=1
(scripts/verify matrices); else at one level.
"""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from conftest import PROGRAMS, RUN_SECONDS, Converter

NAMES = (
    "answers",
    "cxx_guards",
    "cxx_pool",
    "cxx_queue",
    "cxx_shapes",
    "cxx_word",
    "guarded_by",
    "guarded_by_in_place",
    "guarded_by_taken",
    "counter",
    "early",
    "element",
    "elsewhere",
    "flag",
    "gate",
    "one_line",
    "one_wrapper",
    "own_object",
    "readers",
    "lock_region",
    "striped",
    "truncated",
    "trylock",
    "tryloops",
    "word",
)
THREADS = (1, 4)
LEVELS = ("-O0", "-O1", "-O2", "-O3") if os.environ.get("TANDEM_LONG") == "1" else ("-O2",)
TRANSACTIONS = ("eager", "lazy", "norec", "two-phase", "serial")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("enforce", ["global-lock", "locks", "stm", "hybrid"])
@pytest.mark.parametrize("name", NAMES)
def test_program_is_right(converter: Converter, name: str, enforce: str, level: str) -> None:
    compiled = converter.compile(
        PROGRAMS / f"{name}{'.cc' if name.startswith('cxx_') else '.c'}",
        PROGRAMS / f"{name}.toml",
        level,
        f"-ftandem-enforce={enforce}",
    )
    assert compiled.status == 0, compiled.errors
    runs = [(x, "transactions") for x in TRANSACTIONS] if enforce in ("stm", "hybrid") else []
    runs += [("auto", phase) for phase in ("auto", *(["locks"] if enforce == "hybrid" else []))]
    for threads in THREADS:
        for algorithm, phase in runs:
            status, printed = converter.run(compiled.program, threads, algorithm, phase)
            assert status == 0, f"{threads} threads, {algorithm}, {phase}: {printed}"


# Lines of acquisitions that begin a section, and of those that stay real locks (one after a wait).
EXPECTED = {
    "counter": ([11], []),
    "early": ([11], []),
    # Both names.
    "element": ([12, 21], []),
    # find_locked is put into its caller.
    "elsewhere": ([11], []),
    "flag": ([11, 18], []),
    "gate": ([21], [15, 29, 35]),
    # Where the region begins (19) and ends (21), sections that set and clear the lock's word.
    "lock_region": ([19, 21, 33, 40, 54, 64, 73, 82], [19]),
    "one_line": ([21, 27], [18, 24]),
    "readers": ([22, 29, 35, 46], []),
    "striped": ([20], []),
    "one_wrapper": ([16, 19, 22], [25]),
    # In the callers of the loops, none in the loops.
    "tryloops": ([59, 62, 65, 68, 71, 74, 77], []),
    # What changes the words has no place in the source (0); regions of the words are plain code.
    "word": ([0, 38, 45], [36, 47, 66, 67]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_report_tells_what_is_a_section(converter: Converter, name: str) -> None:
    compiled = converter.compile(
        PROGRAMS / f"{name}.c", PROGRAMS / f"{name}.toml", "-O2", "-ftandem-enforce=stm"
    )
    assert compiled.status == 0, compiled.errors
    sections = sorted({x["line"] for x in compiled.sections("atomic")})
    real = sorted({x["line"] for x in compiled.sections("lock-region")})
    assert (sections, real) == EXPECTED[name]


def test_converted_lock_is_no_longer_called(converter: Converter) -> None:
    """The library's functions are gone where all their locks are converted."""
    compiled = converter.compile(
        PROGRAMS / "counter.c", PROGRAMS / "counter.toml", "-O2", "-ftandem-enforce=stm"
    )
    assert compiled.status == 0, compiled.errors
    assert b"pthread_mutex_lock" not in compiled.program.read_bytes()


# Which of the library's operations the program calls, and whether it has phases.
PHASES = b"_TANDEM_phase_enter"


def test_hybrid_keeps_the_locks_of_converted_programs(converter: Converter) -> None:
    for enforce, kept in (("hybrid", True), ("stm", False), ("locks", False)):
        compiled = converter.compile(
            PROGRAMS / "counter.c",
            PROGRAMS / "counter.toml",
            "-O2",
            f"-ftandem-enforce={enforce}",
        )
        assert compiled.status == 0, compiled.errors
        program = compiled.program.read_bytes()
        assert (PHASES in program, b"pthread_mutex_lock" in program) == (
            kept,
            kept,
        ), enforce


def test_section_of_the_source_leaves_no_phases(converter: Converter) -> None:
    """It knows nothing of the program's locks."""
    text = (PROGRAMS / "counter.c").read_text(encoding="utf-8")
    marked = converter.folder / "marked.c"
    mark = "#include <tandem/tandem.h>\nTANDEM_ATOMIC void reset(long *at) { *at = 0; }\n"
    marked.write_text(mark + text + "void (*keep)(long *) = reset;\n", encoding="utf-8")
    compiled = converter.compile(
        marked, PROGRAMS / "counter.toml", "-O2", "-ftandem-enforce=hybrid"
    )
    assert compiled.status == 0, compiled.errors
    assert PHASES not in compiled.program.read_bytes()
    status, printed = converter.run(compiled.program, 4, "norec")
    assert status == 0, printed


def test_phase_that_there_is_not_is_refused(converter: Converter) -> None:
    compiled = converter.compile(
        PROGRAMS / "counter.c",
        PROGRAMS / "counter.toml",
        "-O2",
        "-ftandem-enforce=hybrid",
    )
    assert compiled.status == 0, compiled.errors
    status, printed = converter.run(compiled.program, 1, "auto", "mutexes")
    assert status == 2
    assert "TANDEM_HYBRID: 'mutexes' is not auto, locks or transactions" in printed


def test_file_about_other_programs_changes_nothing(converter: Converter) -> None:
    conversion = converter.folder / "other.toml"
    text = (PROGRAMS / "counter.toml").read_text(encoding="utf-8")
    conversion.write_text(text.replace("version = 1", 'version = 1\nprograms = ["server"]'))
    compiled = converter.compile(PROGRAMS / "counter.c", conversion, "-O2", "-ftandem-enforce=stm")
    assert compiled.status == 0, compiled.errors
    assert compiled.sections("atomic") == []
    assert len(compiled.sections("lock-region")) == 1


# A region of `a` that stays real calls a section that acquires `a`: the program would wait for
# itself, and with the lock a section the compiler is told that nothing does so.
NESTED = """\
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x, y;
static void inner(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); }
static void outer(int deep) {
  pthread_mutex_lock(&b);
  ++y;
  if (deep) inner();
  pthread_mutex_unlock(&b);
}
static void really(int deep) {
  pthread_mutex_lock(&a);
  ++x;
  outer(deep);
  pthread_mutex_unlock(&a);
}
int main(int argc, char **argv) {
  (void)argv;
  outer(1);
  really(argc > 2);
  return x == 2 && y == 2 ? 0 : 1;
}
"""
NESTED_FILE = """\
version = 1
[[section]]
locks = ["a", "b"]
reason = "r"
[[lock-region]]
function = "really"
lock = "a"
reason = "r"
outermost = true
"""


@pytest.mark.parametrize("enforce", ["global-lock", "locks", "stm", "hybrid"])
def test_section_that_waits_for_a_lock_region_traps(converter: Converter, enforce: str) -> None:
    source = converter.folder / "nested.c"
    source.write_text(NESTED, encoding="utf-8")
    conversion = converter.folder / "nested.toml"
    conversion.write_text(NESTED_FILE, encoding="utf-8")
    compiled = converter.compile(source, conversion, "-O2", f"-ftandem-enforce={enforce}")
    assert compiled.status == 0, compiled.errors
    assert converter.run(compiled.program, 1, "auto")[0] == 0
    done = subprocess.run([compiled.program, "1", "deep"], timeout=RUN_SECONDS, check=False)
    assert done.returncode in (-signal.SIGILL, -signal.SIGTRAP)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("enforce", ["locks", "stm", "hybrid"])
def test_locks_of_a_shared_library(converter: Converter, enforce: str, own: bool) -> None:
    """Used by a program of another compiler, and by one that has sections."""
    built = converter.compile(
        PROGRAMS / "library.c",
        PROGRAMS / "library.toml",
        *("-O2", "-shared", "-fPIC", f"-ftandem-enforce={enforce}"),
    )
    assert built.status == 0, built.errors
    assert len({x["line"] for x in built.sections("atomic")}) >= 5
    assert built.sections("lock-region") == []
    library = built.program.rename(converter.folder / "libtally.so")
    program = converter.folder / "user"
    compiler = [str(converter.build / "bin/tandem-cc"), f"-ftandem-enforce={enforce}"]
    subprocess.run(
        [
            *(compiler if own else ["gcc"]),
            *("-O2", "-pthread", "-I", PROGRAMS, PROGRAMS / "library_user.c", library),
            *(f"-Wl,-rpath,{converter.folder}", "-o", program),
        ],
        check=True,
    )
    for threads in THREADS:
        for phase in ("auto", *(("locks", "transactions") if enforce == "hybrid" else ())):
            assert converter.run(program, threads, "auto", phase) == (0, ""), (threads, phase)
