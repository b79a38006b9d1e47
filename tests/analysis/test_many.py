# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with so much of one kind that the analysis no longer tells it apart.

Objects that are alike and known to the same pointers count as one beyond a number, and calls by
pointer and functions are no longer paired beyond one. What conflicts must still be found, and what
does not lie in that crowd must be told apart as before.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

BUILD = Path(os.environ["TANDEM_BUILD"])
INCLUDE = Path(__file__).parent.parent.parent / "include"


def analyse(text: str, folder: Path, mode: str) -> dict[str, Any]:
    source, report = folder / "many.c", folder / f"many.{mode}.json"
    source.write_text("#include <tandem/tandem.h>\n#include <pthread.h>\n" + text, encoding="utf-8")
    own = {name: value for name, value in os.environ.items() if not name.startswith("TANDEM_")}
    subprocess.run(
        [
            *(
                BUILD / "bin" / "tandem",
                "analyze",
                "--points-to",
                mode,
                "--json",
                report,
                source,
            ),
            *("--", "-std=gnu17", "-pthread", "-I", INCLUDE),
        ],
        env=own,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    result: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return result


def edges(report: dict[str, Any]) -> set[frozenset[str]]:
    return {
        frozenset((section["name"], conflict["with"]))
        for section in report["sections"]
        for conflict in section["conflicts"]
    }


def pairs(names: list[str]) -> set[frozenset[str]]:
    return {frozenset((a, b)) for a in names for b in names}


def main_of(body: str) -> str:
    return (
        f"static void *run(void *unused) {{ {body} return unused; }}\n"
        "int main(void) { pthread_t threads[2];\n"
        "  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, run, NULL);\n"
        "  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL); return 0; }\n"
    )


@pytest.mark.parametrize("mode", ["insensitive", "sensitive"])
@pytest.mark.parametrize("modules", [20, 60])  # each for itself; one for all
def test_objects_alike(modules: int, mode: str, tmp_path: Path) -> None:
    """Objects in one list: a section walks the list, two others have one object each."""
    text = (
        "struct node { struct node *next; long value, other; };\nstatic struct node *list;\n"
        "struct apart { long value; };\nstatic struct apart one, two;\n"
    )
    for number in range(modules):
        text += f"static struct node node_{number};\n"
    text += "static void add(struct node *node) { node->next = list; list = node; }\n"
    text += "static TANDEM_ATOMIC void build(void) {\n"
    text += "".join(f"  add(&node_{number});\n" for number in range(modules)) + "}\n"
    sections = {
        "walk": "for (struct node *at = list; at; at = at->next) at->value++;",
        "first": "node_0.value++;",
        "field": "node_1.other++;",
        "own_one": "one.value++;",
        "own_two": "two.value++;",
    }
    for name, body in sections.items():
        text += f"static TANDEM_ATOMIC void {name}(void) {{ {body} }}\n"
    text += main_of("build(); " + " ".join(f"{name}();" for name in sections))
    found = edges(analyse(text, tmp_path, mode))
    assert pairs(["walk", "first"]) <= found
    assert frozenset({"build", "walk"}) in found
    # Fields of what counts as one are told apart, and so are other objects.
    assert not {frozenset({"field", other}) for other in ("walk", "first", "own_one")} & found
    assert frozenset({"own_one", "own_two"}) not in found
    assert pairs(["own_one"]) | pairs(["own_two"]) <= found


@pytest.mark.parametrize("mode", ["insensitive", "sensitive"])
@pytest.mark.parametrize("many", [40, 280])  # pairs; a crowd
def test_calls_and_functions(many: int, mode: str, tmp_path: Path) -> None:
    """As many calls by pointer as functions, all by one table; and functions of another shape."""
    text = "typedef long (*act)(long *);\nstatic long hits, misses, own;\nextern int printf();\n"
    for number in range(many):
        target = "hits" if number % 2 else "misses"
        text += f"static long act_{number}(long *at) {{ {target}++; return *at += {number}; }}\n"
    text += "static long wide(long *at, long by) { own += by; return *at; }\n"
    names = ", ".join(f"act_{number}" for number in range(many))
    text += f"static act table[] = {{{names}, (act)wide}};\n"
    for number in range(many):
        text += (
            f"static long own_{number};\nstatic long call_{number}(int which) "
            f"{{ return table[which](&own_{number}); }}\n"
        )
    sections = {
        "first": "call_0(1);",
        "last": f"call_{many - 1}(2);",
        "reader": "if (own_3 == 1) own_3 = 2;",
        "counter": "if (misses > hits) misses = 0;",
        "other": "((long (*)(long *, long))table[3])(&own_4, 1);",
        "alone": "own++;",
    }
    for name, body in sections.items():
        text += f"static TANDEM_ATOMIC void {name}(void) {{ {body} }}\n"
    calls = "".join(f"call_{number}({number});" for number in range(many))
    text += main_of(" ".join(f"{name}();" for name in sections) + calls)
    found = edges(analyse(text, tmp_path, mode))
    assert pairs(["first", "last", "counter"]) <= found
    # What one call passes, each function may get from any; by caller that is told apart.
    if mode == "insensitive":
        assert {frozenset({"first", "reader"}), frozenset({"last", "reader"})} <= found
    assert frozenset({"other", "alone"}) in found
    assert not {frozenset({"alone", name}) for name in ("first", "last", "reader")} & found
    assert frozenset({"other", "counter"}) not in found


@pytest.mark.parametrize("mode", ["insensitive", "sensitive"])
def test_crowds_that_meet(mode: str, tmp_path: Path) -> None:
    """Four crowds of calls and functions, each by its own pointer; then two of them are one."""
    many = 200
    text = "typedef long (*act)(long *);\n"
    for crowd in ("x1", "x2", "y1", "y2"):
        text += f"static act p{crowd};\nstatic long hit_{crowd};\n"
        for number in range(many):
            text += f"long f{crowd}_{number}(long *at) {{ hit_{crowd}++; return *at; }}\n"
            text += (
                f"static long o{crowd}_{number};\n"
                f"long c{crowd}_{number}(void) {{ return p{crowd}(&o{crowd}_{number}); }}\n"
            )
        cases = "".join(f"case {i}: p{crowd} = f{crowd}_{i}; break;\n" for i in range(many))
        text += f"void set{crowd}(int which) {{ switch (which) {{\n{cases}}} }}\n"
    text += (
        "struct ops { act f0, f1, f2; };\nstatic struct ops a, b;\n"
        "void fill(void) { a.f0 = px1; a.f1 = px1; a.f2 = py1;"
        " b.f0 = py1; b.f1 = px2; b.f2 = py2; }\n"
        "void last(int c) { struct ops *p = &a; if (c) p = &b; px1 = p->f0; }\n"
        "static TANDEM_ATOMIC void calls(void) { cx1_0(); }\n"
        "static TANDEM_ATOMIC void meets(void) { hit_y1 = 0; }\n"
    )
    crowds = ("x1", "x2", "y1", "y2")
    text += main_of(
        "".join(f"set{crowd}(*(int *)unused);" for crowd in crowds)
        + "fill(); last(*(int *)unused); calls(); meets();"
        + "".join(f"c{crowd}_{number}();" for crowd in crowds for number in range(many))
    )
    assert frozenset({"calls", "meets"}) in edges(analyse(text, tmp_path, mode))


@pytest.mark.parametrize("mode", ["insensitive", "sensitive"])
def test_callbacks_of_a_function_called_by_pointer(mode: str, tmp_path: Path) -> None:
    """The pointer is to a library's function or to one of the program."""
    text = """
#include <stdlib.h>
typedef void (*sort)(void *, size_t, size_t, int (*)(const void *, const void *));
typedef int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static long compared, created;
static void own_sort(void *a, size_t b, size_t c, int (*d)(const void *, const void *)) {}
static int own_create(pthread_t *a, const pthread_attr_t *b, void *(*c)(void *), void *d) {
  return 0;
}
static sort sorter;
static create creator;
static void choose(int c) {
  sorter = qsort;
  creator = pthread_create;
  if (c > 5) {
    sorter = own_sort;
    creator = own_create;
  }
}
static int compare(const void *a, const void *b) {
  compared++;
  return *(const int *)a - *(const int *)b;
}
static TANDEM_ATOMIC void sorts(int *a) { sorter(a, 2, 4, compare); }
static TANDEM_ATOMIC void counts(void) { compared++; }
static TANDEM_ATOMIC void creates(void) { created++; }
static void *other(void *unused) {
  creates();
  return unused;
}
"""
    text += main_of(
        "int a[2] = {2, 1}; choose(*(int *)unused); sorts(a); counts(); pthread_t thread;"
        " creator(&thread, NULL, other, NULL);"
    )
    found = edges(analyse(text, tmp_path, mode))
    assert frozenset({"sorts", "counts"}) in found
    assert pairs(["creates"]) <= found


@pytest.mark.parametrize("mode", ["insensitive", "sensitive"])
@pytest.mark.parametrize("many", [10, 100])  # each section for itself; what lies beyond, once
def test_beyond_a_table_of_functions(many: int, mode: str, tmp_path: Path) -> None:
    """Sections at different distances from one table of functions: each has the shortest chain to
    what the functions reach, the nearest access, and the lock operations of all.
    """
    text = (
        "#include <stdio.h>\nstatic long met, deep;\nstatic pthread_mutex_t lock;\n"
        'static void report(void) { puts("x"); deep++; pthread_mutex_lock(&lock);'
        " pthread_mutex_unlock(&lock); }\n"
        "static void middle(void) { report(); met++; }\n"
    )
    for number in range(many):
        body = "middle();" if number == many // 2 else f"met += {number};"
        text += f"static void act_{number}(void) {{ {body} }}\n"
    text += "static void (*volatile table[])(void) = {"
    text += ", ".join(f"act_{number}" for number in range(many)) + "};\n"
    text += (
        "static void through(int i) { table[i](); }\n"
        "static TANDEM_ATOMIC void near(int i) { table[i](); }\n"
        "static TANDEM_ATOMIC void far(int i) { through(i); }\n"
        "static TANDEM_ATOMIC void direct(int i) { table[i](); report(); }\n"
    )
    text += main_of("int i = *(int *)unused; near(i); far(i); direct(i);")
    report = analyse(text, tmp_path, mode)
    sections = {section["name"]: section for section in report["sections"]}

    def chain(section: str) -> list[str]:
        chains = {one["callee"]: one["chain"] for one in sections[section]["irrevocable"]}
        found: list[str] = chains["puts"]
        return found

    act = f"act_{many // 2}"
    assert chain("near") == ["near", act, "middle", "report", "puts"]
    assert chain("far") == ["far", "through", act, "middle", "report", "puts"]
    assert chain("direct") == ["direct", "report", "puts"]
    for name in ("near", "far", "direct"):
        accesses = {
            (access["location"], access["writes"]): access["function"]
            for access in sections[name]["accesses"]
        }
        assert set(accesses) == {(x, w) for x in ("met", "deep") for w in (False, True)}
        assert accesses["deep", True] == "report"
        assert accesses["met", True].startswith("act_")
        inside = [f for f in report["findings"] if f["rule"] == "lock-in-section"]
        assert any(name in json.dumps(finding) for finding in inside)
