# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every interleaving of the engine's protocols is right, and leaving a part out is not."""

from __future__ import annotations

import protocols
import pytest
from model import Check, Load, Machine, Program, Store, Swap

SOUND = (
    "norec_opacity",
    "norec_privatisation",
    "eager_opacity",
    "eager_abort",
    "eager_privatisation",
    "alone",
    "lazy_opacity",
    "lazy_skew",
    "norec_in_place",
    "norec_not_joined",
    "two_phase_opacity",
    "two_phase_privatisation",
    "two_upgrades",
    "switching",
    "switching_alone",
    "sleeping",
    "hybrid_opacity",
    "hybrid_write_back",
    "hybrid_update",
    "hybrid_privatisation",
    "hybrid_free",
    "hybrid_alone",
    "hybrid_changes_away",
    "hybrid_changes_back",
    "hybrid_colour",
    "hybrid_sharing",
    "short_alone",
    "short_switching",
    "short_locks",
    "guarded_by_alone",
    "guarded_by_short",
    "guarded_by_opacity",
    "in_place_alone",
    "in_place_undone",
)
NEEDED = [
    ("norec_opacity", "clock"),
    ("norec_opacity", "order"),
    ("norec_privatisation", "quiescence"),
    ("norec_privatisation", "exchange"),
    ("eager_opacity", "validation"),
    ("eager_opacity", "second look"),
    ("eager_abort", "incarnation"),
    ("eager_abort", "second look"),
    ("eager_privatisation", "quiescence"),
    ("eager_privatisation", "exchange"),
    ("lazy_opacity", "acquisition"),
    ("lazy_opacity", "validation"),
    ("lazy_opacity", "second look"),
    ("lazy_skew", "commit validation"),
    ("norec_in_place", "odd clock"),
    ("norec_in_place", "new time"),
    ("norec_in_place", "clock"),
    ("norec_not_joined", "locked clock"),
    ("norec_not_joined", "word"),
    ("norec_not_joined", "second look"),
    ("norec_not_joined", "waiting"),
    ("norec_not_joined", "locked release"),
    ("two_phase_opacity", "shared lock"),
    ("two_phase_opacity", "two phases"),
    ("two_phase_opacity", "other readers"),
    ("two_phase_opacity", "order"),
    ("two_phase_privatisation", "shared lock"),
    ("two_phase_privatisation", "kept lock"),
    ("two_phase_privatisation", "other readers"),
    ("two_upgrades", "shared lock"),
    ("two_upgrades", "other readers"),
    ("switching", "second look"),
    ("switching", "waiting"),
    ("switching_alone", "second look"),
    ("switching_alone", "waiting"),
    ("switching_alone", "no mark"),
    ("sleeping", "order"),
    ("sleeping", "locked announcement"),
    ("sleeping", "locked commit"),
    ("hybrid_opacity", "bump"),
    ("hybrid_opacity", "count"),
    ("hybrid_write_back", "gate"),
    ("hybrid_write_back", "stop"),
    ("hybrid_write_back", "stop before the stores"),
    ("hybrid_update", "bump"),
    ("hybrid_update", "count"),
    ("hybrid_update", "even"),
    ("hybrid_privatisation", "quiescence"),
    ("hybrid_privatisation", "count"),
    ("hybrid_free", "beside"),
    ("hybrid_alone", "word"),
    ("hybrid_changes_away", "gate"),
    ("hybrid_changes_away", "say"),
    ("hybrid_changes_back", "wait"),
    ("hybrid_changes_back", "again"),
    ("hybrid_colour", "colour"),
    ("hybrid_colour", "inside"),
    ("hybrid_colour", "word to the end"),
    ("hybrid_sharing", "colour"),
    ("hybrid_sharing", "locked word"),
    ("hybrid_sharing", "mark"),
    ("hybrid_sharing", "exchange"),
    ("hybrid_sharing", "look"),
    ("hybrid_sharing", "scan"),
    ("hybrid_sharing", "marks to the end"),
    ("hybrid_sharing", "gate"),
    ("hybrid_sharing", "count"),
    ("hybrid_sharing", "bump"),
    ("short_alone", "word"),
    ("short_alone", "waiting"),
    ("short_alone", "locked clock"),
    ("short_switching", "second look"),
    ("short_switching", "waiting"),
    ("short_locks", "word"),
    ("short_locks", "waiting"),
    ("short_locks", "mark"),
    ("short_locks", "order"),
    ("guarded_by_alone", "word"),
    ("guarded_by_alone", "waiting"),
    ("guarded_by_alone", "locked word"),
    ("guarded_by_alone", "list"),
    ("guarded_by_short", "entry"),
    ("guarded_by_short", "locked word"),
    ("guarded_by_short", "to its end"),
    ("guarded_by_opacity", "quiescence"),
    ("guarded_by_opacity", "order"),
    ("in_place_alone", "look"),
    ("in_place_alone", "mark"),
    ("in_place_alone", "order"),
    ("in_place_alone", "waiting"),
    ("in_place_undone", "entry"),
    ("in_place_undone", "undoing"),
    ("in_place_undone", "order"),
    ("alone", "word"),
    ("alone", "waiting"),
    ("alone", "exchange"),
]


@pytest.mark.parametrize("name", SOUND)
def test_protocol(name: str) -> None:
    result = getattr(protocols, name)(frozenset()).explore()
    assert result.error is None
    assert result.states > 100  # both threads moved


@pytest.mark.parametrize(("name", "part"), NEEDED)
def test_every_part_is_needed(name: str, part: str) -> None:
    assert getattr(protocols, name)(frozenset({part})).explore().error is not None


def test_the_machine_delays_stores() -> None:
    """Store buffering: both may read 0, unless the stores are locked."""
    for locked in (False, True):
        programs: list[Program] = []
        for mine, other in (("a", "b"), ("b", "a")):
            store = Swap("_", mine, lambda _: 1) if locked else Store(mine, lambda _: 1)
            programs.append(
                [store, Load("seen", other), Swap("_", f"r{mine}", lambda r: r["seen"])]
            )
        programs.append(
            [
                Load("x", "ra"),
                Load("y", "rb"),
                Check(lambda r: r["x"] + r["y"] > 0, "both read 0"),
            ]
        )
        machine = Machine({"a": 0, "b": 0, "ra": 2, "rb": 2}, programs)
        assert (machine.explore().error is None) == locked
