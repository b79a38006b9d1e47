# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of pairs of sections that conflict by construction, over an address that one of them has
by hidden ways.

Of each pair, side 0 touches its object by name and runs in a thread of its own; side 1 has the
object's address through a chain of ways, or is run in a hidden way, or both. An analysis that loses
the address, or does not know that side 1 is run, has no conflict between the two.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ways import DIRECT, Run, Way, runs, ways

__all__ = [
    "MOST_PAIRS",
    "Pair",
    "Program",
    "pairs_of_all",
    "programs_of",
    "random_pairs",
]

MOST_PAIRS = 64  # as meet.h
STORAGES = ("global", "member", "array", "heap", "pointer", "volatile")
TARGETS = ("global", "array", "member", "heap")

PREAMBLE = """\
// {name}
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
{headers}
#include "meet.h"
#include "tandem/tandem.h"

#ifdef __cplusplus
#define _Bool bool
#define EXPORTED extern "C"
#else
#define EXPORTED extern
#endif
struct cell {{
  long a, pad[6], b;
}} __attribute__((aligned(64)));
typedef uintptr_t word2 __attribute__((vector_size(16)));
typedef uintptr_t word4 __attribute__((vector_size(32)));
typedef uint32_t half4 __attribute__((vector_size(16)));
typedef unsigned char byte16 __attribute__((vector_size(16)));
typedef double double2 __attribute__((vector_size(16)));
typedef double may_alias_double __attribute__((may_alias));
typedef uint32_t may_alias_half __attribute__((may_alias));
static inline __attribute__((unused)) void must(int holds) {{
  if (!holds)
    abort();
}}
"""


# Sections that share nothing with any other, each run by two threads.
APART = """\
static long only_{n};
TANDEM_ATOMIC __attribute__((noinline)) static void apart_{n}(void) {{ only_{n}++; }}
static void *run_apart_{n}(void *given) {{
  apart_{n}();
  return given;
}}
"""
RUN_APART = """\
    pthread_t apart_{n}_thread;
    must(pthread_create(&apart_{n}_thread, NULL, run_apart_{n}, NULL) == 0);
    apart_{n}();
    must(pthread_join(apart_{n}_thread, NULL) == 0);"""


@dataclass(frozen=True)
class Pair:
    """What two sections share, and how side 1 comes to it."""

    chain: tuple[Way, ...] = ()
    run: Run = DIRECT
    inside: bool = False  # the run is within the section of side 1, else that is within the run
    looks: int | None = None  # the side that looks whether the two members are one; none: both add
    target: str = "global"
    storages: tuple[str, ...] = ()  # of the chain
    taken_inside: bool = False
    by_functions: bool = True  # puts and takes are functions

    def __str__(self) -> str:
        parts = [way.name for way in self.chain]
        if self.run != DIRECT:
            parts.append(("inside " if self.inside else "by ") + self.run.name)
        looks = "" if self.looks is None else f", side {self.looks} looks"
        where = "/".join(self.storages)
        taken = " taken inside" if self.taken_inside else ""
        return f"{' + '.join(parts) or 'direct'} ({self.target}; {where}{taken}{looks})"

    @property
    def cxx(self) -> bool:
        return self.run.cxx or any(way.cxx for way in self.chain)

    @property
    def only_c(self) -> bool:
        return self.run.only_c or any(way.only_c for way in self.chain)

    def simpler(self) -> Iterable[Pair]:
        """Pairs that hide less, the most telling first."""
        for i in range(len(self.chain)):
            without = self.chain[:i] + self.chain[i + 1 :]
            yield replace(self, chain=without, storages=self.storages[:i] + self.storages[i + 1 :])
        if self.run != DIRECT:
            yield replace(self, run=DIRECT, inside=False)
        if self.inside:
            yield replace(self, inside=False)
        if self.target != "global":
            yield replace(self, target="global")
        plain = ("global",) * len(self.chain)
        if self.storages != plain:
            yield replace(self, storages=plain)
        if self.taken_inside:
            yield replace(self, taken_inside=False)
        if self.looks is not None:
            yield replace(self, looks=None)


def _uses(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


class _PairWriter:
    def __init__(self, pair: Pair, number: int, cxx: bool) -> None:
        self.pair = pair
        self.n = number
        self.cxx = cxx
        self.lines: list[str] = []

    def emit(self, text: str) -> None:
        self.lines += text.strip("\n").split("\n")

    def target(self) -> tuple[str, str]:
        """The object, and what makes it."""
        n = self.n
        match self.pair.target:
            case "global":
                self.emit(f"static struct cell x_{n};")
                return f"x_{n}", ""
            case "array":
                self.emit(f"static struct cell all_{n}[3];")
                return f"all_{n}[1]", ""
            case "member":
                self.emit(f"static struct {{ char before[64]; struct cell x; }} box_{n};")
                return f"box_{n}.x", ""
            case _:
                self.emit(f"static struct cell *x_{n};")
                make = (
                    f"x_{n} = (struct cell *)aligned_alloc(64, sizeof *x_{n}); "
                    f"memset(x_{n}, 0, sizeof *x_{n});"
                )
                return f"(*x_{n})", make

    def cell(self, way: Way, storage: str, number: str) -> tuple[str, str]:
        """The lvalue, and what makes it."""
        type_ = way.cell.replace("@n", number)
        if not type_:
            return "", ""
        name = f"hidden_{number}"
        self.emit(f"typedef {type_} {name}_type;")
        match storage:
            case "global":
                self.emit(f"static {name}_type {name};")
                return name, ""
            case "volatile" if type_ in ("uintptr_t", "double"):
                self.emit(f"static volatile {name}_type {name};")
                return name, ""
            case "member":
                self.emit(f"static struct {{ int x; {name}_type cell; long y; }} {name};")
                return f"{name}.cell", ""
            case "array":
                self.emit(f"static {name}_type {name}[4];")
                self.emit(f"static volatile unsigned {name}_at = 2;")
                return f"{name}[{name}_at]", ""
            case "heap":
                self.emit(f"static struct {name}_box {{ long x; {name}_type cell; }} *{name};")
                make = (
                    f"{name} = (struct {name}_box *)calloc(1, sizeof *{name}); "
                    f"must({name} != NULL);"
                )
                return f"{name}->cell", make
            case _:
                self.emit(f"static {name}_type {name}_itself, *{name} = &{name}_itself;")
                return f"(*{name})", ""

    def step(self, way: Way, storage: str, number: str) -> tuple[str, str]:
        """Statements that put `given`, and that assign `taken`; in braces."""

        def fill(text: str, cell: str) -> str:
            return text.replace("@cell", cell).replace("@n", number)

        if way.once:
            self.emit(fill(way.once, ""))
        cell, make = self.cell(way, storage, number)
        put, take = fill(way.put, cell), fill(way.take, cell)
        given = ""
        if _uses(way.put, "pointer"):
            given += "struct cell *pointer = given; "
        if _uses(way.put, "word"):
            given += "uintptr_t word = (uintptr_t)given; "
        if _uses(way.take, "pointer"):
            taken_ = f"struct cell *pointer; {take} taken = pointer;"
        else:
            taken_ = f"uintptr_t word; {take} taken = (struct cell *)word;"
        return f"{{ {make} {given}{put} }}", f"{{ {taken_} }}"

    def chain(self) -> tuple[str, str]:
        """Statements that hide the object's address `given`, and that assign it to `taken`."""
        put_all, last = "", ""
        for i, (way, storage) in enumerate(zip(self.pair.chain, self.pair.storages, strict=True)):
            number = str(1000 + self.n * 10 + i)
            put, take = self.step(way, storage, number)
            if self.pair.by_functions:
                self.emit(
                    f"__attribute__((noinline)) static void put_{number}(struct cell *given) {put}"
                )
                self.emit(
                    f"__attribute__((noinline)) static struct cell *take_{number}(void) "
                    f"{{ struct cell *taken; {take} return taken; }}"
                )
                put, take = f"put_{number}(given);", f"taken = take_{number}();"
            if i > 0:
                put_all += f"{{ struct cell *taken; {last} given = taken; }}\n  "
            put_all += put + "\n  "
            last = take
        return put_all, last

    def section(self, side: int, lvalue: str, parameter: str) -> None:
        n, looks = self.n, self.pair.looks
        if looks == side:
            body = f"""\
  const long a = {lvalue}.a;
  meet_inside({n}, {side});
  meet_left({n}, {side});
  return a - {lvalue}.b;"""
        elif looks is not None:
            body = f"""\
  meet_inside({n}, {side});
  {lvalue}.a = {lvalue}.a + 1;
  {lvalue}.b = {lvalue}.b + 1;
  return 0;"""
        else:
            body = f"""\
  const long a = {lvalue}.a;
  meet_inside({n}, {side});
  {lvalue}.a = a + 1;
  return 1;"""
        name = ("mine", "theirs")[side]
        if side == 1 and self.pair.inside:
            got = f"struct cell *const p = handed_{n};" if self.pair.chain else ""
            take = ""
            if self.pair.chain and self.pair.taken_inside:
                got, take = (
                    "struct cell *taken;",
                    self.taken + " struct cell *const p = taken;",
                )
            inner = body.replace("return", f"result_{n} +=")
            self.emit(f"static long result_{n};")
            self.emit(f"static void touch_{n}(void) {{\n  {got} {take}\n{inner}\n}}")
            self.run_text(f"touch_{n}")
            call = self.fill_run(self.pair.run.call, f"touch_{n}")
            body = f"  result_{n} = 0;\n  {call}\n  return result_{n};"
            parameter = "void"
        elif side == 1 and self.pair.chain and self.pair.taken_inside:
            body = f"  struct cell *taken;\n  {self.taken}\n  struct cell *const p = taken;\n{body}"
            parameter = "void"
        self.emit(
            f"TANDEM_ATOMIC __attribute__((noinline)) static long {name}_{n}({parameter}) "
            f"{{\n{body}\n}}"
        )

    def fill_run(self, text: str, run: str) -> str:
        return text.replace("@run", run).replace("@n", str(self.n))

    def run_text(self, run: str) -> None:
        self.emit(self.fill_run(self.pair.run.text, run))
        if self.pair.run.setup:
            setup = self.fill_run(self.pair.run.setup, run)
            self.emit(f"static void set_up_{self.n}(void) {{ {setup} }}")

    def set_up(self) -> str:
        return f"set_up_{self.n}(); " if self.pair.run.setup else ""

    def write(self) -> list[str]:
        pair, n = self.pair, self.n
        self.emit(f"// ---- pair {n}: {pair}")
        self.emit(f"static void whole_{n}(void);")
        lvalue, make = self.target()
        self.taken = ""
        put = ""
        if pair.chain:
            put, self.taken = self.chain()
        if pair.inside and pair.chain and not pair.taken_inside:
            self.emit(f"static struct cell *handed_{n};")
        self.section(0, lvalue, "void")
        self.section(
            1,
            "(*p)" if pair.chain else lvalue,
            "struct cell *p" if pair.chain else "void",
        )
        bare = not pair.chain or pair.taken_inside
        argument, taken = "", ""
        if not bare:
            taken = f"struct cell *taken; {self.taken}"
            if pair.inside:
                taken += f" handed_{n} = taken;"
            else:
                argument = "taken"
        self.emit(f"static long lost_{n}, updates_{n};")
        self.emit(f"""\
static void *side_0_{n}(void *given) {{
  for (int i = 0; i < MEET_ROUNDS; i++) {{
    meet_begin({n}, 0);
    {self.counted(0, f"mine_{n}()")}
    meet_leave({n}, 0);
  }}
  return given;
}}
static void side_1_{n}(void) {{
  {taken}
  for (int i = 0; i < MEET_ROUNDS; i++) {{
    meet_begin({n}, 1);
    {self.counted(1, f"theirs_{n}({argument})")}
    meet_leave({n}, 1);
  }}
}}""")
        if put:
            self.emit(
                f"__attribute__((noinline)) static void hide_{n}(struct cell *given) "
                f"{{\n  {put}\n}}"
            )
        hide = f"hide_{n}(&{lvalue});" if put else ""
        lost = f"lost_{n}"
        if pair.looks is None:
            lost = f"MEET_ROUNDS + updates_{n} - {lvalue}.a"
        self.emit(f"""\
static void whole_{n}(void) {{
  {make}
  {hide}
  {self.set_up() if pair.inside else ""}
  pthread_t thread;
  must(pthread_create(&thread, NULL, side_0_{n}, NULL) == 0);
  side_1_{n}();
  must(pthread_join(thread, NULL) == 0);
  meet_result({n}, {lost});
}}""")
        if not pair.inside:
            self.run_text(f"whole_{n}")
        return self.lines

    def counted(self, side: int, call: str) -> str:
        """A call of a section; what it returns is of one thread."""
        if self.pair.looks == side:
            return f"lost_{self.n} += {call} != 0;"
        if self.pair.looks is None and side == 1:
            return f"updates_{self.n} += {call};"
        return f"(void){call};"

    def call(self) -> str:
        """What main does."""
        if self.pair.inside:
            return f"whole_{self.n}();"
        return self.set_up() + self.fill_run(self.pair.run.call, f"whole_{self.n}")


@dataclass(frozen=True)
class Program:
    """Pairs by number, of one language."""

    name: str
    pairs: tuple[Pair, ...]
    cxx: bool

    @property
    def suffix(self) -> str:
        return ".cc" if self.cxx else ".c"

    @property
    def flags(self) -> tuple[str, ...]:
        return tuple(sorted({flag for pair in self.pairs for flag in pair.run.flags}))

    def render(self) -> str:
        used = {header for pair in self.pairs for way in pair.chain for header in way.headers}
        used |= {header for pair in self.pairs for header in pair.run.headers}
        headers = sorted(used)
        lines = PREAMBLE.format(
            name=self.name,
            headers="\n".join(f"#include <{header}>" for header in headers),
        ).split("\n")
        calls = []
        for number, pair in enumerate(self.pairs):
            writer = _PairWriter(pair, number, self.cxx)
            lines += writer.write()
            calls.append(f"  {{ {writer.call()} }}")
        lines += [APART.format(n=n) for n in range(2)]
        calls += [f"  {{\n{RUN_APART.format(n=n)}\n  }}" for n in range(2)]
        lines += ["int main(void) {", *calls]
        quick = any(pair.run.quick for pair in self.pairs)
        lines += ["  quick_exit(0);" if quick else "  return 0;", "}", ""]
        return "\n".join(lines)


def _fit(one: Way | Run, cxx: bool) -> bool:
    return not (one.only_c if cxx else one.cxx)


def _finish(rng: random.Random, pair: Pair) -> Pair:
    """The pair with the rest of what it is chosen at random."""
    storages = tuple(rng.choice(STORAGES) for _ in pair.chain)
    last = pair.chain[-1] if pair.chain else None
    return replace(
        pair,
        storages=storages,
        target=rng.choice(TARGETS),
        looks=rng.choice((None, None, 0, 1)),
        taken_inside=last is not None and not last.outside and rng.random() < 0.5,
        by_functions=rng.random() < 0.7,
    )


def pairs_of_all(rng: random.Random, cxx: bool) -> list[Pair]:
    """Each way by itself, and each run by itself in each of the places that it has."""
    found = [_finish(rng, Pair((way,))) for way in ways() if _fit(way, cxx)]
    for run in runs():
        if _fit(run, cxx):
            found.append(_finish(rng, Pair(run=run)))
            if run.inside:
                found.append(_finish(rng, Pair(run=run, inside=True)))
    return found


def random_pairs(rng: random.Random, count: int, cxx: bool) -> list[Pair]:
    """Chains of one to three ways, and runs."""
    all_ways = [way for way in ways() if _fit(way, cxx)]
    all_runs = [run for run in runs() if _fit(run, cxx)]
    found = []
    for _ in range(count):
        chain = tuple(rng.choice(all_ways) for _ in range(rng.choice((1, 2, 2, 3))))
        run = rng.choice(all_runs) if rng.random() < 0.5 else DIRECT
        inside = run.inside and rng.random() < 0.5
        found.append(_finish(rng, Pair(chain, run, inside)))
    return found


def programs_of(name: str, pairs: Sequence[Pair], cxx: bool) -> list[Program]:
    """The pairs in programs: as few as there may be, and those that end by quick_exit apart."""
    found: list[Program] = []
    for quick in (False, True):
        chosen = [pair for pair in pairs if pair.run.quick == quick]
        for begin in range(0, len(chosen), MOST_PAIRS):
            part = tuple(chosen[begin : begin + MOST_PAIRS])
            found.append(Program(f"{name}-{len(found)}", part, cxx))
    return found
