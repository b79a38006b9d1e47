# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The protocol of colours (src/runtime/irrevocable/colours.h) for model.py.

`word*` are colours: 0 free, 1 wanted or held. `mark*`: the marks of threads that share the colour
`word`, `begun*` the marks of transactions, `serial` the word of serial ones.
"""

from __future__ import annotations

from model import Barrier, Check, Go, Label, Load, Machine, Program, Set, Store, Swap


def spin(label: str, address: str) -> Program:
    """Until the word is 0."""
    return [Label(label), Load("_", address), Go(label, lambda r: r["_"])]


def acquire(label: str, word: str) -> Program:
    return [
        Label(label),
        Swap("_", word, lambda r: r["_"] or 1),
        Go(label, lambda r: r["_"]),
    ]


def share(me: int, without: frozenset[str], word: str = "word") -> Program:
    """Begin of a transaction with a guard: mark, locked instruction, look; withdraw and wait."""
    mark = f"mark{me}"
    fence: Program = [Swap("_", f"begun{me}", lambda _: 1)]
    look: Program = [Load("w", word), Go("shared", lambda r: not r["w"])]
    withdraw: Program = [Store(mark, lambda _: 0)]
    return [
        Label("share"),
        Store(mark, lambda _: 1),
        *([] if "fence" in without else fence),
        *([Go("shared")] if "look" in without else look),
        *([] if "withdrawal" in without else withdraw),
        *spin("busy", word),
        Go("share"),
        Label("shared"),
    ]


def take(marks: list[str], without: frozenset[str], word: str = "word") -> Program:
    """Exclusively: the word, then the end of those who share."""
    scan: Program = []
    for mark in marks:
        scan += spin(f"wait {mark}", mark)
    return [*acquire("take", word), *([] if "scan" in without else scan)]


MEMORY = {"word": 0, "x": 0, "y": 0}


def exclusion(without: frozenset[str]) -> Machine:
    """A transaction that writes x and y back, and a plain section, each of which keeps x = y."""
    end: Program = [Store("mark0", lambda _: 0)]
    early = "marks to the end" in without
    sharing: Program = [
        *share(0, without),
        Load("x", "x"),
        Load("y", "y"),
        Check(lambda r: r["x"] == r["y"], "a transaction sees half a section"),
        *(end if early else []),
        Store("x", lambda r: r["x"] + 1),
        Store("y", lambda r: r["y"] + 1),
        *([] if early else end),
    ]
    plain: Program = [
        *take(["mark0"], without),
        Load("x", "x"),
        Load("y", "y"),
        Check(lambda r: r["x"] == r["y"], "a section sees half a transaction"),
        Store("x", lambda r: r["x"] + 1),
        Store("y", lambda r: r["y"] + 1),
        Swap("_", "word", lambda _: 0),
    ]
    return Machine(MEMORY | {"mark0": 0, "begun0": 0}, [sharing, plain])


def order(without: frozenset[str]) -> Machine:
    """Two sections that want the same two colours."""
    programs: list[Program] = []
    for words in (
        ("word", "other"),
        ("other", "word") if "order" in without else ("word", "other"),
    ):
        programs.append(
            [
                *acquire("first", words[0]),
                *acquire("second", words[1]),
                Load("x", "x"),
                Store("x", lambda r: r["x"] + 1),
                Load("y", "x"),
                Check(lambda r: r["y"] == r["x"] + 1, "two sections at once"),
                Swap("_", words[1], lambda _: 0),
                Swap("_", words[0], lambda _: 0),
            ]
        )
    return Machine(MEMORY | {"other": 0}, programs)


def preference(without: frozenset[str]) -> Machine:
    """Two threads that share again and again, and one that wants the colour for itself.

    From when the word is wanted, each of the others enters once more at most.
    """
    programs: list[Program] = []
    for me in range(2):
        program: Program = [Set("late", lambda _: 0)]
        for turn in range(2):
            body = [
                *share(me, without, "held" if "preference" in without else "word"),
                Load("wanted", "word"),
                Set("late", lambda r: r["late"] + (1 if r["wanted"] else 0)),
                Check(lambda r: r["late"] <= 1, "enters twice before who waits"),
                Store(f"mark{me}", lambda _: 0),
            ]
            program += [rename(step, turn) for step in body]
        programs.append(program)
    programs.append(
        [
            *take(["mark0", "mark1"], without),
            Swap("_", "held", lambda _: 1),
            Swap("_", "held", lambda _: 0),
            Swap("_", "word", lambda _: 0),
        ]
    )
    marks = {"mark0": 0, "mark1": 0, "begun0": 0, "begun1": 0, "held": 0}
    return Machine(MEMORY | marks, programs)


def rename(step: object, turn: int) -> Load | Store | Swap | Set | Go | Check | Label | Barrier:
    """The same step for another turn of a loop that is written out."""
    if isinstance(step, Label):
        return Label(f"{step.name} {turn}")
    if isinstance(step, Go):
        return Go(f"{step.label} {turn}", step.when)
    assert isinstance(step, Load | Store | Swap | Set | Check | Barrier)
    return step


def upgrade(without: frozenset[str]) -> Machine:
    """Two transactions that share a colour become irrevocable: undone, mark off, colour, again."""
    programs: list[Program] = []
    for me, other in ((0, 1), (1, 0)):
        off: Program = [Store(f"mark{me}", lambda _: 0)]
        programs.append(
            [
                *share(me, without),
                Load("x", "x"),
                Load("once more", "x"),
                Check(lambda r: r["x"] == r["once more"], "a transaction sees a section"),
                *([] if "abort" in without else off),
                *take([f"mark{other}"], without),
                *([] if "again" in without else [Load("x", "x")]),
                Store("x", lambda r: r["x"] + 1),
                Swap("done", "ended", lambda r: r["done"] + 1),
                Load("now", "x"),
                Check(lambda r: r["now"] == r["done"] + 1, "an update is lost"),
                *off,
                Swap("_", "word", lambda _: 0),
            ]
        )
    marks = {"mark0": 0, "mark1": 0, "begun0": 0, "begun1": 0, "ended": 0}
    return Machine(MEMORY | marks, programs)


def serial(without: frozenset[str]) -> Machine:
    """A hybrid section that runs serially with its mark, and a section with the colour in which a
    transaction without colours begins: that one waits for the serial word."""
    give_back: Program = [Swap("_", "serial", lambda _: 0), Store("mark0", lambda _: 0)]
    alone: Program = [
        Label("again"),
        Store("mark0", lambda _: 1),
        Swap("s", "serial", lambda r: r["s"] or 1),
        Go("off", lambda r: r["s"]),
        Load("w", "word"),
        Go("alone", lambda r: not r["w"]),
        *([] if "giving back" in without else give_back),
        *spin("colour", "word"),
        Go("again"),
        Label("off"),
        Store("mark0", lambda _: 0),
        *spin("busy", "serial"),
        Go("again"),
        Label("alone"),
        *([Store("mark0", lambda _: 0)] if "mark" in without else []),
        Load("x", "x"),
        Store("x", lambda r: r["x"] + 1),
        Load("now", "x"),
        Check(lambda r: r["now"] == r["x"] + 1, "not alone"),
        Store("mark0", lambda _: 0),
        Swap("_", "serial", lambda _: 0),
    ]
    holder: Program = [
        *take(["mark0"], without),
        Load("x", "x"),
        Store("x", lambda r: r["x"] + 1),
        Load("now", "x"),
        Check(lambda r: r["now"] == r["x"] + 1, "a plain section beside a serial one"),
        *acquire("inner", "serial"),
        Swap("_", "serial", lambda _: 0),
        Swap("_", "word", lambda _: 0),
    ]
    return Machine(MEMORY | {"mark0": 0, "serial": 0}, [alone, holder])


def waking(without: frozenset[str]) -> Machine:
    """Who sleeps until a mark is cleared beside the thread that clears it, plainly."""
    sleeper: Program = [
        *([] if "announcement" in without else [Swap("_", "sleepers", lambda _: 1)]),
        Load("before", "cleared"),
        *([] if "barrier" in without else [Barrier()]),
        Load("m", "mark0"),
        Go("awake", lambda r: not r["m"]),
        Label("asleep"),
        Load("now", "cleared"),
        Go("awake", lambda r: r["now"] != r["before"]),
        Go("asleep"),
        Label("awake"),
    ]
    if "order" in without:
        look = sleeper[3:5] if "barrier" not in without else sleeper[2:4]
        sleeper = [*look, *[step for step in sleeper if step not in look]]
    clearing: Program = [
        Store("mark0", lambda _: 0),
        Load("s", "sleepers"),
        Go("nobody", lambda r: not r["s"]),
        Swap("_", "cleared", lambda r: r["_"] + 1),
        Label("nobody"),
    ]
    return Machine({"mark0": 1, "sleepers": 0, "cleared": 0}, [sleeper, clearing])


def entering(without: frozenset[str]) -> Machine:
    """A serial transaction with a mark enters a section with that colour. Whoever holds the colour
    and waits for the mark, awake or asleep, gives way until it has it: the mark stays, or the
    section would come into the transaction's middle."""
    wake: Program = [
        Load("s", "sleepers"),
        Go("told", lambda r: not r["s"]),
        Swap("_", "cleared", lambda r: r["_"] + 1),
        Label("told"),
    ]
    alone: Program = [
        Load("before", "x"),
        *([] if "announcement" in without else [Swap("_", "enters", lambda _: 1)]),
        *([] if "wake" in without else wake),
        *([Store("mark0", lambda _: 0)] if "mark" in without else []),
        *acquire("take", "word"),
        Swap("_", "enters", lambda _: 0),
        *[rename(step, 2) for step in wake],
        Load("x", "x"),
        Check(lambda r: r["x"] == r["before"], "a section in the middle of a serial transaction"),
        Store("x", lambda r: r["x"] + 1),
        Swap("_", "word", lambda _: 0),
        Load("now", "x"),
        Check(lambda r: r["now"] == r["x"] + 1, "a section beside a serial transaction"),
        Store("mark0", lambda _: 0),
        *[rename(step, 1) for step in wake],
    ]
    give_way: Program = [
        Load("e", "enters"),
        Go("stay", lambda r: not r["e"]),
        Swap("_", "word", lambda _: 0),
        Label("away"),
        Load("before", "cleared"),
        Barrier(),
        Load("e", "enters"),
        Go("take", lambda r: not r["e"]),
        Label("away asleep"),
        Load("now", "cleared"),
        Go("away", lambda r: r["now"] != r["before"]),
        Go("away asleep"),
        Label("stay"),
    ]
    holder: Program = [
        *acquire("take", "word"),
        Load("m", "mark0"),
        Go("in", lambda r: not r["m"]),
        Swap("_", "sleepers", lambda _: 1),
        Label("look"),
        Load("before", "cleared"),
        Barrier(),
        Load("m", "mark0"),
        Go("in", lambda r: not r["m"]),
        *([] if "giving way" in without else give_way),
        Label("asleep"),
        Load("now", "cleared"),
        Go("look", lambda r: r["now"] != r["before"]),
        Go("asleep"),
        Label("in"),
        Load("x", "x"),
        Store("x", lambda r: r["x"] + 1),
        Load("now", "x"),
        Check(lambda r: r["now"] == r["x"] + 1, "a plain section beside a serial one"),
        Swap("_", "word", lambda _: 0),
    ]
    memory = {"mark0": 1, "enters": 0, "sleepers": 0, "cleared": 0}
    return Machine(MEMORY | memory, [alone, holder])


def gccs_transactions(without: frozenset[str]) -> Machine:
    """A transaction without colours, and a section with a colour of the whole process, which takes
    the serial word as well; beside a serial transaction that enters a section with that colour."""
    transaction: Program = [
        Label("begin"),
        Swap("_", "begun0", lambda _: 1),
        Load("s", "serial"),
        Go("in", lambda r: not r["s"]),
        Store("begun0", lambda _: 0),
        *spin("busy", "serial"),
        Go("begin"),
        Label("in"),
        Load("x", "x"),
        Load("again", "x"),
        Check(lambda r: r["x"] == r["again"], "a transaction beside a plain section"),
        Store("begun0", lambda _: 0),
    ]
    wait: Program = [
        Swap("_", "word", lambda _: 0),
        *spin("serial", "serial"),
        Go("section"),
    ]
    if "giving back" in without:
        wait = [Go("try")]
    section: Program = [
        Label("section"),
        *acquire("take", "word"),
        Label("try"),
        *(
            []
            if "serial word" in without
            else [
                Swap("s", "serial", lambda r: r["s"] or 1),
                Go("alone", lambda r: not r["s"]),
                *wait,
                Label("alone"),
                *spin("drain", "begun0"),
            ]
        ),
        Store("x", lambda _: 1),
        Store("x", lambda _: 2),
        *([] if "serial word" in without else [Swap("_", "serial", lambda _: 0)]),
        Swap("_", "word", lambda _: 0),
    ]
    enters: Program = [
        *acquire("alone", "serial"),
        *spin("drain", "begun0"),
        *acquire("take", "word"),
        Swap("_", "word", lambda _: 0),
        Swap("_", "serial", lambda _: 0),
    ]
    return Machine(MEMORY | {"begun0": 0, "serial": 0}, [transaction, section, enters])
