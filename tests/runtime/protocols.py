# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The engine's protocols for model.py; `without` leaves parts out, which must then be errors.

Times: a mark is 0 or snapshot + 1. An orec is version * 8 + incarnation * 2, or odd while it is
held. The clock of NOrec is odd while a transaction writes back.
"""

from __future__ import annotations

from model import Atomic, Check, Go, Label, Load, Machine, Program, Set, Store, Swap, Value


def begin(mark: str, without: frozenset[str]) -> Program:
    """Publishes the snapshot `s`, then looks whether somebody is alone; restarts come here."""
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


def alone(without: frozenset[str]) -> Machine:
    """A transaction beside one that is alone and changes x without any protocol, twice."""
    reader: Program = [
        *begin("mark0", without),
        Load("x", "x"),
        Load("again", "x"),
        Check(lambda r: r["x"] == r["again"] and r["x"] != 1, "sees one that is alone"),
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
        Check(lambda r: r["now"] == r["chosen"], "runs by an algorithm that is no longer in use"),
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


# Hardware transactions beside NOrec's (src/runtime/algorithms/hardware.h).


def software(body: Program, mark: str, without: frozenset[str]) -> Program:
    """A transaction of NOrec that hardware ones have to know of."""
    count: Program = [Swap("_", "software", lambda r: r["_"] + 1)]
    end: Program = [Store(mark, lambda _: 0), Swap("_", "software", lambda r: r["_"] - 1)]
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
    """A hardware transaction beside one that is alone and changes x without any protocol, twice."""
    body: Program = [
        Load("x", "x"),
        Check(lambda r: r["x"] != 1, "the hardware sees one that is alone"),
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
