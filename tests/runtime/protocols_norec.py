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
