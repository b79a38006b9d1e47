# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hardware transactions that share colours (transaction/hardware.cc, subscribe): they have no
mark, but the colour's word in what they read.

Everybody adds 1 to x and to y, and sees as many additions to the one as to the other; who ends
last sees all. `colour` is the word, `shares` the mark of the transaction by software.
"""

from __future__ import annotations

from colours import acquire, spin
from model import Check, Go, Label, Load, Machine, Program, Store, Swap
from protocols_hybrid import HYBRID, hardware, write_back
from protocols_parts import begin, norec_read

ADD: Program = [Store("x", lambda r: r["x"] + 1), Store("y", lambda r: r["y"] + 1)]


def same(what: str) -> Check:
    return Check(lambda r: r["x"] == r["y"], what)


def ended(threads: int) -> Program:
    return [
        Swap("before", "ended", lambda r: r["before"] + 1),
        Load("x", "x"),
        Check(
            lambda r: r["before"] + 1 < threads or r["x"] == threads,
            "an addition is lost",
        ),
    ]


def in_hardware(threads: int, without: frozenset[str]) -> Program:
    """Undone while the colour is taken: waits for that, and begins again."""
    look: Program = [Load("_", "colour"), Go("abort", lambda r: r["_"])]
    body: Program = [
        *([] if without & {"colour", "inside"} else look),
        Load("x", "x"),
        Load("y", "y"),
        same("the hardware sees half of a section, or of a transaction"),
        *ADD,
    ]
    return [
        Label("again"),
        *(look if "inside" in without else []),
        *hardware(body, without),
        Go("end"),
        Label("abort"),
        *spin("busy", "colour"),
        Go("again"),
        Label("end"),
        *ended(threads),
    ]


def exclusively(threads: int, without: frozenset[str]) -> Program:
    """A section that takes the colour and accesses plainly."""
    word: Program = acquire("take", "colour")
    if "locked word" in without:
        word = [*spin("take", "colour"), Store("colour", lambda _: 1)]
    give_back: Program = [Store("colour", lambda _: 0)]
    early = "word to the end" in without
    return [
        *word,
        *([] if "scan" in without else spin("wait", "shares")),
        Load("x", "x"),
        Load("y", "y"),
        same("a section sees half of a transaction"),
        *(give_back if early else []),
        *ADD,
        *([] if early else give_back),
        *ended(threads),
    ]


def by_software(threads: int, without: frozenset[str]) -> Program:
    """NOrec's, with the colour's mark from before its snapshot until it has written back."""
    off: Program = [Store("mark0", lambda _: 0), Store("shares", lambda _: 0)]
    uncount: Program = [Swap("_", "software", lambda r: r["_"] - 1)]
    leave = off if "count" in without else [*uncount, *off]
    look: Program = [
        Load("_", "colour"),
        Go("shared", lambda r: not r["_"]),
        *off,
        *spin("busy", "colour"),
        Go("share"),
    ]
    return [
        Label("again"),
        *([] if "count" in without else [Swap("_", "software", lambda r: r["_"] + 1)]),
        Label("share"),
        *([] if "mark" in without else [Store("shares", lambda _: 1)]),
        *begin("mark0", without | {"word"}),  # nobody is serial
        *([] if "look" in without else look),
        Label("shared"),
        *norec_read("x", "x", "x", [], without),
        *norec_read("y", "y", "y", ["x"], without),
        same("the software sees half of a section, or of a transaction"),
        *([off[1]] if "marks to the end" in without else []),
        *write_back(ADD, without),
        *leave,
        Go("end"),
        Label("abort"),
        *leave,
        Go("again"),
        Label("end"),
        *ended(threads),
    ]


COLOUR = {**HYBRID, "x": 0, "y": 0, "colour": 0, "shares": 0, "ended": 0}


def hybrid_colour(without: frozenset[str]) -> Machine:
    """A hardware transaction beside two sections that take its colour."""
    section = exclusively(3, without)
    return Machine(COLOUR, [in_hardware(3, without), section, section])


def hybrid_sharing(without: frozenset[str]) -> Machine:
    """The same beside one section, and a transaction by software that shares the colour."""
    programs = [in_hardware(3, without), exclusively(3, without), by_software(3, without)]
    return Machine(COLOUR, programs)
