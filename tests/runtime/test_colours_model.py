# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Colours exclude, end, prefer who waits, on every interleaving; without a part they do not."""

from __future__ import annotations

import colours
import pytest

SOUND = (
    "exclusion",
    "order",
    "preference",
    "upgrade",
    "serial",
    "waking",
    "entering",
    "gccs_transactions",
)
NEEDED = [
    ("exclusion", "fence"),
    ("exclusion", "look"),
    ("exclusion", "scan"),
    ("exclusion", "withdrawal"),
    ("exclusion", "marks to the end"),
    ("order", "order"),
    ("preference", "preference"),
    ("upgrade", "abort"),
    ("upgrade", "again"),
    ("upgrade", "scan"),
    ("serial", "giving back"),
    ("serial", "mark"),
    ("serial", "scan"),
    ("waking", "announcement"),
    ("waking", "barrier"),
    ("waking", "order"),
    ("entering", "announcement"),
    ("entering", "giving way"),
    ("entering", "mark"),
    ("entering", "wake"),
    ("gccs_transactions", "serial word"),
    ("gccs_transactions", "giving back"),
]


@pytest.mark.parametrize("name", SOUND)
def test_protocol(name: str) -> None:
    result = getattr(colours, name)(frozenset()).explore(ends=True)
    assert result.error is None
    assert result.states > 30  # all threads moved


@pytest.mark.parametrize(("name", "part"), NEEDED)
def test_every_part_is_needed(name: str, part: str) -> None:
    assert getattr(colours, name)(frozenset({part})).explore(ends=True).error is not None
