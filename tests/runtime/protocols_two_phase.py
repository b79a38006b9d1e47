# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two-phase locking."""

from __future__ import annotations

from model import Check, Go, Label, Load, Machine, Program, Store, Swap


def share(address: str, bit: int, without: frozenset[str]) -> Program:
    """two-phase: the thread's bit in a word that is not held (4); else to `abort`."""
    if "shared lock" in without:
        return []
    return [
        Swap("w", f"o{address}", lambda r: r["w"] if r["w"] & 4 else r["w"] | bit),
        Go("abort", lambda r: r["w"] & 4),
    ]


def unshare(addresses: str, bit: int, without: frozenset[str]) -> Program:
    """Ends locks for reading; words that are held have been upgraded."""
    if "shared lock" in without:
        return []
    program: Program = []
    for address in addresses:
        program += [
            Swap("w", f"o{address}", lambda r: r["w"] if r["w"] & 4 else r["w"] & ~bit),
        ]
    return program


def own(address: str, bit: int, then: str, without: frozenset[str]) -> Program:
    """The lock for writing, of nobody or of the only reader."""
    free = (0, bit, 1, 2, 3) if "other readers" in without else (0, bit)
    return [
        Swap("w", f"o{address}", lambda r: 4 if r["w"] in free else r["w"]),
        Go(then, lambda r: r["w"] not in free),
    ]


def two_phase_opacity(without: frozenset[str]) -> Machine:
    """A reader of y and x beside one that reads x, writes both in place, and commits or undoes."""
    early = "two phases" in without
    reader: Program = [
        *share("y", 1, without),
        Load("y", "y"),
        *(unshare("y", 1, without) if early else []),
        *share("x", 1, without),
        Load("x", "x"),
        Check(lambda r: r["x"] == r["y"], "reads from two states"),
        Label("abort"),
        *unshare("xy", 1, without),
    ]
    undo: Program = [Store("x", lambda r: r["old"])]
    release: Program = [Store("ox", lambda _: 0)]
    writer: Program = [
        *share("x", 2, frozenset()),
        Load("old", "x"),
        *own("x", 2, "abort", without),
        Store("x", lambda r: r["old"] + 1),
        *own("y", 2, "undo", without),
        Store("y", lambda r: r["old"] + 1),
        *unshare("x", 2, frozenset()),
        Store("ox", lambda _: 0),
        Store("oy", lambda _: 0),
        Go("end"),
        Label("undo"),
        *([*release, *undo] if "order" in without else [*undo, *release]),
        Go("end"),
        Label("abort"),
        *unshare("x", 2, frozenset()),
        Label("end"),
    ]
    return Machine({"x": 0, "y": 0, "ox": 0, "oy": 0}, [reader, writer])


def two_phase_privatisation(without: frozenset[str]) -> Machine:
    """A reader that follows a pointer, beside a thread that takes it out and unmaps the memory."""
    early = "kept lock" in without
    reader: Program = [
        *share("p", 1, without),
        Load("p", "p"),
        *(unshare("p", 1, without) if early else []),
        Go("abort", lambda r: not r["p"]),
        Load("mapped", "mapped"),
        Check(lambda r: r["mapped"], "a read of memory that is gone"),
        Label("abort"),
        *unshare("p", 1, without),
    ]
    taker: Program = [
        Label("again"),
        *own("p", 2, "again", without),
        Store("p", lambda _: 0),
        Store("op", lambda _: 0),
        Store("mapped", lambda _: 0),
    ]
    return Machine({"p": 1, "mapped": 1, "op": 0}, [reader, taker])


def two_upgrades(without: frozenset[str]) -> Machine:
    """Two threads that add one to x: each reads it, then becomes its writer, or gives up."""
    programs: list[Program] = []
    for bit in (1, 2):
        programs.append(
            [
                *share("x", bit, without),
                Load("old", "x"),
                *own("x", bit, "abort", without),
                Store("x", lambda r: r["old"] + 1),
                *unshare("x", bit, without),
                Store("ox", lambda _: 0),
                Swap("n", "added", lambda r: r["n"] + 1),
                Load("added", "added"),
                Load("now", "x"),
                Check(lambda r: r["now"] >= r["added"], "an addition is lost"),
                Go("end"),
                Label("abort"),
                *unshare("x", bit, without),
                Label("end"),
            ]
        )
    return Machine({"x": 0, "ox": 0, "added": 0}, programs)
