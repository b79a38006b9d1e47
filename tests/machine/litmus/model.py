# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RVWMO for programs of a few accesses: every outcome that the manual allows.

A candidate execution says which write each read reads from (rf) and in which order the writes of a
place come (co). It is allowed if three axioms hold; the global memory order of the manual exists
exactly if `co`, `rf` between threads, `fr` and the preserved program order have no cycle.

Source: The RISC-V Instruction Set Manual, volume I, chapter RVWMO, and its appendix A.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Op:
    """An instruction of a thread. Registers are numbers in the order of the thread's results.

    `address`, `data` and `control` name the register that the access depends on: by its address, by
    what it stores, by a branch before it (on which all later ones depend, too).
    """

    kind: str  # load, store, amo (swap), lr, sc, fence
    place: int = 0
    value: int = 0  # of store, amo, sc
    register: int | None = None  # of load, amo, lr; of sc: 0 if it stored
    aq: bool = False
    rl: bool = False
    before: str = ""  # of a fence: what it orders, of r and w
    after: str = ""
    address: int | None = None
    data: int | None = None
    control: int | None = None


Threads = tuple[tuple[Op, ...], ...]


@dataclass(frozen=True)
class Litmus:
    name: str
    threads: Threads

    @property
    def places(self) -> int:
        return 1 + max(op.place for thread in self.threads for op in thread)

    def results(self, thread: int) -> int:
        """How many registers the thread fills."""
        return sum(op.register is not None for op in self.threads[thread])


@dataclass(frozen=True)
class Event:
    number: int
    thread: int  # -1: the initial values
    index: int  # of the instruction in its thread
    reads: bool
    place: int
    value: int  # of a write
    op: Op


@dataclass(frozen=True)
class Outcome:
    """Registers, thread by thread, then the last values of the places."""

    registers: tuple[int, ...]
    places: tuple[int, ...]


Pairs = set[tuple[int, int]]


def acyclic(count: int, *relations: Iterable[tuple[int, int]]) -> bool:
    following: list[int] = [0] * count
    for a, b in itertools.chain(*relations):
        following[a] |= 1 << b
    left = (1 << count) - 1
    while left:
        # Events without an edge from a remaining one can be taken away.
        reached = 0
        for number in range(count):
            if left >> number & 1:
                reached |= following[number]
        first = left & ~reached
        if not first:
            return False
        left &= ~first
    return True


@dataclass
class Candidate:
    """An execution. `source[r]`: the write that the read r reads from."""

    events: list[Event]
    source: dict[int, int]
    co: Pairs
    po: Pairs = field(default_factory=set)

    def __post_init__(self) -> None:
        own = [e for e in self.events if e.thread >= 0]
        self.po = {
            (a.number, b.number)
            for a in own
            for b in own
            if a.thread == b.thread
            and (a.index < b.index or (a.index == b.index and a.reads and not b.reads))
        }
        self.rf = {(w, r) for r, w in self.source.items()}
        self.fr = {(r, later) for r, w in self.source.items() for v, later in self.co if v == w}

    def external(self, pairs: Pairs) -> Pairs:
        return {(a, b) for a, b in pairs if self.events[a].thread != self.events[b].thread}

    def rmw(self) -> Pairs:
        """The read and the write of an AMO, or of an LR with its SC."""
        found: Pairs = set()
        for a, b in self.po:
            first, second = self.events[a], self.events[b]
            if not first.reads or second.reads or first.place != second.place:
                continue
            if first.index == second.index or (
                first.op.kind == "lr" and second.op.kind == "sc" and second.index == first.index + 1
            ):
                found.add((a, b))
        return found

    def fences(self, threads: Threads) -> Pairs:
        def covered(event: Event, kinds: str) -> bool:
            return ("r" if event.reads else "w") in kinds

        return {
            (a, b)
            for a, b in self.po
            if any(
                op.kind == "fence"
                and covered(self.events[a], op.before)
                and covered(self.events[b], op.after)
                for op in threads[self.events[a].thread][
                    self.events[a].index + 1 : self.events[b].index
                ]
            )
        }

    def dependencies(self) -> tuple[Pairs, Pairs, Pairs]:
        """By address, by data, by control."""
        address: Pairs = set()
        data: Pairs = set()
        control: Pairs = set()
        for a, b in self.po:
            first, second = self.events[a], self.events[b]
            register = first.op.register
            if not first.reads or register is None:
                continue
            if second.op.address == register:
                address.add((a, b))
            if second.op.data == register and not second.reads:
                data.add((a, b))
            if any(
                between.op.control == register
                for between in self.events
                if between.thread == first.thread and first.index < between.index <= second.index
            ):
                control.add((a, b))
        return address, data, control

    def preserved(self, threads: Threads) -> Pairs:
        """The preserved program order; the numbers are the manual's rules."""
        address, data, control = self.dependencies()
        rmw = self.rmw()
        internal = self.rf - self.external(self.rf)
        kept = self.fences(threads) | rmw  # 4, 8
        for a, b in self.po:
            first, second = self.events[a], self.events[b]
            same = first.place == second.place
            between = [
                e.number
                for e in self.events
                if (a, e.number) in self.po and (e.number, b) in self.po
            ]
            stores = [n for n in between if not self.events[n].reads]
            if (
                (same and not second.reads)  # 1
                or (
                    same  # 2
                    and first.reads
                    and second.reads
                    and not any(self.events[n].place == first.place for n in stores)
                    and self.source[a] != self.source[b]
                )
                or (first.op.kind in ("amo", "sc") and (a, b) in internal)  # 3
                or first.op.aq  # 5
                or second.op.rl  # 6
                or (
                    (first.op.aq or first.op.rl) and (second.op.aq or second.op.rl)  # 7
                )
                or (a, b) in address  # 9
                or ((a, b) in data | control and not second.reads)  # 10, 11
                or (  # 12
                    second.reads
                    and any((a, m) in address | data and (m, b) in internal for m in stores)
                )
                or (not second.reads and any((a, m) in address for m in between))  # 13
            ):
                kept.add((a, b))
        return kept

    def coherent(self) -> bool:
        same = {(a, b) for a, b in self.po if self.events[a].place == self.events[b].place}
        return acyclic(len(self.events), same, self.rf, self.co, self.fr)

    def atomic(self) -> bool:
        before, after = self.external(self.fr), self.external(self.co)
        return not any(
            (r, other) in before and (other, w) in after
            for r, w in self.rmw()
            for other in range(len(self.events))
        )

    def is_rvwmo(self, threads: Threads) -> bool:
        return acyclic(
            len(self.events), self.preserved(threads), self.external(self.rf), self.co, self.fr
        )

    def is_sequential(self) -> bool:
        return acyclic(len(self.events), self.po, self.rf, self.co, self.fr)


def events_of(test: Litmus, failing: frozenset[tuple[int, int]]) -> list[Event]:
    """`failing`: the store-conditionals (thread, index) that do nothing."""
    events = [Event(p, -1, 0, False, p, 0, Op("store", p)) for p in range(test.places)]
    for number, thread in enumerate(test.threads):
        for index, op in enumerate(thread):
            if op.kind in ("load", "lr", "amo"):
                events.append(Event(len(events), number, index, True, op.place, 0, op))
            if op.kind in ("store", "amo") or (op.kind == "sc" and (number, index) not in failing):
                events.append(Event(len(events), number, index, False, op.place, op.value, op))
    return events


def candidates(
    test: Litmus, failing: frozenset[tuple[int, int]]
) -> Iterator[tuple[Candidate, Outcome]]:
    events = events_of(test, failing)
    reads = [e for e in events if e.reads]
    writes = [
        [e.number for e in events if not e.reads and e.place == p] for p in range(test.places)
    ]
    orders = [[(w[0], *rest) for rest in itertools.permutations(w[1:])] for w in writes]
    for sources in itertools.product(*(writes[r.place] for r in reads)):
        source = {r.number: w for r, w in zip(reads, sources, strict=True)}
        registers = [[0] * test.results(number) for number in range(len(test.threads))]
        for r in reads:
            if r.op.register is not None:
                registers[r.thread][r.op.register] = events[source[r.number]].value
        for thread, index in failing:
            register = test.threads[thread][index].register
            if register is not None:
                registers[thread][register] = 1
        for order in itertools.product(*orders):
            co = {pair for line in order for pair in itertools.combinations(line, 2)}
            yield (
                Candidate(events, source, co),
                Outcome(
                    tuple(itertools.chain(*registers)),
                    tuple(events[line[-1]].value for line in order),
                ),
            )


def outcomes(test: Litmus) -> tuple[frozenset[Outcome], frozenset[Outcome]]:
    """What RVWMO allows, and what a sequential machine may show."""
    conditionals = [
        (number, index)
        for number, thread in enumerate(test.threads)
        for index, op in enumerate(thread)
        if op.kind == "sc"
    ]
    weak: set[Outcome] = set()
    sequential: set[Outcome] = set()
    for count in range(len(conditionals) + 1):
        for failing in itertools.combinations(conditionals, count):
            for candidate, outcome in candidates(test, frozenset(failing)):
                if outcome in weak and outcome in sequential:
                    continue
                if not candidate.coherent() or not candidate.atomic():
                    continue
                if candidate.is_rvwmo(test.threads):
                    weak.add(outcome)
                if candidate.is_sequential():
                    sequential.add(outcome)
    return frozenset(weak), frozenset(sequential)
