# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What cannot be converted is refused: a line with the place and what to do, status 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Compiled, Converter

HEAD = """\
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int x, y;
"""
FIRST = HEAD.count("\n") + 1  # the next line's number
SECTION_A = 'version = 1\n[[section]]\nlocks = ["a"]\nreason = "r"\n'


def refused(
    converter: Converter, code: str, conversion: str, *options: str
) -> tuple[Compiled, str]:
    """Compiles; checks that it is refused by one line. Result: also that line, the program's name
    in front of it dropped.
    """
    source = converter.folder / "p.c"
    source.write_text(HEAD + code, encoding="utf-8")
    file = converter.folder / "p.toml"
    file.write_text(conversion, encoding="utf-8")
    compiled = converter.compile(
        source, file, "-O1", "-Wno-unused", "-ftandem-enforce=stm", *options
    )
    lines = [x for x in compiled.errors.splitlines() if x.startswith("tandem-cc: ")]
    assert compiled.status == 2, f"{compiled.status}: {compiled.errors}"
    assert len(lines) == 1, compiled.errors
    assert not compiled.program.exists()
    return compiled, lines[0].removeprefix("tandem-cc: ").replace(f"{converter.folder}/", "")


MAIN = "int main(void) { f(); return x; }\n"
LOCKED = "static void f(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); }\n" + MAIN


FILES = {
    "no version": (
        '[[section]]\nlocks = ["a"]\nreason = "r"\n',
        "p.toml: has no version",
    ),
    "another version": ("version = 2\n", "p.toml:1:11: is not version 1"),
    "no TOML": ("version = = 1\n", "p.toml:1:"),
    "no section": ("version = 1\n", "p.toml: makes no lock a section"),
    "unknown key": ("version = 1\nlocks = 3\n", "p.toml:2:1: 'locks' is not known"),
    "no reason": (
        'version = 1\n[[section]]\nlocks = ["a"]\n',
        "p.toml:2:1: has no reason",
    ),
    "no lock": (
        'version = 1\n[[section]]\nreason = "r"\n',
        "p.toml:2:1: names no lock",
    ),
    "twice": (
        SECTION_A + '[[gate]]\nlocks = ["a"]\nreason = "r"\n',
        "p.toml:5: lock 'a' is named in line 2 already",
    ),
    "unknown lock": (
        SECTION_A.replace('"a"', '"a_lock"'),
        "p.toml:2: the program has no lock 'a_lock'; `tandem analyze` prints its locks",
    ),
    "neither true nor false": (
        SECTION_A + '[[balanced]]\nfunction = "f"\nreason = "r"\nwaits-outside = 1\n',
        "p.toml:8:17: waits-outside is neither true nor false",
    ),
    "unknown function": (
        SECTION_A + '[[balanced]]\nfunction = "g"\nreason = "r"\n',
        "p.toml:5: the program has no function 'g'",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_mistake_in_the_file(converter: Converter, case: str) -> None:
    conversion, message = FILES[case]
    _, line = refused(converter, LOCKED, conversion)
    assert line.startswith(message), line


CODE = {
    "condition wait": (
        "static void f(void) { pthread_mutex_lock(&a);\n"
        "  while (!x) pthread_cond_wait(&c, &a);\n"
        "  pthread_mutex_unlock(&a); }\n" + MAIN,
        f"p.c:{FIRST + 1}: lock 'a' is given up by a condition wait",
    ),
    "given to other code": (
        "void outside(pthread_mutex_t *);\n"
        "static void f(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a);\n"
        "  outside(&a); }\n" + MAIN,
        f"p.c:{FIRST + 2}: lock 'a' is given to 'outside', code outside the program",
    ),
    "by another name": (
        (
            "static void f(pthread_mutex_t *p) { pthread_mutex_lock(p); ++x; ++y;\n"
            "  pthread_mutex_unlock(p); }\n"
            "int main(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a);\n"
            "  f(&a); f(&b); return x; }\n"
        ),
        f"p.c:{FIRST}: lock '*p' may be 'a', which p.toml:2 makes a section; name both there",
    ),
    "held at the end": (
        (
            "static void f(void) { pthread_mutex_lock(&a); ++x; }\n"
            "static void g(void) { pthread_mutex_unlock(&a); }\n"
            "void (*volatile p)(void) = f; void (*volatile q)(void) = g;\n"
            "int main(void) { p(); q(); return x; }\n"
        ),
        (
            f"p.c:{FIRST}: f may return and hold 'a', and it cannot be put into its callers: "
            "it is called by pointer; make the lock a gate"
        ),
    ),
    "reader and writer": (
        "static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;\n"
        "static void f(void) { pthread_rwlock_wrlock(&r); ++x; pthread_rwlock_unlock(&r); }\n"
        + MAIN,
        f"p.c:{FIRST + 1}: lock 'r' is a pthread-rwlock, which cannot become a section yet",
    ),
    "waits in a section": (
        "static void f(void) { pthread_mutex_lock(&a);\n"
        "  pthread_mutex_lock(&b);\n"
        "  while (!x) pthread_cond_wait(&c, &b);\n"
        "  pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); }\n" + MAIN,
        f"p.c:{FIRST + 2}: a section may wait here for another thread",
    ),
    "both orders": (
        "static void g(void) { pthread_mutex_lock(&b); ++y; pthread_mutex_unlock(&b); }\n"
        "static void f(void) { pthread_mutex_lock(&a); g(); pthread_mutex_unlock(&a);\n"
        "  pthread_mutex_lock(&b); pthread_mutex_lock(&a); ++x;\n"
        "  pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); }\n" + MAIN,
        (
            f"p.c:{FIRST}: a section waits for 'b' at p.c:{FIRST} "
            f"(called from f at p.c:{FIRST + 1}), "
            f"who holds 'b' waits for a section at p.c:{FIRST + 2}: they may wait for each other"
        ),
    ),
    "a wait behind a real lock": (
        "static pthread_mutex_t d = PTHREAD_MUTEX_INITIALIZER;\n"
        "static void f(void) { pthread_mutex_lock(&a); pthread_mutex_lock(&b); ++y;\n"
        "  pthread_mutex_unlock(&b); pthread_mutex_unlock(&a);\n"
        "  pthread_mutex_lock(&b); pthread_mutex_lock(&d);\n"
        "  while (!x) pthread_cond_wait(&c, &d);\n"
        "  pthread_mutex_unlock(&d); pthread_mutex_unlock(&b); }\n" + MAIN,
        (
            f"p.c:{FIRST + 1}: a section waits for 'b' at p.c:{FIRST + 1}, who holds 'b' waits for "
            f"another thread at p.c:{FIRST + 4}"
        ),
    ),
}


@pytest.mark.parametrize("case", CODE)
def test_what_cannot_be_converted(converter: Converter, case: str) -> None:
    code, message = CODE[case]
    lock = "r" if case == "reader and writer" else "a"
    _, line = refused(converter, code, SECTION_A.replace('"a"', f'"{lock}"'))
    assert line.startswith(message), line


def test_shared_library(converter: Converter) -> None:
    _, line = refused(converter, LOCKED, SECTION_A, "-shared", "-fPIC")
    assert line.startswith("p.toml: the locks of a shared library cannot be converted"), line


def test_nothing_enforced(converter: Converter) -> None:
    _, line = refused(converter, LOCKED, SECTION_A, "-ftandem-enforce=none")
    assert line.startswith("-ftandem-convert: with -ftandem-enforce=none nothing would keep"), line


def test_file_that_is_not_there(converter: Converter) -> None:
    source = converter.folder / "p.c"
    source.write_text(HEAD + LOCKED, encoding="utf-8")
    compiled = converter.compile(source, Path("none.toml"))
    assert compiled.status == 2
    assert "none.toml" in compiled.errors
    assert len(compiled.errors.splitlines()) == 1
