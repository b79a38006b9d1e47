# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ownership records: `eager`, in place, and `lazy`, at the commit."""

from __future__ import annotations

from model import Check, Go, Label, Load, Machine, Program, Set, Store, Swap
from protocols_parts import begin, quiesce


def orec_read(to: str, address: str, others: list[str], without: frozenset[str]) -> Program:
    """orec, data, orec; a newer version validates the orecs of `others` and moves the snapshot."""
    checks: Program = []
    for name in others:
        checks += [
            Load("v", f"o{name}"),
            Go("abort", lambda r: r["v"] % 2 or r["v"] > r["s"] * 8 + 7),
        ]
    if "validation" in without:
        checks = []
    recheck: Program = [
        Load("b", f"o{address}"),
        Go(f"{address}-again", lambda r: r["a"] != r["b"]),
    ]
    return [
        Label(f"{address}-again"),
        Load("a", f"o{address}"),
        Go("abort", lambda r: r["a"] % 2),
        Go(f"{address}-old", lambda r: r["a"] <= r["s"] * 8 + 7),
        Load("c", "clock"),
        *checks,
        Set("s", lambda r: r["c"]),
        Store("mark0", lambda r: r["s"] + 1),
        Go(f"{address}-again"),
        Label(f"{address}-old"),
        Load(to, address),
        *([] if "second look" in without else recheck),
    ]


def hold(address: str, then: str) -> Program:
    """Acquires a free orec, remembering it; else to `then`."""
    return [
        Swap(f"before-{address}", f"o{address}", lambda r: r[f"before-{address}"] | 1),
        Go(then, lambda r: r[f"before-{address}"] % 2),
    ]


def eager_opacity(without: frozenset[str]) -> Machine:
    """A reader of x and y beside a writer in place that commits, or undoes and tries again once."""
    reader: Program = [
        *begin("mark0", without | {"norec"}),
        *orec_read("x", "x", [], without),
        *orec_read("y", "y", ["x"], without),
        Check(lambda r: r["x"] == r["y"], "reads from two states"),
        Label("abort"),
        Store("mark0", lambda _: 0),
    ]
    writer: Program = [
        *hold("x", "end"),
        Store("x", lambda _: 1),
        *hold("y", "end"),
        Store("y", lambda _: 1),
        Swap("t", "clock", lambda r: r["t"] + 1),
        Store("ox", lambda r: (r["t"] + 1) * 8),
        Store("oy", lambda r: (r["t"] + 1) * 8),
        Label("end"),
    ]
    memory = {"x": 0, "y": 0, "ox": 0, "oy": 0, "clock": 0, "word": 0, "mark0": 0}
    return Machine(memory, [reader, writer])


def eager_abort(without: frozenset[str]) -> Machine:
    """A reader of x beside a writer in place that gives up: the orec changes, not its version."""
    reader: Program = [
        *begin("mark0", without | {"norec"}),
        *orec_read("x", "x", [], without),
        Check(lambda r: r["x"] == 0, "reads what was never committed"),
        Label("abort"),
        Store("mark0", lambda _: 0),
    ]
    more = 0 if "incarnation" in without else 2
    writer: Program = [
        *hold("x", "end"),
        Store("x", lambda _: 1),
        Store("x", lambda _: 0),
        Store("ox", lambda r: r["before-x"] + more),
        Label("end"),
    ]
    return Machine({"x": 0, "ox": 0, "clock": 0, "word": 0, "mark0": 0}, [reader, writer])


def eager_privatisation(without: frozenset[str]) -> Machine:
    """A writer in place of x while p says that x is shared; another thread clears p and uses x.

    The writer's commit fails where p has changed: then it undoes x.
    """
    writer: Program = [
        *begin("mark0", without | {"norec"}),
        *orec_read("p", "p", [], without),
        Go("end", lambda r: not r["p"]),
        *hold("x", "end"),
        Load("undo", "x"),
        Store("x", lambda _: 5),
        Swap("t", "clock", lambda r: r["t"] + 1),
        Load("v", "op"),
        Go("commit", lambda r: r["v"] % 2 == 0 and r["v"] <= r["s"] * 8 + 7),
        Store("x", lambda r: r["undo"]),
        Label("commit"),
        Store("ox", lambda r: (r["t"] + 1) * 8),
        Label("end"),
        Label("abort"),
        Store("mark0", lambda _: 0),
    ]
    taker: Program = [
        *hold("p", "busy"),
        Store("p", lambda _: 0),
        Swap("t", "clock", lambda r: r["t"] + 1),
        Set("t", lambda r: r["t"] + 1),
        Store("op", lambda r: r["t"] * 8),
        *quiesce("mark0", without),
        Store("x", lambda _: 9),
        Load("now", "x"),
        Check(lambda r: r["now"] == 9, "private data was written by a transaction"),
        Swap("now", "x", lambda r: r["now"]),
        Check(lambda r: r["now"] == 9, "private data was undone by a transaction"),
        Label("busy"),
    ]
    memory = {"x": 0, "p": 1, "ox": 0, "op": 0, "clock": 0, "word": 0, "mark0": 0}
    return Machine(memory, [writer, taker])


def lazy_opacity(without: frozenset[str]) -> Machine:
    """A reader of x and y beside a commit that acquires both records, then writes both back."""
    reader: Program = [
        *begin("mark0", without | {"norec"}),
        *orec_read("x", "x", [], without),
        *orec_read("y", "y", ["x"], without),
        Check(lambda r: r["x"] == r["y"], "reads from two states"),
        Label("abort"),
        Store("mark0", lambda _: 0),
    ]
    data: Program = [Store("x", lambda _: 1), Store("y", lambda _: 1)]
    acquire: Program = [*hold("x", "end"), *hold("y", "end")]
    if "acquisition" in without:
        acquire = []
    writer: Program = [
        *acquire,
        Swap("t", "clock", lambda r: r["t"] + 1),
        *data,
        Store("ox", lambda r: (r["t"] + 1) * 8),
        Store("oy", lambda r: (r["t"] + 1) * 8),
        Label("end"),
    ]
    memory = {"x": 0, "y": 0, "ox": 0, "oy": 0, "clock": 0, "word": 0, "mark0": 0}
    return Machine(memory, [reader, writer])


def lazy_skew(without: frozenset[str]) -> Machine:
    """Two commits that each read what the other one writes: only one may see the old value."""
    programs: list[Program] = []
    for mine, other in (("x", "y"), ("y", "x")):
        validate: Program = [
            Load("v", f"o{other}"),
            Go("give up", lambda r: r["v"] % 2 or r["v"] > r["s"] * 8 + 7),
        ]
        programs.append(
            [
                Load("s", "clock"),
                Load("a", f"o{other}"),
                Go("end", lambda r: r["a"] % 2 or r["a"] > r["s"] * 8 + 7),
                Load("seen", other),
                Load("b", f"o{other}"),
                Go("end", lambda r: r["a"] != r["b"]),
                *hold(mine, "end"),
                Swap("t", "clock", lambda r: r["t"] + 1),
                *([] if "commit validation" in without else validate),
                Store(mine, lambda _: 1),
                Store(f"o{mine}", lambda r: (r["t"] + 1) * 8),
                Swap("n", "both", lambda r: r["n"] + (1 if r["seen"] == 0 else 0)),
                Check(
                    lambda r: r["n"] == 0 or r["seen"] == 1,
                    "both committed on the old state",
                ),
                Go("end"),
                Label("give up"),
                Store(f"o{mine}", lambda _: 0),
                Label("end"),
            ]
        )
    return Machine({"x": 0, "y": 0, "ox": 0, "oy": 0, "clock": 0, "both": 0}, programs)
