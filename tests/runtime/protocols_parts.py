# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What transactions of all algorithms do, as parts of programs for model.py.

Times: a mark is 0 or snapshot + 1. An orec is version * 8 + incarnation * 2, or odd while it is
held. The clock of NOrec is odd while a transaction writes back.
"""

from __future__ import annotations

from model import Go, Label, Load, Program, Set, Store, Swap, Value


def begin(mark: str, without: frozenset[str]) -> Program:
    """Publishes the snapshot `s`, then looks whether somebody is serial; restarts come here."""
    publish: Program = [Swap("_", mark, lambda r: r["s"] + 1)]
    if "exchange" in without:
        publish = [Store(mark, lambda r: r["s"] + 1)]
    look: Program = [
        Load("alone", "word"),
        Go("begun", lambda r: not r["alone"]),
        Store(mark, lambda _: 0),
        Label("asleep"),
        Load("alone", "word"),
        Go("asleep", lambda r: r["alone"]),
        Go("begin"),
        Label("begun"),
    ]
    return [
        Label("begin"),
        Load("s", "clock"),
        Go("begin", lambda r: r["s"] % 2 and "norec" not in without),
        *publish,
        *([] if "word" in without else look),
    ]


def quiesce(mark: str, without: frozenset[str]) -> Program:
    """Waits for the other thread's mark, after a commit at time `t`."""
    if "quiescence" in without:
        return []
    return [
        Label("quiesce"),
        Load("m", mark),
        Go("quiesce", lambda r: r["m"] != 0 and r["m"] < r["t"] + 1),
    ]


def differs(name: str) -> Value:
    return lambda r: r["v"] != r[name]


def norec_read(
    to: str, address: str, label: str, before: list[str], without: frozenset[str]
) -> Program:
    """A read, the clock, and where that has moved the earlier reads `before` and the new mark."""
    if "clock" in without:
        return [Load(to, address)]
    checks: Program = []
    for name in before:
        checks += [Load("v", name), Go("abort", differs(name))]
    return [
        Label(f"{label}-again"),
        Load(to, address),
        Load("c", "clock"),
        Go(f"{label}-done", lambda r: r["c"] == r["s"]),
        Label(f"{label}-even"),
        Load("c", "clock"),
        Go(f"{label}-even", lambda r: r["c"] % 2),
        *checks,
        Load("d", "clock"),
        Go(f"{label}-even", lambda r: r["c"] != r["d"]),
        Set("s", lambda r: r["c"]),
        Store("mark0", lambda r: r["s"] + 1),
        Go(f"{label}-again"),
        Label(f"{label}-done"),
    ]
