# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `tandem rewrite` prints, and that stock gcc makes programs of it that behave the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import REPOSITORY, Rewriter

WORKLOADS = REPOSITORY / "workloads"
FIGURE_2 = WORKLOADS / "figure2" / "figure2.c"
SHAPES = Path(__file__).parent / "programs" / "shapes.c"

# LockSTM's figures 4 and 5, for the names of figure2.c.
FIGURE_4 = """\
void PromptForX(int i) {
  exclusive_lock(&A);
  printf("%d", x[i]);
  scanf("%d", x + i);
  unlock(&A);
}

void SwapXY(int i, int j) {
  exclusive_lock(&A);
  exclusive_lock(&B);
  int was = x[i];
  x[i] = y[j];
  y[j] = was;
  unlock(&B);
  unlock(&A);
}

void SetY(int i, int value) {
  exclusive_lock(&B);
  y[i] = value;
  unlock(&B);
}

int GetY(int i) {
  exclusive_lock(&B);
  int result = y[i];
  unlock(&B);
  return result;
}

void SetZ(int i, int value) {
  exclusive_lock(&C);
  z[i] = value;
  unlock(&C);
}

int GetZ(int i) {
  exclusive_lock(&C);
  int result = z[i];
  unlock(&C);
  return result;
}
"""
FIGURE_5 = """\
void PromptForX(int i) {
  exclusive_lock(&A);
  printf("%d", x[i]);
  scanf("%d", x + i);
  unlock(&A);
}

void SwapXY(int i, int j) {
  shared_lock(&A);
  __transaction_atomic {
    int was = x[i];
    x[i] = y[j];
    y[j] = was;
  }
  unlock(&A);
}

void SetY(int i, int value) {
  __transaction_atomic {
    y[i] = value;
  }
}

int GetY(int i) {
  int result;
  __transaction_atomic {
    result = y[i];
  }
  return result;
}

void SetZ(int i, int value) {
  __transaction_atomic {
    z[i] = value;
  }
}

int GetZ(int i) {
  int result;
  __transaction_atomic {
    result = z[i];
  }
  return result;
}
"""
FIGURES = {
    "locks": ("static MutexLock A = MUTEX_LOCK, B = MUTEX_LOCK, C = MUTEX_LOCK;\n", FIGURE_4),
    "hybrid": ("static SharedLock A = SHARED_LOCK;\n", FIGURE_5),
}


def between(text: str, begin: str, end: str) -> str:
    return text[text.index(begin) : text.index(end)]


@pytest.mark.parametrize("mode", FIGURES)
def test_figures_4_and_5(rewriter: Rewriter, mode: str) -> None:
    text = rewriter.text("--mode", mode, FIGURE_2)
    locks, sections = FIGURES[mode]
    assert locks in text
    assert between(text, "void PromptForX", "static void *work") == sections + "\n"
    original = FIGURE_2.read_text(encoding="utf-8")
    assert text.startswith(original[: original.index("#include")])
    assert text.endswith(original[original.index("static void *work") :])
    program = rewriter.write("figure.c", text)
    for level in ("-O0", "-O2"):
        made = rewriter.compile("figure", level, program, transactions=mode == "hybrid")
        printed = rewriter.run(made, answers="17 18")
        assert re.fullmatch(r"-?\d+", printed)


@pytest.mark.parametrize("mode", ["locks", "hybrid"])
def test_prime(rewriter: Rewriter, mode: str) -> None:
    source = WORKLOADS / "prime" / "prime.c"
    text = rewriter.text("--mode", mode, source)
    assert ("__transaction_atomic" in text) == (mode == "hybrid")
    program = rewriter.write(
        "prime.c", "#define __TANDEM__ 1 /* else it asks for tandem-cc */\n" + text
    )
    made = rewriter.compile("prime", "-O2", program, transactions=mode == "hybrid")
    plain = rewriter.compile("plain", "-O2", "-DPRIME_SEQUENTIAL", source, transactions=False)

    def primes(printed: str) -> str:
        return str(re.findall(r"PrimeCount: +(\d+)", printed)[-1])

    wanted = primes(rewriter.run(plain, "--numbers", 2000, "--seed", 3))
    for threads in (1, 2, 4):
        arguments = ("--numbers", 2000, "--seed", 3, "--threads", threads)
        assert primes(rewriter.run(made, *arguments)) == wanted


@pytest.mark.parametrize("mode", ["locks", "hybrid"])
def test_every_shape(rewriter: Rewriter, mode: str) -> None:
    rewriter.write("shapes.c", SHAPES.read_text(encoding="utf-8"))
    text = rewriter.text("--mode", mode, "shapes.c")
    flags = ("-DTANDEM_SEQUENTIAL", "-Wno-attributes", "-I", REPOSITORY / "include")
    assert "tandem" not in text.replace("tandem_atomic", "") or mode == "hybrid"
    for gone in ("tandem.h", "((atomic", "TANDEM_ATOMIC s", "__transaction_relaxed"):
        assert gone not in text
    program = rewriter.write("rewritten.c", text)
    # What is added does not depend on the order, so the program without sections tells what comes
    # out where its threads do not meet: the same.
    wanted = "40 16160 32 1632 27528 64 a { brace 160 1600 -1600\n"
    rewriter.compile("plain", *flags, "shapes.c", transactions=False)
    for level in ("-O0", "-O2"):
        made = rewriter.compile("shapes", level, program, transactions=mode == "hybrid")
        assert rewriter.run(made) == wanted


SHARED = """\
#pragma once
#include <stdio.h>
struct account {
  long balance;
};
extern struct account accounts[4];
long move(int from, int to, long amount);
void add(int to, long amount);
long check(long amount);
void show(int which);
"""
BANK = """\
#include "bank.h"
#include <tandem/tandem.h>

struct account accounts[4];

/* Called by sections of the other source. */
long check(long amount) { return amount > 0 ? amount : 0; }

/* A section, also inside of the other source's. */
TANDEM_ATOMIC void add(int to, long amount) {
  if (amount == 0)
    return;
  accounts[to].balance += amount;
}

TANDEM_ATOMIC void show(int which) {
  fprintf(stderr, "%ld", accounts[which].balance - accounts[which].balance);
}
"""
MOVE = """\
#include "bank.h"
#include <pthread.h>
#include <tandem/tandem.h>

TANDEM_ATOMIC long move(int from, int to, long amount) {
  const long moved = check(amount);
  accounts[from].balance -= moved;
  add(to, moved);
  return accounts[from].balance;
}

static void *work(void *argument) {
  const int me = *(const int *)argument;
  for (int i = 0; i < 500; ++i) {
    move(me, (me + 1) % 4, i % 5);
    add(me, 2);
    if (i % 100 == 0)
      show(me);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  int numbers[4] = {0, 1, 2, 3};
  for (int i = 0; i < 4; ++i)
    if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
      return 1;
  long sum = 0;
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < 4; ++i)
    sum += accounts[i].balance;
  printf("%ld\\n", sum);
  return 0;
}
"""


@pytest.mark.parametrize("mode", ["locks", "hybrid"])
def test_two_sources(rewriter: Rewriter, mode: str) -> None:
    for name, text in (("bank.h", SHARED), ("bank.c", BANK), ("move.c", MOVE)):
        rewriter.write(name, text)
    both = rewriter.text("--mode", mode, "bank.c", "move.c")
    assert re.findall(r"^/\* (\w+\.c) \*/$", both, re.MULTILINE) == ["bank.c", "move.c"]
    (rewriter.folder / "out").mkdir()
    rewriter.text("--mode", mode, "--output-dir", "out", "bank.c", "move.c")
    bank = (rewriter.folder / "out" / "bank.c").read_text(encoding="utf-8")
    move = (rewriter.folder / "out" / "move.c").read_text(encoding="utf-8")
    assert f"/* bank.c */\n{bank}\n/* move.c */\n{move}" == both
    if mode == "hybrid":
        safe = "__attribute__((transaction_safe))"
        assert f"{safe} void add_unguarded(int to, long amount) {{" in bank
        assert f"{safe} long check_safe(long amount) {{\n  return check(amount);\n}}" in bank
        assert f"extern __typeof__(add) add_unguarded {safe};" in move
        assert "const long moved = check_safe(amount);" in move
    assert "add_unguarded(to, moved);" in move
    for level in ("-O0", "-O2"):
        made = rewriter.compile(
            "bank", level, "-I.", "out/bank.c", "out/move.c", transactions=mode == "hybrid"
        )
        assert rewriter.run(made) == "4000\n"


def test_what_gcc_refuses_becomes_non_revocable(rewriter: Rewriter) -> None:
    rewriter.write("shapes.c", SHAPES.read_text(encoding="utf-8"))
    done = rewriter.rewrite("--json", "report.json", "shapes.c")
    notes = done.stderr.splitlines()
    assert notes == [
        f"shapes.c:{place}: note: section '{name}' becomes non-revocable: gcc accepts no {what} in "
        f"a transaction ({name}, shapes.c:{at})"
        for name, place, what, at in (
            ("rename_it", 51, "call of 'strcpy'", 53),
            ("sum", 71, "variable arguments", 73),
        )
    ]
    report = json.loads((rewriter.folder / "report.json").read_text(encoding="utf-8"))
    sections = {section["name"]: section for section in report["sections"]}
    assert sections["rename_it"]["class"] == "non-revocable"
    assert sections["rename_it"]["analysed"] == "pure"
    assert sections["rename_it"]["refused"]["what"] == "call of 'strcpy'"
    assert not sections["rename_it"]["transaction"]
    # Who shares memory with the refused one is hybrid now.
    assert sections["sum"]["class"] == "non-revocable"
    assert sections["helper_1"]["class"] == "hybrid"
    assert {"exclusive"} == {lock["mode"] for lock in sections["sum"]["locks"]}
    assert {"shared"} == {lock["mode"] for lock in sections["helper_1"]["locks"]}
    assert sections["loops_2"]["nested_only"]
    assert report["mode"] == "hybrid"


REFUSED = {
    "call through a pointer": "(*pointer)(1);",
    "volatile variable": "++seen;",
    "atomic operation": "__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);",
    "assembly": '__asm__("");',
    "array of variable length": "int many[count + 1]; many[0] = 1; count = many[0];",
    "call of 'realloc'": "memory = realloc(memory, 4);",
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals_are_gcc_s(rewriter: Rewriter, what: str) -> None:
    """Each is refused by gcc itself, and not in the rewritten program."""
    text = (
        "#include <stdlib.h>\nint count;\nvolatile int seen;\nchar *memory;\n"
        "static int one(int n) { return n; }\nint (*pointer)(int) = one;\n"
        f"MARK void section(void) {{ BEGIN ++count; {REFUSED[what]} END }}\n"
        "int main(void) { section(); return 0; }\n"
    )
    name = rewriter.write("refused.c", text)
    done = rewriter.rewrite(name, "--", "-DMARK=__attribute__((atomic))", "-DBEGIN=", "-DEND=")
    # The mark is a macro of the command line: it is taken away where it is used.
    assert done.returncode == 0, done.stderr
    assert "__transaction_atomic" not in done.stdout
    rewritten = rewriter.write("rewritten.c", done.stdout)
    rewriter.compile("rewritten", "-DBEGIN=", "-DEND=", rewritten)
    with pytest.raises(AssertionError, match=r"refused\.c:7:\d+: error"):
        rewriter.compile(
            "refused", "-DMARK=", "-DBEGIN=__transaction_atomic {", "-DEND=}", "-O0", name
        )


def test_macros_with_parameters_that_stand_for_a_mark(rewriter: Rewriter) -> None:
    """What the macro is called with goes with it; a plain compiler would drop it, too."""
    text = (
        "#include <stdio.h>\nstatic int n;\n#define SECTION(lock) tandem_atomic\n"
        "#define ATOMIC tandem_atomic\n#define OTHER(a, ...) ATOMIC\n"
        "#define MARKED(why) __attribute__((atomic))\n"
        "#include <tandem/tandem.h>\n"
        'MARKED("it (is) shared") static void one(void) { n++; }\n'
        "int main(void) {\n  SECTION(n++) { n += 10; }\n  OTHER(n, f(), 2) { n += 100; }\n"
        '  one();\n  printf("%d\\n", n);\n  return 0;\n}\n'
    )
    name = rewriter.write("macros.c", text)
    done = rewriter.rewrite("--mode", "locks", name)
    assert done.returncode == 0, done.stderr
    main = done.stdout[done.stdout.index("int main") :]
    assert "SECTION" not in main
    assert "OTHER" not in main
    rewritten = rewriter.write("written.c", done.stdout)
    assert rewriter.run(rewriter.compile("written", rewritten)) == "111\n"


def test_nothing_to_rewrite_is_said(rewriter: Rewriter) -> None:
    """Sources without a section go out as they are, with a note; others without it."""
    text = "int count;\nint main(void) { return ++count; }\n"
    done = rewriter.rewrite(rewriter.write("plain.c", text))
    assert (done.returncode, done.stdout) == (0, text)
    assert "nothing to rewrite: the sources mark no atomic section" in done.stderr
    marked = f"__attribute__((atomic)) void one(void) {{}}\n{text}"
    done = rewriter.rewrite(rewriter.write("marked.c", marked))
    assert done.returncode == 0
    assert "nothing to rewrite" not in done.stderr


MISTAKES = {
    "#include <tandem/tandem.h>\nint n;\n#define IN(tandem_atomic) tandem_atomic\n"
    "#define X tandem_atomic\nint main(void) { IN(X) { ++n; } return 0; }\n": (
        "wrong.c:5:18: this atomic block comes out of a macro, which is not rewritten: write it out"
    ),
    "int f(void) { return 0; }\n#define SECTION(n) __attribute__((atomic)) void n(void) {}\n"
    "SECTION(g)\nint main(void) { g(); return 0; }\n": (
        "wrong.c:3:1: the mark of 'g' comes out of a macro that holds more, which is not "
        "rewritten: write it out"
    ),
    "#include <tandem/tandem.h>\nint n;\n#define ADD tandem_atomic { ++n; }\n"
    "int main(void) { ADD return 0; }\n": (
        "wrong.c:4:18: this atomic block comes out of a macro, which is not rewritten: write it out"
    ),
    "static int n;\n__attribute__((atomic)) static void one(void) { ++n; }\n"
    "static void (*pointer)(void) = one;\n"
    "__attribute__((atomic)) static void two(void) { ++n; pointer(); }\n"
    "int main(void) { two(); return 0; }\n": (
        "wrong.c:4: this call through a pointer inside of a section may run 'one', which is a "
        "section or runs one: call it by its name"
    ),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_what_cannot_be_rewritten(rewriter: Rewriter, text: str) -> None:
    name = rewriter.write("wrong.c", text)
    assert rewriter.mistake(name) == MISTAKES[text]


def test_marks_in_headers_are_refused(rewriter: Rewriter) -> None:
    rewriter.write("api.h", "#include <tandem/tandem.h>\nTANDEM_ATOMIC void add(int n);\n")
    name = rewriter.write(
        "api.c",
        '#include "api.h"\nint all;\nvoid add(int n) { all += n; }\n'
        "int main(void) { add(1); return 0; }\n",
    )
    assert rewriter.mistake(name) == (
        "./api.h:2:1: the mark of 'add' stands in a header, which is not rewritten: mark it in its "
        "source file"
    )


def test_cancels_are_refused(rewriter: Rewriter) -> None:
    name = rewriter.write(
        "cancel.c",
        "#include <tandem/tandem.h>\n#include <tandem/transaction.h>\nstatic int all;\n"
        "TANDEM_ATOMIC static void add(int n) {\n  all += n;\n  if (all > 9)\n"
        "    tandem_cancel();\n}\nint main(void) { add(1); return all; }\n",
    )
    assert rewriter.mistake(name) == (
        "cancel.c:7: 'tandem_cancel' is not rewritten: gcc cancels by a statement in the "
        "transaction's own text; keep tandem-cc for this program"
    )


def test_mistakes(rewriter: Rewriter) -> None:
    rewriter.write("good.c", "int main(void) { return 0; }\n")
    rewriter.write("broken.c", "int main(void) { return }\n")
    rewriter.write("more.cc", "int more;\n")
    assert "nothing to rewrite" in rewriter.mistake()
    assert rewriter.mistake("more.cc") == "more.cc: C++ is not rewritten: gcc gets C sources only"
    assert "good.c: C++ is not" in rewriter.mistake("good.c", "--", "-x", "c++")
    assert "no.c: cannot be read" in rewriter.mistake("no.c")
    assert "broken.c does not compile" in rewriter.mistake("broken.c")
    assert "must be locks, hybrid or stm" in rewriter.mistake("--mode", "some", "good.c")
    assert "is named twice" in rewriter.mistake("good.c", "./good.c")
    assert "would replace the source" in rewriter.mistake("--output-dir", ".", "good.c")
    assert "cannot be written" in rewriter.mistake("--output-dir", "none", "good.c")
    assert "name a file" in rewriter.mistake("--json", "-", "good.c")
    assert rewriter.mistake("--mode", "stm", FIGURE_2).endswith("use --mode hybrid")


def test_a_source_without_sections_stays_as_it_is(rewriter: Rewriter) -> None:
    text = "#include <stdio.h>\r\n\nint main(void)\n{\treturn 0; }"
    name = rewriter.write("plain.c", text)
    assert rewriter.text(name) == (rewriter.folder / name).read_text(encoding="utf-8")


def test_stm(rewriter: Rewriter) -> None:
    name = rewriter.write(
        "stm.c",
        "int n;\n__attribute__((atomic)) static void add(void) { ++n; }\n"
        "int main(void) { add(); return n != 1; }\n",
    )
    text = rewriter.text("--mode", "stm", name)
    assert "static void add(void) {\n  __transaction_atomic {\n    ++n;\n  }\n}\n" in text
    rewriter.run(rewriter.compile("stm", rewriter.write("out.c", text)))


NAMES = """\
#include <pthread.h>
#include <stdio.h>
int A, unlock, result;
__attribute__((atomic)) static int get(void) { puts(""); return result + A++; }
static void *work(void *argument) { get(); return argument; }
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  return A + unlock + result - 2;
}
"""


def test_names_that_the_program_has(rewriter: Rewriter) -> None:
    name = rewriter.write("names.c", NAMES)
    text = rewriter.text("--mode", "locks", name)
    lines = ["tandem_exclusive_lock(&colour_A);", 'puts("");']
    lines += ["int section_result = result + A++;", "tandem_unlock(&colour_A);"]
    body = between(text, "get(void) {", "static void *work")
    assert [line.strip() for line in body.splitlines()[1:-2]] == [
        lines[0], f"{lines[1]} {lines[2]}", lines[3],
    ]  # fmt: skip
    rewriter.run(rewriter.compile("names", rewriter.write("out.c", text), transactions=False))
