# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hardware transactions beside NOrec's (src/runtime/algorithms/hardware.h)."""

from __future__ import annotations

from model import Atomic, Check, Go, Label, Load, Machine, Program, Set, Store, Swap
from protocols_parts import begin, norec_read


def software(body: Program, mark: str, without: frozenset[str]) -> Program:
    """A transaction of NOrec that hardware ones have to know of."""
    count: Program = [Swap("_", "software", lambda r: r["_"] + 1)]
    end: Program = [
        Store(mark, lambda _: 0),
        Swap("_", "software", lambda r: r["_"] - 1),
    ]
    if "count" in without:
        return [*begin(mark, without), *body, Label("abort"), end[0]]
    return [*count, *begin(mark, without), *body, Label("abort"), *end]


def write_back(stores: Program, without: frozenset[str]) -> Program:
    """The commit of one of NOrec's that has written: the snapshot is `s`."""
    close: Program = [Store("writing", lambda _: 1)]
    if "stop" in without:
        close = []
    late = "stop before the stores" in without
    return [
        Swap("old", "clock", lambda r: r["old"] + 1 if r["old"] == r["s"] else r["old"]),
        Go("abort", lambda r: r["old"] != r["s"]),
        *([*stores, *close] if late else [*close, *stores]),
        Store("writing", lambda _: 0),
        Store("clock", lambda r: r["s"] + 2),
    ]


def hardware(body: Program, without: frozenset[str], plain: bool = False) -> Program:
    """`t` becomes its commit's time where there is software, else 0. The program goes to its label
    `abort`, where it is undone."""
    look: Program = [Load("alone", "word"), Go("abort", lambda r: r["alone"])]
    gate: Program = [Load("w", "writing"), Go("abort", lambda r: r["w"])]
    even: Program = [Go("abort", lambda r: r["t"] % 2)]
    bump: Program = [
        Load("t", "clock"),
        *([] if "even" in without else even),
        Set("t", lambda r: r["t"] + 2),
        Store("clock", lambda r: r["t"]),
    ]
    beside: Program = [Go("abort")] if plain and "beside" not in without else bump
    steps: Program = [
        *([] if "word" in without else look),
        *([] if "gate" in without else gate),
        *body,
        Set("t", lambda _: 0),
        Load("n", "software"),
        Go("end", lambda r: not r["n"]),
        *([] if "bump" in without else beside),
        Label("end"),
    ]
    return [Atomic(tuple(steps))]  # type: ignore[arg-type]


HYBRID = {"clock": 0, "word": 0, "mark0": 0, "software": 0, "writing": 0}


def hybrid_opacity(without: frozenset[str]) -> Machine:
    """A reader by software of x and y beside a hardware transaction that changes both."""
    reads: Program = [
        *norec_read("x", "x", "x", [], without),
        *norec_read("y", "y", "y", ["x"], without),
        Check(lambda r: r["x"] == r["y"], "reads from two states"),
    ]
    writer: Program = [
        *hardware([Store("x", lambda _: 1), Store("y", lambda _: 1)], without),
        Label("abort"),
    ]
    return Machine({**HYBRID, "x": 0, "y": 0}, [software(reads, "mark0", without), writer])


def hybrid_write_back(without: frozenset[str]) -> Machine:
    """A transaction by software changes x and y beside two hardware ones that read both."""
    stores: Program = [Store("x", lambda _: 1), Store("y", lambda _: 1)]
    writer = software(write_back(stores, without), "mark0", without)
    reader: Program = []
    for time in ("1", "2"):
        body: Program = [
            Load("x", "x"),
            Load("y", "y"),
            Check(lambda r: r["x"] == r["y"], "the hardware sees half of a commit"),
            Store(f"z{time}", lambda r: r["x"]),
        ]
        reader += hardware(body, without)
    reader += [Label("abort")]
    return Machine({**HYBRID, "x": 0, "y": 0, "z1": 0, "z2": 0}, [writer, reader])


def hybrid_update(without: frozenset[str]) -> Machine:
    """Both add to x; neither addition is lost, and a third thread adds the ones that were made."""
    body: Program = [
        *norec_read("x", "x", "x", [], without),
        *write_back([Store("x", lambda r: r["x"] + 1)], without),
        Set("made", lambda _: 1),
    ]
    adder: Program = [Set("made", lambda _: 0), *software(body, "mark0", without)]
    adder += [Swap("_", "made", lambda r: r["_"] + r["made"])]
    other: Program = [
        *hardware(
            [
                Load("x", "x"),
                Store("x", lambda r: r["x"] + 1),
                Load("m", "made"),
                Store("made", lambda r: r["m"] + 1),
            ],
            without,
        ),
        Label("abort"),
    ]
    judge: Program = [
        Label("wait"),
        Load("n", "software"),
        Load("again", "done"),
        Go("wait", lambda r: r["n"] or not r["again"]),
        Load("made", "made"),
        Load("x", "x"),
        Load("later", "made"),
        Check(
            lambda r: r["made"] != r["later"] or r["x"] >= r["made"],
            "an addition is lost",
        ),
    ]
    adder += [Swap("_", "done", lambda _: 1)]
    memory = {**HYBRID, "x": 0, "made": 0, "done": 0}
    return Machine(memory, [adder, other, judge])


def hybrid_privatisation(without: frozenset[str]) -> Machine:
    """A reader by software follows a pointer; a hardware transaction takes it out, waits, and the
    memory is unmapped. Uninstrumented code would give the memory back inside."""
    reads: Program = [
        *norec_read("p", "p", "p", [], without),
        Go("abort", lambda r: not r["p"]),
        Load("mapped", "mapped"),
        Check(lambda r: r["mapped"], "a read of memory that is gone"),
    ]
    wait: Program = [
        Label("quiesce"),
        Load("m", "mark0"),
        Go("quiesce", lambda r: r["t"] and r["m"] != 0 and r["m"] < r["t"] + 1),
    ]
    taker: Program = [
        *hardware([Store("p", lambda _: 0)], without),
        *([] if "quiescence" in without else wait),
        Store("mapped", lambda _: 0),
        Label("abort"),
    ]
    memory = {**HYBRID, "p": 1, "mapped": 1}
    return Machine(memory, [software(reads, "mark0", without), taker])


def hybrid_free(without: frozenset[str]) -> Machine:
    """The same where uninstrumented code gives the memory back in the transaction, and another
    thread unmaps it as soon as it is given back."""
    machine = hybrid_privatisation(frozenset())
    reader = machine.programs[0]
    freer: Program = [
        *hardware([Store("p", lambda _: 0), Store("free", lambda _: 1)], without, plain=True),
        Label("abort"),
    ]
    trimmer: Program = [
        Load("free", "free"),
        Go("end", lambda r: not r["free"]),
        Store("mapped", lambda _: 0),
        Label("end"),
    ]
    memory = {**HYBRID, "p": 1, "mapped": 1, "free": 0}
    return Machine(memory, [reader, freer, trimmer])


def hybrid_alone(without: frozenset[str]) -> Machine:
    """A hardware transaction beside a serial one that changes x without any protocol, twice."""
    body: Program = [
        Load("x", "x"),
        Check(lambda r: r["x"] != 1, "the hardware sees one that is serial"),
        Store("z", lambda r: r["x"]),
    ]
    single: Program = [
        Swap("_", "word", lambda _: 1),
        Store("x", lambda _: 1),
        Store("x", lambda _: 2),
        Swap("_", "word", lambda _: 0),
    ]
    three = [step for _ in range(3) for step in hardware(body, without)]
    return Machine({**HYBRID, "x": 0, "z": 0}, [[*three, Label("abort")], [*single, *single]])


def change(to: int, without: frozenset[str]) -> Program:
    """`auto` changes the algorithm, `now`: 0 is htm, 1 one that does not know of hardware."""
    wait: Program = [Label("marks"), Load("m", "mark0"), Go("marks", lambda r: r["m"])]
    say: Program = [Store("writing", lambda _: 2 * to)]
    return [
        Swap("_", "word", lambda _: 1),
        *([] if "wait" in without else wait),
        Store("now", lambda _: to),
        *([] if "say" in without else say),
        Swap("_", "word", lambda _: 0),
    ]


def hybrid_change(to: int, without: frozenset[str]) -> Machine:
    """The algorithm changes beside a thread that writes x and y in place, if the present one does
    not know of hardware, and one that reads both in hardware, if that is the present one."""
    again: Program = [Load("now", "now"), Go("leave", lambda r: not r["now"])]
    writer: Program = [
        Load("now", "now"),
        Go("end", lambda r: not r["now"]),
        Swap("_", "mark0", lambda _: 1),
        Load("alone", "word"),
        Go("leave", lambda r: r["alone"]),
        *([] if "again" in without else again),
        Store("x", lambda _: 1),
        Store("y", lambda _: 1),
        Label("leave"),
        Store("mark0", lambda _: 0),
        Label("end"),
    ]
    body: Program = [
        Load("x", "x"),
        Load("y", "y"),
        Check(lambda r: r["x"] == r["y"], "the hardware sees half of a transaction"),
    ]
    reader: Program = [
        Load("now", "now"),
        Go("abort", lambda r: r["now"]),
        *hardware(body, without),
        Label("abort"),
    ]
    first = 1 - to
    memory = {**HYBRID, "x": 0, "y": 0, "now": first, "writing": 2 * first}
    return Machine(memory, [writer, reader, change(to, without)])


def hybrid_changes_away(without: frozenset[str]) -> Machine:
    """From hardware."""
    return hybrid_change(1, without)


def hybrid_changes_back(without: frozenset[str]) -> Machine:
    """To hardware."""
    return hybrid_change(0, without)
