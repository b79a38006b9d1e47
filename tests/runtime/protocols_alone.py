# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Around transactions: being serial, changing the algorithm, sleeping."""

from __future__ import annotations

from model import Check, Go, Label, Load, Machine, Program, Store, Swap
from protocols_parts import begin


def alone(without: frozenset[str]) -> Machine:
    """A transaction beside one that is serial and changes x without any protocol, twice."""
    reader: Program = [
        *begin("mark0", without),
        Load("x", "x"),
        Load("again", "x"),
        Check(lambda r: r["x"] == r["again"] and r["x"] != 1, "sees one that is serial"),
        Store("mark0", lambda _: 0),
    ]
    wait: Program = [Label("wait"), Load("m", "mark0"), Go("wait", lambda r: r["m"])]
    single: Program = [
        Swap("_", "word", lambda _: 1),
        *([] if "waiting" in without else wait),
        Store("x", lambda _: 1),
        Store("x", lambda _: 2),
        Swap("_", "word", lambda _: 0),
    ]
    return Machine({"x": 0, "clock": 0, "word": 0, "mark0": 0}, [reader, single])


def switching(without: frozenset[str]) -> Machine:
    """A transaction that begins while another thread changes the algorithm, alone: `auto`.

    1 stands for the algorithm that locks, 0 for one that must not run beside it.
    """
    look_again: Program = [
        Load("now", "algorithm"),
        Go("wrong", lambda r: r["now"] != r["chosen"]),
    ]
    beginner: Program = [
        Label("begin"),
        Load("chosen", "algorithm"),
        Swap("_", "mark0", lambda _: 1),
        Load("alone", "word"),
        Go("wrong", lambda r: r["alone"]),
        *([] if "second look" in without else look_again),
        Load("now", "algorithm"),
        Check(
            lambda r: r["now"] == r["chosen"],
            "runs by an algorithm that is no longer in use",
        ),
        Store("mark0", lambda _: 0),
        Go("end"),
        Label("wrong"),
        Store("mark0", lambda _: 0),
        Go("begin"),
        Label("end"),
    ]
    wait: Program = [Label("wait"), Load("m", "mark0"), Go("wait", lambda r: r["m"])]
    changer: Program = [
        Swap("_", "word", lambda _: 1),
        *([] if "waiting" in without else wait),
        Store("algorithm", lambda _: 1),
        Store("word", lambda _: 0),
    ]
    return Machine({"algorithm": 0, "word": 0, "mark0": 0}, [beginner, changer])


def switching_alone(without: frozenset[str]) -> Machine:
    """`auto` changes the algorithm from one that runs transactions beside each other, 0, to
    `serial`, 1: a reader that begins meanwhile, and one that is serial under `serial`, which does
    not wait for anybody, and changes x twice. A reader that finds the word taken looks at the
    algorithm for itself, and may be serial then: without a mark, for which others would wait.
    """
    look_again: Program = [Load("now", "algorithm"), Go("wrong", lambda r: r["now"])]
    reader: Program = [
        Label("begin"),
        Load("chosen", "algorithm"),
        Go("alone", lambda r: r["chosen"]),
        Swap("_", "mark0", lambda _: 1),
        Load("taken", "word"),
        Go("wrong", lambda r: r["taken"]),
        *([] if "second look" in without else look_again),
        Load("x", "x"),
        Load("again", "x"),
        Check(lambda r: r["x"] == r["again"] and r["x"] != 1, "sees one that is serial"),
        Store("mark0", lambda _: 0),
        Go("end"),
        Label("wrong"),
        Load("chosen", "algorithm"),
        Go("alone", lambda r: r["chosen"]),
        Store("mark0", lambda _: 0),
        Go("begin"),
        Label("alone"),
        *([] if "no mark" in without else [Store("mark0", lambda _: 0)]),
        Label("take"),
        Swap("taken", "word", lambda _: 1),
        Go("take", lambda r: r["taken"]),
        Load("mark", "mark0"),
        Check(lambda r: not r["mark"], "is serial with its mark out"),
        Store("word", lambda _: 0),
        Label("end"),
    ]
    wait: Program = [Label("wait"), Load("m", "mark0"), Go("wait", lambda r: r["m"])]
    changer: Program = [
        Label("take"),
        Swap("taken", "word", lambda _: 1),
        Go("take", lambda r: r["taken"]),
        *([] if "waiting" in without else wait),
        Store("algorithm", lambda _: 1),
        Store("word", lambda _: 0),
    ]
    single: Program = [
        Load("now", "algorithm"),
        Go("end", lambda r: not r["now"]),
        Label("take"),
        Swap("taken", "word", lambda _: 1),
        Go("take", lambda r: r["taken"]),
        Store("x", lambda _: 1),
        Store("x", lambda _: 2),
        Store("word", lambda _: 0),
        Label("end"),
    ]
    memory = {"x": 0, "algorithm": 0, "word": 0, "mark0": 0}
    return Machine(memory, [reader, changer, single])


def sleeping(without: frozenset[str]) -> Machine:
    """A sleeper that waits for x to change beside a NOrec commit that changes it: it is woken."""
    announce: Program = [Swap("_", "waiters", lambda _: 1)]
    if "locked announcement" in without:
        announce = [Store("waiters", lambda _: 1)]
    validate: Program = [Load("c", "clock"), Go("end", lambda r: r["c"] != 0)]
    sleeper: Program = [
        *([*validate, *announce] if "order" in without else [*announce, *validate]),
        Label("asleep"),
        Load("w", "woken"),
        Go("end", lambda r: r["w"]),
        Load("d", "done"),
        Go("asleep", lambda r: not r["d"]),
        Load("w", "woken"),
        Check(lambda r: r["w"], "sleeps for ever"),
        Label("end"),
    ]
    writer: Program = [
        *([] if "locked commit" in without else [Swap("_", "clock", lambda _: 1)]),
        Store("x", lambda _: 1),
        Store("clock", lambda _: 2),
        Load("waiters", "waiters"),
        Go("nobody", lambda r: not r["waiters"]),
        Store("woken", lambda _: 1),
        Label("nobody"),
        Swap("_", "done", lambda _: 1),
    ]
    memory = {"x": 0, "clock": 0, "waiters": 0, "woken": 0, "done": 0}
    return Machine(memory, [sleeper, writer])
