# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NOrec: values, one clock."""

from __future__ import annotations

from model import Check, Go, Label, Load, Machine, Program, Set, Store, Swap
from protocols_parts import begin, norec_read, quiesce


def norec_opacity(without: frozenset[str]) -> Machine:
    """A reader of x and y beside a commit that changes both."""
    reader: Program = [
        *begin("mark0", without),
        *norec_read("x", "x", "x", [], without),
        *norec_read("y", "y", "y", ["x"], without),
        Check(lambda r: r["x"] == r["y"], "reads from two states"),
        Label("abort"),
        Store("mark0", lambda _: 0),
    ]
    early: Program = [Store("clock", lambda r: r["s"] + 2)]
    write: Program = [Store("x", lambda _: 1), Store("y", lambda _: 1)]
    writer: Program = [
        *begin("mark1", without),
        Swap("old", "clock", lambda r: r["old"] + 1),
        Set("s", lambda r: r["old"]),
        *([*early, *write] if "order" in without else [*write, *early]),
        Store("mark1", lambda _: 0),
    ]
    memory = {"x": 0, "y": 0, "clock": 0, "word": 0, "mark0": 0, "mark1": 0}
    return Machine(memory, [reader, writer])


def norec_privatisation(without: frozenset[str]) -> Machine:
    """A reader that follows a pointer, beside a thread that takes it out and unmaps the memory."""
    reader: Program = [
        *begin("mark0", without),
        *norec_read("p", "p", "p", [], without),
        Go("abort", lambda r: not r["p"]),
        Load("mapped", "mapped"),
        Check(lambda r: r["mapped"], "a read of memory that is gone"),
        Label("abort"),
        Store("mark0", lambda _: 0),
    ]
    taker: Program = [
        Swap("old", "clock", lambda r: r["old"] + 1),
        Set("t", lambda r: r["old"] + 2),
        Store("p", lambda _: 0),
        Store("clock", lambda r: r["t"]),
        *quiesce("mark0", without),
        Store("mapped", lambda _: 0),
    ]
    memory = {"p": 1, "mapped": 1, "clock": 0, "word": 0, "mark0": 0}
    return Machine(memory, [reader, taker])


def norec_in_place(without: frozenset[str]) -> Machine:
    """A reader of x and y beside a transaction that writes both in place and undoes them."""
    reader: Program = [
        *begin("mark0", without),
        *norec_read("x", "x", "x", [], without),
        *norec_read("y", "y", "y", ["x"], without),
        Check(lambda r: r["x"] == 0 and r["y"] == 0, "reads what was never committed"),
        Label("abort"),
        Store("mark0", lambda _: 0),
    ]
    back = 0 if "new time" in without else 2
    writer: Program = [
        *([] if "odd clock" in without else [Swap("old", "clock", lambda r: r["old"] + 1)]),
        Store("x", lambda _: 1),
        Store("y", lambda _: 1),
        Store("y", lambda _: 0),
        Store("x", lambda _: 0),
        *([] if "odd clock" in without else [Store("clock", lambda r: r["old"] + back)]),
    ]
    memory = {"x": 0, "y": 0, "clock": 0, "word": 0, "mark0": 0}
    return Machine(memory, [reader, writer])


def norec_not_joined(without: frozenset[str]) -> Machine:
    """One that has only written, and so has neither mark nor snapshot, commits beside a thread that
    changes the algorithm, alone, and then counts a commit by the other algorithm."""
    look: Program = [Load("alone", "word"), Go("back", lambda r: r["alone"])]
    second_look: Program = [Load("now", "algorithm"), Go("back", lambda r: r["now"])]
    acquire: Program = [
        Swap("old", "clock", lambda r: r["s"] + 1 if r["old"] == r["s"] else r["old"]),
        Go("end", lambda r: r["old"] != r["s"]),
    ]
    if "locked clock" in without:
        acquire = [Store("clock", lambda r: r["s"] + 1)]
    release: Program = [Swap("_", "clock", lambda r: r["_"] + 1)]
    if "locked release" in without:
        release = [Store("clock", lambda r: r["s"] + 2)]
    writer: Program = [
        Load("first", "algorithm"),
        Go("end", lambda r: r["first"]),
        Load("s", "clock"),
        Go("end", lambda r: r["s"] % 2),
        *acquire,
        *([] if "word" in without else look),
        *([] if "second look" in without else second_look),
        Store("x", lambda _: 1),
        Store("clock", lambda r: r["s"] + 2),
        Go("end"),
        Label("back"),
        *release,
        Label("end"),
    ]
    wait: Program = [Label("odd"), Load("c", "clock"), Go("odd", lambda r: r["c"] % 2)]
    same = Check(lambda r: r["x"] == r["again"], "somebody writes beside it")
    changer: Program = [
        Swap("_", "word", lambda _: 1),
        *([] if "waiting" in without else wait),
        Load("x", "x"),
        Store("algorithm", lambda _: 1),
        Load("again", "x"),
        same,
        Store("word", lambda _: 0),
        Load("again", "x"),
        same,
        Swap("old", "clock", lambda r: r["old"] + 2),
        Load("c", "clock"),
        Check(lambda r: r["c"] >= r["old"] + 2, "the clock goes back"),
    ]
    return Machine({"x": 0, "clock": 0, "word": 0, "algorithm": 0}, [writer, changer])
