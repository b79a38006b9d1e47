# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Litmus tests: the known shapes, each with every way to order its accesses.

A thread is a list of accesses with a link between each two: nothing, a fence, a dependency, or
annotations. Each access may be a plain one, an AMO, or a load-reserved with its store-conditional.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from model import Litmus, Op

X, Y, Z = 0, 1, 2


def write(place: int, value: int = 1) -> Op:
    return Op("store", place, value)


def read(place: int) -> Op:
    return Op("load", place, register=0)  # numbered below


SHAPES: dict[str, tuple[tuple[Op, ...], ...]] = {
    "MP": ((write(X), write(Y)), (read(Y), read(X))),
    "SB": ((write(X), read(Y)), (write(Y), read(X))),
    "LB": ((read(X), write(Y)), (read(Y), write(X))),
    "R": ((write(X), write(Y, 1)), (write(Y, 2), read(X))),
    "S": ((write(X, 2), write(Y)), (read(Y), write(X, 1))),
    "2+2W": ((write(X, 1), write(Y, 2)), (write(Y, 1), write(X, 2))),
    "CoRR": ((write(X),), (read(X), read(X))),
    "CoRW": ((read(X), write(X, 1)), (write(X, 2), read(X))),
    "CoWW": ((write(X, 1), write(X, 2)), (read(X), read(X))),
    "WRC": ((write(X),), (read(X), write(Y)), (read(Y), read(X))),
    "RWC": ((write(X),), (read(X), read(Y)), (write(Y), read(X))),
    "ISA2": ((write(X), write(Y)), (read(Y), write(Z)), (read(Z), read(X))),
    "IRIW": ((write(X),), (read(X), read(Y)), (write(Y),), (read(Y), read(X))),
    "W+RWC": ((write(X), write(Y)), (read(Y), read(Z)), (write(Z), read(X))),
}

FENCES = (
    ("rw", "rw"), ("w", "w"), ("r", "r"), ("r", "rw"), ("rw", "w"), ("w", "r"), ("r", "w"),
)  # fmt: skip


@dataclass(frozen=True)
class Link:
    """What stands between two accesses."""

    name: str
    fence: tuple[str, str] | None = None
    dependency: str = ""  # address, data, control
    aq: bool = False  # of the first
    rl: bool = False  # of the second

    def fits(self, first: Op, second: Op) -> bool:
        if self.dependency:
            return first.register is not None and (
                self.dependency != "data" or second.kind == "store"
            )
        return True


LINKS = (
    Link("po"),
    *(Link(f"fence.{a}.{b}", fence=(a, b)) for a, b in FENCES),
    Link("addr", dependency="address"),
    Link("data", dependency="data"),
    Link("ctrl", dependency="control"),
    Link("aq", aq=True),
    Link("rl", rl=True),
    Link("aq.rl", aq=True, rl=True),
)


def in_flavour(op: Op, flavour: str, value: int) -> list[Op]:
    """The access as an AMO, or by LR and SC; one that only reads gives back what may be there."""
    if flavour == "plain":
        return [op]
    stored = op.value if op.kind == "store" else value
    kept = replace(op, value=stored, register=0)
    if flavour == "amo":
        return [replace(kept, kind="amo")]
    reserve = replace(kept, kind="lr", rl=False, data=None)
    conditional = replace(kept, kind="sc", aq=False, control=None, address=None)
    return [reserve, conditional]


def linked(accesses: tuple[Op, ...], links: tuple[Link, ...], kinds: tuple[str, ...]) -> list[Op]:
    ops: list[Op] = []
    registers = 0
    source: int | None = None  # the last access's result
    for position, access in enumerate(accesses):
        link = links[position - 1] if position > 0 else LINKS[0]
        if link.fence is not None:
            ops.append(Op("fence", before=link.fence[0], after=link.fence[1]))
        op = access
        if link.dependency:
            op = replace(op, **{link.dependency: source})  # type: ignore[arg-type]
        following = links[position] if position < len(links) else LINKS[0]
        op = replace(op, aq=following.aq, rl=link.rl)
        source = None
        for made in in_flavour(op, kinds[position], 10 + position):
            if made.register is not None:
                made = replace(made, register=registers)
                if made.kind in ("load", "amo", "lr"):
                    source = registers
                registers += 1
            ops.append(made)
    return ops


def variants(shape: str) -> Iterator[Litmus]:
    """A shape with every link in each of its threads; plain, with AMOs, with LR and SC."""
    accesses = SHAPES[shape]
    several = [thread for thread in accesses if len(thread) > 1]
    for links in itertools.product(LINKS, repeat=len(several)):
        for flavour in ("plain", "amo", "pair"):
            made = variant(shape, accesses, links, flavour)
            if made is not None:
                yield made


def variant(
    shape: str, accesses: tuple[tuple[Op, ...], ...], links: tuple[Link, ...], flavour: str
) -> Litmus | None:
    threads: list[tuple[Op, ...]] = []
    left = list(links)
    for thread in accesses:
        link = left.pop(0) if len(thread) > 1 else LINKS[0]
        kinds = []
        for position in range(len(thread)):
            annotated = (link.aq and position == 0) or (link.rl and position == 1)
            if annotated and flavour == "plain":
                return None
            kinds.append(flavour if annotated or flavour == "plain" else "plain")
        if flavour != "plain" and not (link.aq or link.rl):
            kinds[0] = flavour if thread[0].kind == "store" or len(thread) > 1 else "plain"
        first = thread[0] if kinds[0] == "plain" else replace(thread[0], register=0)
        if len(thread) > 1 and not link.fits(first, thread[1]):
            return None
        if link.dependency == "data" and kinds[-1] == "pair":
            return None
        threads.append(tuple(linked(thread, (link,) if len(thread) > 1 else (), tuple(kinds))))
    name = "+".join([shape, *(link.name for link in links)])
    return Litmus(name if flavour == "plain" else f"{name}+{flavour}", tuple(threads))


def chosen(per_shape: int, seed: int) -> list[Litmus]:
    """Some of each shape: the plain one always, then others at random."""
    generator = random.Random(seed)
    found: list[Litmus] = []
    for shape in SHAPES:
        every = list(variants(shape))
        found.append(every[0])
        rest = every[1:]
        found += generator.sample(rest, min(per_shape - 1, len(rest)))
    return found
