# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Short sections that run in place. What they do to readers and at their commit is what a commit of
NOrec does (protocols_norec.py: a taker has no mark there either); here is what they do besides.
"""

from __future__ import annotations

from model import Check, Go, Label, Load, Machine, Program, Store, Swap

# In the middle y is 1; nobody else may see that, nor change x meanwhile.
BODY: Program = [
    Load("x", "x"),
    Store("y", lambda _: 1),
    Store("y", lambda _: 0),
    Load("again", "x"),
    Check(lambda r: r["x"] == r["again"] and r["x"] != 1, "sees one that is serial"),
]
ALONE: Program = [
    Load("y", "y"),
    Check(lambda r: r["y"] == 0, "is serial in the middle of a section"),
    Store("x", lambda _: 1),
    Store("x", lambda _: 2),
]
MEMORY = {"x": 0, "y": 0, "clock": 0, "word": 0, "mark0": 0, "lock": 0, "algorithm": 0}


def by_clock(look: Program, without: frozenset[str]) -> Program:
    """A section that holds the clock; `look` goes to "back" where it must not run."""
    acquire: Program = [Swap("old", "clock", lambda r: r["old"] + (r["old"] + 1) % 2)]
    if "locked clock" in without:
        acquire = [Load("old", "clock"), Store("clock", lambda r: r["old"] + (r["old"] + 1) % 2)]
    return [
        *acquire,
        Go("end", lambda r: r["old"] % 2),
        *look,
        *BODY,
        Label("back"),
        Store("clock", lambda r: r["old"] + 2),
        Label("end"),
    ]


def word(without: frozenset[str]) -> Program:
    if "word" in without:
        return []
    return [Load("alone", "word"), Go("back", lambda r: r["alone"])]


def until_even(without: frozenset[str]) -> Program:
    if "waiting" in without:
        return []
    return [Label("odd"), Load("c", "clock"), Go("odd", lambda r: r["c"] % 2)]


def short_alone(without: frozenset[str]) -> Machine:
    """A section that holds the clock, beside a thread that is serial."""
    single: Program = [
        Swap("_", "word", lambda _: 1),
        *until_even(without),
        *ALONE,
        Swap("_", "word", lambda _: 0),
    ]
    return Machine(MEMORY, [by_clock(word(without), without), single])


def short_switching(without: frozenset[str]) -> Machine:
    """The same beside a thread that changes the algorithm, and then runs by the other one."""
    second_look: Program = [Load("now", "algorithm"), Go("back", lambda r: r["now"])]
    look: Program = [*word(frozenset()), *([] if "second look" in without else second_look)]
    section: Program = [
        Load("first", "algorithm"),
        Go("end", lambda r: r["first"]),
        *by_clock(look, without),
    ]
    changer: Program = [
        Swap("_", "word", lambda _: 1),
        *until_even(without),
        Store("algorithm", lambda _: 1),
        Store("word", lambda _: 0),
        *ALONE,
    ]
    return Machine(MEMORY, [section, changer])


def short_locks(without: frozenset[str]) -> Machine:
    """A section that holds the locks of two-phase locking, beside a thread that is serial."""
    mark: Program = [Store("mark0", lambda _: 1)]
    lock: Program = [
        Swap("held", "lock", lambda r: r["held"] or 1),
        Go("gone", lambda r: r["held"]),
    ]
    begin = [*lock, *mark] if "order" in without else [*mark, *lock]
    section: Program = [
        *(lock if "mark" in without else begin),
        *word(without),
        *BODY,
        Label("back"),
        Store("lock", lambda _: 0),
        Label("gone"),
        Store("mark0", lambda _: 0),
    ]
    wait: Program = [Label("wait"), Load("m", "mark0"), Go("wait", lambda r: r["m"])]
    single: Program = [
        Swap("_", "word", lambda _: 1),
        *([] if "waiting" in without else wait),
        *ALONE,
        Swap("_", "word", lambda _: 0),
    ]
    return Machine(MEMORY, [section, single])


# --- locks that guard their data (runtime/transaction/guarded_by.h)


def acquire_word(without: frozenset[str]) -> Program:
    """The lock's word, 0 while it is free; "gone" where it is taken."""
    if "locked word" in without:
        take: Program = [Load("held", "lock"), Store("lock", lambda r: r["held"] or 1)]
    else:
        take = [Swap("held", "lock", lambda r: r["held"] or 1)]
    return [*take, Go("gone", lambda r: r["held"])]


def guarded_by_alone(without: frozenset[str]) -> Machine:
    """A short section of such a lock, beside a thread that is serial. The word is in the list of
    those that are used before it is first held."""
    note: Program = [Swap("_", "used", lambda _: 1)]
    held: Program = [*word(without), *BODY, Label("back"), Store("lock", lambda _: 0)]
    section: Program = [
        *([] if "list" in without else note),
        *acquire_word(without),
        *held,
        *(note if "list" in without else []),
        Label("gone"),
    ]
    wait: Program = [
        Load("u", "used"),
        Go("free", lambda r: not r["u"]),
        Label("taken"),
        Load("l", "lock"),
        Go("taken", lambda r: r["l"]),
        Label("free"),
    ]
    single: Program = [
        Swap("_", "word", lambda _: 1),
        *([] if "waiting" in without else wait),
        *ALONE,
        Swap("_", "word", lambda _: 0),
    ]
    return Machine({**MEMORY, "used": 0}, [section, single])


def guarded_by_short(without: frozenset[str]) -> Machine:
    """A short section, beside a transaction that holds the lock and writes back at its end."""
    section: Program = [*acquire_word(without), *BODY, Store("lock", lambda _: 0), Label("gone")]
    written: Program = [Store("x", lambda _: 1), Store("x", lambda _: 2)]
    released: Program = [Store("lock", lambda _: 0)]
    end = [*released, *written] if "to its end" in without else [*written, *released]
    transaction: Program = [
        *([] if "entry" in without else acquire_word(without)),
        Load("y", "y"),
        Check(lambda r: r["y"] == 0, "sees the middle of a short section"),
        *end,
        Label("gone"),
    ]
    return Machine(MEMORY, [section, transaction])


def guarded_by_opacity(without: frozenset[str]) -> Machine:
    """What is read with the lock held is as new as what was read before: who held it has waited for
    those who have not seen its commit."""
    wait: Program = [Label("wait"), Load("m", "mark0"), Go("wait", lambda r: r["m"])]
    released: Program = [Store("lock", lambda _: 0)]
    writer: Program = [
        *acquire_word(frozenset()),
        Store("x", lambda _: 1),
        Store("y", lambda _: 1),
        Swap("_", "clock", lambda _: 1),
        *released * ("order" in without),
        *([] if "quiescence" in without else wait),
        *([] if "order" in without else released),
        Label("gone"),
    ]
    reader: Program = [
        Swap("_", "mark0", lambda _: 1),
        Load("x", "x"),
        *acquire_word(frozenset()),
        Load("y", "y"),
        Check(lambda r: r["x"] == r["y"], "reads of two times"),
        Store("lock", lambda _: 0),
        Label("gone"),
        Store("mark0", lambda _: 0),
    ]
    return Machine(MEMORY, [writer, reader])


def in_place_alone(without: frozenset[str]) -> Machine:
    """A transaction of nothing but such locks (Mode::guarded_by), beside a thread that is serial,
    which waits for marks and not for words that transactions hold."""
    mark: Program = [Swap("_", "mark0", lambda _: 1)]
    look: Program = (
        [] if "look" in without else [Load("alone", "word"), Go("end", lambda r: r["alone"])]
    )
    begin = [*look, *mark] if "order" in without else [*mark, *look]
    section: Program = [
        *(look if "mark" in without else begin),
        *acquire_word(frozenset()),
        *BODY,
        Store("lock", lambda _: 0),
        Label("gone"),
        Label("end"),
        Store("mark0", lambda _: 0),
    ]
    wait: Program = [Label("wait"), Load("m", "mark0"), Go("wait", lambda r: r["m"])]
    single: Program = [
        Swap("_", "word", lambda _: 1),
        *([] if "waiting" in without else wait),
        *ALONE,
        Swap("_", "word", lambda _: 0),
    ]
    return Machine(MEMORY, [section, single])


def in_place_undone(without: frozenset[str]) -> Machine:
    """It comes to another lock when it has written, and is undone; beside one that looks."""
    undone: Program = [] if "undoing" in without else [Store("y", lambda _: 0)]
    released: Program = [Store("lock", lambda _: 0)]
    section: Program = [
        *acquire_word(frozenset()),
        Store("y", lambda _: 1),
        *([*released, *undone] if "order" in without else [*undone, *released]),
        Label("gone"),
    ]
    other: Program = [
        *([] if "entry" in without else acquire_word(frozenset())),
        Load("y", "y"),
        Check(lambda r: r["y"] == 0, "sees what was undone"),
        *released,
        Label("gone"),
    ]
    return Machine(MEMORY, [section, other])
