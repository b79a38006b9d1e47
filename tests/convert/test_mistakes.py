# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What cannot be converted is refused: a line with the place and what to do, status 2."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import Compiled, Converter
from tandem.workload.memcached import refusal

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
        source,
        file,
        *("-O1", "-D_GNU_SOURCE", "-Wno-unused", "-ftandem-enforce=stm"),
        *options,
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
    "a name of two lines": (
        'version = 1\n[[section]]\nlocks = ["a\\nb\\u001b[2J"]\nreason = "r"\n',
        "p.toml:2: the program has no lock 'a\\nb\\x1b[2J'",
    ),
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
        SECTION_A + '[[lock]]\nlocks = ["a"]\nreason = "r"\n',
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
    "guarded-by neither": (
        SECTION_A + "guarded-by = 1\n",
        "p.toml:5:14: guarded-by is neither true nor false",
    ),
    "lock guarded-by": (
        SECTION_A + '[[lock]]\nlocks = ["b"]\nreason = "r"\nguarded-by = true\n',
        "p.toml:8:1: 'guarded-by' is not known here; use locks and reason",
    ),
    "as what": (SECTION_A + 'as = "spin"\n', 'p.toml:5:6: as is not "word"'),
    "word guarded-by": (
        SECTION_A + 'as = "word"\nguarded-by = true\n',
        "p.toml:2:1: a lock that is a word has no sections whose data it guards",
    ),
    "lock region of a word": (
        SECTION_A + 'as = "word"\n[[lock-region]]\nfunction = "f"\nlock = "a"\nreason = "r"\n',
        "p.toml:6: lock 'a' becomes a word, of which no region is a section",
    ),
    "unknown key of a lock region": (
        SECTION_A + '[[lock-region]]\nfunction = "f"\nlocks = ["a"]\nreason = "r"\n',
        "p.toml:7:1: 'locks' is not known here; use function, lock, reason and outermost",
    ),
    "lock region without a reason": (
        SECTION_A + '[[lock-region]]\nfunction = "f"\nlock = "a"\n',
        "p.toml:5:1: needs function = ",
    ),
    "lock region of no function": (
        SECTION_A + '[[lock-region]]\nfunction = "g"\nlock = "a"\nreason = "r"\n',
        "p.toml:5: the program has no function 'g'",
    ),
    "lock region of no section": (
        SECTION_A + '[[lock-region]]\nfunction = "f"\nlock = "b"\nreason = "r"\n',
        "p.toml:5: no [[section]] names lock 'b'",
    ),
    "lock region without its lock": (
        SECTION_A + '[[lock-region]]\nfunction = "main"\nlock = "a"\nreason = "r"\n',
        "p.toml:5: 'main' does not itself acquire lock 'a'",
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
    assert not refusal(f"tandem-cc: {line}\n")


CODE = {
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
            "it is called by pointer; keep the lock"
        ),
    ),
    "acquired by more than a wrapper": (
        (
            "static void take(pthread_mutex_t *m, int n) {\n"
            "  if (pthread_mutex_trylock(m)) { ++y; take(m, n - 1); } }\n"
            "static void f(void) { take(&a, 3); ++x;\n"
            "  pthread_mutex_unlock(&a); }\n"
            "void (*volatile p)(void) = f;\n"
            "int main(void) { p(); return x; }\n"
        ),
        (
            f"p.c:{FIRST + 3}: f releases 'a', which it has by 'take' (p.c:{FIRST + 1}): how that "
            "acquires it is not understood"
        ),
    ),
    "a reader's try": (
        "static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;\n"
        "static void f(void) {\n"
        "  if (pthread_rwlock_tryrdlock(&r) == 0) { ++x; pthread_rwlock_unlock(&r); } }\n" + MAIN,
        f"p.c:{FIRST + 2}: lock 'r' is a pthread-rwlock that is tried, which cannot become a",
    ),
    "readers of several processes": (
        "static pthread_rwlock_t r;\n"
        "static void f(void) { pthread_rwlock_rdlock(&r); ++x; pthread_rwlock_unlock(&r); }\n"
        "int main(void) { pthread_rwlockattr_t a;\n"
        "  pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED);\n"
        "  pthread_rwlock_init(&r, &a); f(); return x; }\n",
        f"p.c:{FIRST + 3}: 'pthread_rwlockattr_setpshared' may make a lock that several processes",
    ),
    "waits in a section": (
        "static void f(void) { pthread_mutex_lock(&a);\n"
        "  pthread_mutex_lock(&b);\n"
        "  while (!x) pthread_cond_wait(&c, &b);\n"
        "  pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); }\n" + MAIN,
        f"p.c:{FIRST + 2}: a section of 'a' may wait here for another thread",
    ),
    "both orders": (
        "static void g(void) { pthread_mutex_lock(&b); ++y; pthread_mutex_unlock(&b); }\n"
        "static void f(void) { pthread_mutex_lock(&a); g(); pthread_mutex_unlock(&a);\n"
        "  pthread_mutex_lock(&b); pthread_mutex_lock(&a); ++x;\n"
        "  pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); }\n" + MAIN,
        (
            f"p.c:{FIRST}: a section of 'a' waits for 'b' at p.c:{FIRST} "
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
            f"p.c:{FIRST + 1}: a section of 'a' waits for 'b' at p.c:{FIRST + 1}, who holds 'b' "
            f"waits for another thread at p.c:{FIRST + 4}"
        ),
    ),
    "label's address": (
        "static void f(void) { static void *to[] = {&&l, &&e}; int i = 0;\n"
        "  goto *to[i++];\n"
        "l: pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); goto *to[i++];\n"
        "e: return; }\n" + MAIN,
        f"p.c:{FIRST + 2}: lock 'a' is used in a function that jumps to the address of a label",
    ),
    "by pointer": (
        "static int (*volatile lock)(pthread_mutex_t *) = pthread_mutex_lock;\n"
        "static int (*volatile unlock)(pthread_mutex_t *) = pthread_mutex_unlock;\n"
        "static void g(void) { lock(&a); ++x; unlock(&a); }\n"
        "static void f(void) { g(); pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); }\n"
        + MAIN,
        f"p.c:{FIRST}: 'pthread_mutex_lock' is called by pointer, with locks",
    ),
    "shared by processes": (
        "static void f(void) { pthread_mutexattr_t t; pthread_mutexattr_init(&t);\n"
        "  pthread_mutexattr_setpshared(&t, PTHREAD_PROCESS_SHARED); pthread_mutex_init(&a, &t);\n"
        "  pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); }\n" + MAIN,
        f"p.c:{FIRST + 1}: 'pthread_mutexattr_setpshared' may make a lock that several processes",
    ),
    "recursive": (
        "static void f(void) { pthread_mutexattr_t t; pthread_mutexattr_init(&t);\n"
        "  pthread_mutexattr_settype(&t, PTHREAD_MUTEX_RECURSIVE); pthread_mutex_init(&a, &t);\n"
        "  if (!pthread_mutex_trylock(&a)) { ++x; pthread_mutex_unlock(&a); } }\n" + MAIN,
        (
            f"p.c:{FIRST + 2}: lock 'a' is tried, and may be one that its owner can lock again "
            f"(p.c:{FIRST + 1})"
        ),
    ),
    "recursive from its start": (
        "#define INITIALISER PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP\n"
        "static pthread_mutex_t r = INITIALISER;\n"
        "static void f(void) {\n"
        "  if (!pthread_mutex_trylock(&r)) { ++x; pthread_mutex_unlock(&r); } }\n" + MAIN,
        (
            f"p.c:{FIRST + 3}: lock 'r' is tried, and may be one that its owner can lock again "
            f"(p.c:{FIRST + 1})"
        ),
    ),
    "variable and field": (
        (
            "struct object { long n; pthread_mutex_t m; };\n"
            "static struct object g = {0, PTHREAD_MUTEX_INITIALIZER};\n"
            "static void h(struct object *q) { pthread_mutex_lock(&q->m); ++q->n;\n"
            "  pthread_mutex_unlock(&q->m); }\n"
            "static void f(void) { pthread_mutex_lock(&g.m); ++x; pthread_mutex_unlock(&g.m); }\n"
            "void (*volatile p)(struct object *) = h;\n"
            "int main(void) { f(); p(&g); return x; }\n"
        ),
        f"p.c:{FIRST + 2}: lock 'q->m' may be 'g.m', which p.toml:2 makes a section",
    ),
    "one record and another": (
        (
            "#include <stdlib.h>\n"
            "struct pub { pthread_mutex_t m; long n; };\n"
            "struct priv { pthread_mutex_t lock; long n, more; };\n"
            "static void h(void *q) { struct priv *p = q; pthread_mutex_lock(&p->lock); ++p->n;\n"
            "  pthread_mutex_unlock(&p->lock); }\n"
            "static void f(struct pub *p) {\n"
            "  pthread_mutex_lock(&p->m); ++p->n; pthread_mutex_unlock(&p->m); }\n"
            "struct pub *volatile kept;\n"
            "int main(void) { kept = calloc(1, sizeof(struct priv)); f(kept); h(kept);\n"
            "  return x; }\n"
        ),
        f"p.c:{FIRST + 3}: lock 'p->lock' may be 'pub.m', which p.toml:2 makes a section",
    ),
    "in a marked section": (
        (
            "#include <tandem/tandem.h>\n"
            "static void f(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); }\n"
            "TANDEM_ATOMIC __attribute__((noinline)) void g(void) { f(); }\n"
            "int main(void) { g();\n"
            "  if (!pthread_mutex_trylock(&a)) { ++x; pthread_mutex_unlock(&a); } return x; }\n"
        ),
        (
            f"p.c:{FIRST + 1}: lock 'a' is used here in a section that the program marks, and "
            f"tried at p.c:{FIRST + 4}"
        ),
    ),
}
# What the file names, where that is not `a`.
NAMED = {
    "a reader's try": "r",
    "readers of several processes": "r",
    "recursive from its start": "r",
    "variable and field": "g.m",
    "one record and another": "pub.m",
}


@pytest.mark.parametrize("case", CODE)
def test_what_cannot_be_converted(converter: Converter, case: str) -> None:
    code, message = CODE[case]
    _, line = refused(
        converter,
        code,
        SECTION_A.replace('"a"', f'"{NAMED.get(case, "a")}"'),
    )
    assert line.startswith(message), line
    assert refusal(f"tandem-cc: {line}\n") == line


def test_too_many_for_their_callers(converter: Converter) -> None:
    """Too large for lock wrappers, each returns with the lock held."""
    takes = [f"take{i}" for i in range(33)]
    body = "++y; " * 200
    code = "".join(f"static void {x}(void) {{ pthread_mutex_lock(&a); {body} }}\n" for x in takes)
    calls = "".join(f"{x}(); ++x; pthread_mutex_unlock(&a);\n" for x in takes)
    _, line = refused(converter, f"{code}int main(void) {{\n{calls}  return x; }}\n", SECTION_A)
    told = "more than 32 functions would have to be put into their callers ('take0', 'take1', "
    assert line.startswith(f"p.toml: {told}"), line
    assert line.endswith("and 27 more); keep their locks, or add [[balanced]]"), line


# With `a` as a word, and sections of `b`.
WORD = SECTION_A + 'as = "word"\n' + SECTION_A.removeprefix("version = 1\n").replace('"a"', '"b"')
WITH_B = "static void g(void) { pthread_mutex_lock(&b); ++y; pthread_mutex_unlock(&b); }\n"
WORDS = {
    "waits for a condition": (
        WITH_B + "static void f(void) { pthread_mutex_lock(&a);\n"
        "  while (x == 0) pthread_cond_wait(&c, &a);\n"
        "  pthread_mutex_unlock(&a); g(); }\n" + MAIN,
        f"p.c:{FIRST + 2}: lock 'a' cannot become a word: it is no mutex that is only locked,",
    ),
    "until a time": (
        WITH_B + "static void f(void) { struct timespec now = {0, 0};\n"
        "  if (pthread_mutex_timedlock(&a, &now) == 0) {\n"
        "    ++x; pthread_mutex_unlock(&a); }\n  g(); }\n" + MAIN,
        f"p.c:{FIRST + 2}: lock 'a' cannot become a word: it is no mutex that is only locked,",
    ),
    "given to other code": (
        WITH_B + "void outside(pthread_mutex_t *);\n"
        "static void f(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a);\n"
        "  outside(&a); g(); }\n" + MAIN,
        f"p.c:{FIRST + 3}: lock 'a' is given to 'outside', code outside the program",
    ),
    "recursive": (
        WITH_B + "static pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;\n"
        "static void f(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); g();\n"
        "  pthread_mutex_lock(&r); pthread_mutex_unlock(&r); }\n" + MAIN,
        f"p.c:{FIRST + 2}: regions of lock 'a' are to be in no section, and it may be one that "
        f"knows its owner (p.c:{FIRST + 1})",
    ),
    "checked by its owner": (
        WITH_B + "static pthread_mutex_t e = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;\n"
        "static void f(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); g();\n"
        "  pthread_mutex_lock(&e); pthread_mutex_unlock(&e); }\n" + MAIN,
        f"p.c:{FIRST + 2}: regions of lock 'a' are to be in no section, and it may be one that "
        f"knows its owner (p.c:{FIRST + 1})",
    ),
    "hands on priorities": (
        WITH_B + "static void f(void) { pthread_mutexattr_t t; pthread_mutexattr_init(&t);\n"
        "  pthread_mutexattr_setprotocol(&t, PTHREAD_PRIO_INHERIT); pthread_mutex_init(&a, &t);\n"
        "  pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); g(); }\n" + MAIN,
        f"p.c:{FIRST + 2}: regions of converted locks are to be in no section, and the program "
        "makes mutexes that hand on priorities",
    ),
    "tried behind a real lock": (
        "static pthread_mutex_t d = PTHREAD_MUTEX_INITIALIZER;\n"
        "static void f(void) { pthread_mutex_lock(&d);\n"
        "  if (pthread_mutex_trylock(&a) == 0) {\n"
        "    pthread_mutex_unlock(&d); ++x; pthread_mutex_unlock(&a); }\n"
        "  else pthread_mutex_unlock(&d);\n"
        "  pthread_mutex_lock(&b); ++y; pthread_mutex_lock(&d); ++x;\n"
        "  pthread_mutex_unlock(&d); pthread_mutex_unlock(&b); }\n" + MAIN,
        f"p.c:{FIRST + 5}: a section of 'b' waits for 'd' at p.c:{FIRST + 5}, who holds 'd' waits "
        f"for a section at p.c:{FIRST + 2}: they may wait for each other",
    ),
    "a section waits for it": (
        WITH_B + "static void f(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a);\n"
        "  pthread_mutex_lock(&b); pthread_mutex_lock(&a); ++x;\n"
        "  pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); g(); }\n" + MAIN,
        f"p.c:{FIRST + 2}: a section of 'b' waits for 'a' at p.c:{FIRST + 2}, who holds 'a' waits "
        f"for a section at p.c:{FIRST + 1}: they may wait for each other",
    ),
}


@pytest.mark.parametrize("as_word", [True, False])
def test_lock_that_code_outside_takes_by_a_wrapper(converter: Converter, as_word: bool) -> None:
    code = (
        "void take(void) { pthread_mutex_lock(&a); }\n"
        "void give(void) { pthread_mutex_unlock(&a); }\n"
        "void add(void) { take(); ++x; give(); }\n"
    )
    _, line = refused(converter, code, SECTION_A + 'as = "word"\n' * as_word, "-shared", "-fPIC")
    told = "'take' does this to lock 'a' for its callers, and code outside the program may call it"
    assert line.startswith(f"p.c:{FIRST}: {told}"), line


@pytest.mark.parametrize("case", WORDS)
def test_lock_that_cannot_be_a_word(converter: Converter, case: str) -> None:
    code, message = WORDS[case]
    _, line = refused(converter, code, WORD)
    assert line.startswith(message), line


# With regions of `a` that stay real in `really`.
REGION = '[[lock-region]]\nfunction = "really"\nlock = "a"\nreason = "r"\n'
SECTION_AB = SECTION_A.replace('"a"', '"a", "b"') + REGION
REALLY = "static void really(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); }\n"
IN_MAIN = "int main(void) { really(); f(); return x; }\n"
REAL = {
    "ends elsewhere": (
        "static void really(void) { pthread_mutex_lock(&a); ++x; }\n"
        "int main(void) { really(); ++y; pthread_mutex_unlock(&a); return x; }\n",
        f"p.c:{FIRST}: a region of lock 'a' cannot stay real here, as p.toml:5 has it: it does "
        "not begin and end in this function on every path",
    ),
    "of a spinlock": (
        "static pthread_spinlock_t s;\n"
        "static void really(void) { pthread_spin_lock(&s); ++x; pthread_spin_unlock(&s); }\n"
        "int main(void) { pthread_spin_init(&s, 0); really(); return x; }\n",
        f"p.c:{FIRST + 1}: a region of lock 's' cannot stay real here, as p.toml:5 has it: it is "
        "not between pthread_mutex_lock and pthread_mutex_unlock",
    ),
    "locked behind another": (
        REALLY + "static void f(void) { pthread_mutex_lock(&b); ++y;\n"
        "  pthread_mutex_lock(&a); ++x;\n"
        "  pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); }\n" + IN_MAIN,
        f"p.c:{FIRST + 2}: a section may acquire here a lock of which [[lock-region]] keeps "
        "regions real, and cannot wait for these; keep that lock",
    ),
    "locked by what a section calls": (
        REALLY + "static void g(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); }\n"
        "static void f(void) { pthread_mutex_lock(&b); ++y;\n"
        "  g(); pthread_mutex_unlock(&b); }\n" + IN_MAIN,
        f"p.c:{FIRST + 1}: a section may acquire here a lock of which [[lock-region]] keeps "
        f"regions real, and cannot wait for these (called from f at p.c:{FIRST + 3})",
    ),
    "begun in a section": (
        REALLY + "static void f(void) { pthread_mutex_lock(&b); ++y;\n"
        "  really(); pthread_mutex_unlock(&b); }\n" + IN_MAIN,
        f"p.c:{FIRST}: a section may acquire here a lock of which [[lock-region]] keeps",
    ),
    "in a marked section": (
        "#include <tandem/tandem.h>\n" + REALLY + "static void f(void) {\n"
        "  pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); }\n"
        "TANDEM_ATOMIC __attribute__((noinline)) void g(void) { f(); }\n"
        "int main(void) { really(); g(); return x; }\n",
        f"p.c:{FIRST + 3}: lock 'a' is used here in a section that the program marks, and regions "
        "of it stay real",
    ),
    "recursive": (
        REALLY + "static void f(void) { pthread_mutexattr_t t; pthread_mutexattr_init(&t);\n"
        "  pthread_mutexattr_settype(&t, PTHREAD_MUTEX_RECURSIVE);\n"
        "  pthread_mutex_init(&a, &t); }\n" + IN_MAIN,
        f"p.c:{FIRST}: regions of lock 'a' are to be in no section, and it may be one that knows "
        f"its owner (p.c:{FIRST + 2})",
    ),
    "robust": (
        REALLY + "static void f(void) { pthread_mutexattr_t t; pthread_mutexattr_init(&t);\n"
        "  pthread_mutexattr_setrobust(&t, PTHREAD_MUTEX_ROBUST);\n"
        "  pthread_mutex_init(&a, &t); }\n" + IN_MAIN,
        f"p.c:{FIRST + 2}: regions of converted locks are to be in no section, and the program "
        "makes robust mutexes",
    ),
}


@pytest.mark.parametrize("case", REAL)
def test_regions_that_cannot_stay_real(converter: Converter, case: str) -> None:
    code, message = REAL[case]
    lock = "s" if case == "of a spinlock" else "a"
    both = any(word in code for word in ("&b", "(&b"))
    conversion = (SECTION_AB if both else SECTION_A + REGION).replace('"a"', f'"{lock}"')
    _, line = refused(converter, code, conversion)
    assert line.startswith(message), line
    assert refusal(f"tandem-cc: {line}\n") == line


def test_an_entry_for_what_another_is_about(converter: Converter) -> None:
    code = REALLY + "static void f(void) { pthread_mutex_lock(&a); pthread_mutex_unlock(&a); }\n"
    _, line = refused(converter, code + IN_MAIN, SECTION_A + REGION + REGION)
    assert line.startswith("p.toml:9: line 5 says the same of 'really'"), line


def test_a_region_in_one_of_two_functions_of_the_name(converter: Converter) -> None:
    other = converter.folder / "other.c"
    other.write_text(HEAD + REALLY + "void g(void) { really(); }\n", encoding="utf-8")
    code = REALLY + "void g(void);\nstatic void f(void) { g(); }\n" + IN_MAIN
    _, line = refused(converter, code, SECTION_A + REGION, "-g", "-D_GNU_SOURCE", str(other))
    assert line.startswith("p.toml:5: the program has 2 functions 'really'"), line


def test_lock_that_native_code_can_name(converter: Converter) -> None:
    native = converter.folder / "native.c"
    native.write_text(
        "#include <pthread.h>\nextern pthread_mutex_t v;\n"
        "void g(void) { pthread_mutex_lock(&v); pthread_mutex_unlock(&v); }\n",
        encoding="utf-8",
    )
    built = native.with_suffix(".o")
    subprocess.run(["cc", "-c", native, "-o", built], check=True)
    code = (
        "pthread_mutex_t v = PTHREAD_MUTEX_INITIALIZER;\nvoid g(void);\n"
        "static void f(void) { pthread_mutex_lock(&v); ++x; pthread_mutex_unlock(&v); g(); }\n"
        + MAIN
    )
    _, line = refused(converter, code, SECTION_A.replace('"a"', '"v"'), str(built))
    assert line.startswith(
        f"p.c:{FIRST + 2}: lock 'v' may lie in 'v', which code outside the program can name"
    ), line


def test_lock_of_a_shared_librarys_caller(converter: Converter) -> None:
    code = (
        "struct holder { int kind; pthread_mutex_t *m; };\n"
        "void f(struct holder *h) { pthread_mutex_lock(h->m); ++x; pthread_mutex_unlock(h->m); }\n"
    )
    section = SECTION_A.replace('"a"', '"*holder.m"')
    _, line = refused(converter, code, section, "-shared", "-fPIC")
    assert line == (
        f"p.c:{FIRST + 1}: lock '*holder.m' may be one of the code that calls this shared library; "
        "keep it a lock"
    )


def kept(converter: Converter, code: str, *locks: str, enforce: str = "stm") -> Compiled:
    """Compiles with each of `locks` a section, where what is refused stays a lock; it must do."""
    source = converter.folder / "p.c"
    source.write_text(HEAD + code, encoding="utf-8")
    sections = "".join(f'[[section]]\nlocks = ["{x}"]\nreason = "r"\n' for x in locks)
    file = converter.folder / "p.toml"
    file.write_text(f"version = 1\nrefused-stay-locks = true\n{sections}", encoding="utf-8")
    options = ("-O1", "-D_GNU_SOURCE", "-Wno-unused", f"-ftandem-enforce={enforce}")
    compiled = converter.compile(source, file, *options)
    assert compiled.status == 0, compiled.errors
    return compiled


def test_what_is_refused_may_stay_a_lock(converter: Converter) -> None:
    compiled = kept(converter, CODE["held at the end"][0], "a", enforce="hybrid")
    notes = [x for x in compiled.errors.splitlines() if x.startswith("tandem-cc: ")]
    assert len(notes) == 1, compiled.errors
    assert notes[0].startswith("tandem-cc: note: stays a lock: "), notes
    assert "p.c:6: f may return and hold 'a'" in notes[0]


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


EARLIER = """\
version = 1
[[section]]
locks = ["a"]
apart = true
reason = "r"
[[gate]]
locks = ["b"]
reason = "r"
"""


def warned(converter: Converter, code: str, conversion: str) -> list[str]:
    """Compiles, which must do, and runs. Result: the warnings of the link, shortened."""
    source = converter.folder / "p.c"
    source.write_text(HEAD + code, encoding="utf-8")
    file = converter.folder / "p.toml"
    file.write_text(conversion, encoding="utf-8")
    compiled = converter.compile(
        source, file, *("-O1", "-D_GNU_SOURCE", "-Wno-unused", "-ftandem-enforce=stm")
    )
    assert compiled.status == 0, compiled.errors
    subprocess.run([compiled.program], timeout=60, check=True)
    start = "tandem-cc: warning: "
    lines = [x for x in compiled.errors.splitlines() if x.startswith(start)]
    return [x.removeprefix(start).replace(f"{converter.folder}/", "") for x in lines]


BOTH = """\
static void f(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a); }
int main(void) { f(); pthread_mutex_lock(&b); ++y; pthread_mutex_unlock(&b); return x != y; }
"""


def test_earlier_words_are_read_with_a_warning(converter: Converter) -> None:
    assert {*warned(converter, BOTH, EARLIER)} == {
        "p.toml:4:1: 'apart' is now 'guarded-by'; write that",
        "p.toml:6:3: 'gate' is now 'lock'; write that",
    }


def test_a_refusal_with_an_apostrophe_keeps_one_lock(converter: Converter) -> None:
    """Of "its caller's 'a'" the name is `a`: `b` becomes a section."""
    code = (
        "static void give_up(int n) { ++x; if (n) pthread_mutex_unlock(&a); ++y; }\n"
        "void (*volatile hook)(int) = give_up;\n"
        "int main(void) { pthread_mutex_lock(&a); ++x; hook(1);\n"
        "  pthread_mutex_lock(&b); ++y; pthread_mutex_unlock(&b); return x - y; }\n"
    )
    compiled = kept(converter, code, "a", "b")
    assert "caller's 'a'" in compiled.errors
    assert len(compiled.sections("atomic")) == 1


def test_a_refusal_for_the_order_keeps_one_lock(converter: Converter) -> None:
    """`a` waits for a real lock whose holder waits for `a`; `d` becomes a section."""
    code = (
        "static pthread_mutex_t d = PTHREAD_MUTEX_INITIALIZER;\n"
        "static void g(void) { pthread_mutex_lock(&b); ++y; pthread_mutex_unlock(&b); }\n"
        "int main(void) { pthread_mutex_lock(&d); ++x; pthread_mutex_unlock(&d);\n"
        "  pthread_mutex_lock(&a); ++x; if (x > 1) g(); pthread_mutex_unlock(&a);\n"
        "  pthread_mutex_lock(&b); pthread_mutex_lock(&a); ++x;\n"
        "  pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); return x + y; }\n"
    )
    compiled = kept(converter, code, "d", "a")
    assert f"p.c:{FIRST + 1}: a section of 'a' waits for 'b'" in compiled.errors
    assert len(compiled.sections("atomic")) == 1


@pytest.mark.parametrize(("mode", "sections"), [("locks", 2), ("stm", 1), ("hybrid", 1)])
def test_a_region_that_reads_variable_arguments_keeps_its_lock(
    converter: Converter, mode: str, sections: int
) -> None:
    code = (
        "#include <stdarg.h>\n"
        "__attribute__((noinline)) static void f(int n, ...) { pthread_mutex_lock(&b);\n"
        "  va_list all; va_start(all, n); y += va_arg(all, int); va_end(all);\n"
        "  pthread_mutex_unlock(&b); }\n"
        "int main(void) { pthread_mutex_lock(&a); ++x; pthread_mutex_unlock(&a);\n"
        "  f(1, 2); return x + y != 3; }\n"
    )
    compiled = kept(converter, code, "a", "b", enforce=mode)
    refusal = f"p.c:{FIRST + 2}: lock 'b' is held where the function begins to read"
    assert (refusal in compiled.errors) == (sections == 1), compiled.errors
    assert len(compiled.sections("atomic")) == sections
