# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the paper's Tables 4 to 6 and Figures 3 to 6 have, of one run. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tandem.workload.txlinux.guest import Run

__all__ = ["Shares", "shares_of", "tables_of"]

CLOCK_HZ = 1e9  # of the configuration metatm
# What a hart spends its cycles on that is not idle: an instruction is one, and these beside it.
_BUSY = (
    "timed_instructions",
    "fetch_stall_cycles",
    "load_stall_cycles",
    "store_stall_cycles",
    "atomic_stall_cycles",
    "walk_stall_cycles",
    "service_cycles",
    "transaction_wait_cycles",
)
# Lower bounds of the buckets of a histogram of sizes; the first begins at 0.
_BOUNDS = (0, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)

Shares = tuple[float, float, float]


def shares_of(run: Run) -> Shares | None:
    """U, S and idle in per cent of the cycles of all harts between the marks; None without time."""
    every = run.elapsed_cycles * run.harts
    if every == 0:
        return None
    busy = sum(run.counts.get(x, 0) for x in _BUSY)
    user = max(busy - run.system_cycles, 0)
    return 100 * user / every, 100 * run.system_cycles / every, max(100 * (1 - busy / every), 0)


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


def _distribution(counts: Sequence[int]) -> dict[str, float]:
    """Per cent of the committed sections from each bound to below the next."""
    whole = sum(counts)
    found = {f"{x}": 0.0 for x in _BOUNDS}
    for i, count in enumerate(counts):
        found[f"{_BOUNDS[min(i, len(_BOUNDS) - 1)]}"] += _percent(count, whole)
    return found


def tables_of(run: Run) -> dict[str, Any]:
    """What is not there (no time, no transaction) is null or missing."""
    found: dict[str, Any] = {}
    shares = shares_of(run)
    if shares is not None:
        counts = run.counts
        inner = counts["l2_hits"] + counts["misses"]
        found |= {
            "system_s": run.system_cycles / CLOCK_HZ,
            "elapsed_s": run.elapsed_cycles / CLOCK_HZ,
            "user_percent": shares[0],
            "system_percent": shares[1],
            "idle_percent": shares[2],
            "l1_miss_percent": _percent(inner, counts["l1_hits"] + inner),
            "l2_miss_percent": _percent(counts["misses"], inner),
        }
    t: Mapping[str, Any] = run.transactions
    if not t:
        return found
    sections = t["transactions"]
    found |= {
        "fallback_percent": _percent(t["fallbacks"], sections),
        "in_interrupts_percent": _percent(t["begun_in_interrupts"], sections),
        "in_system_calls_percent": _percent(t["begun_in_system_calls"], sections),
        # Of the paper: "in interrupts, etc."; faults and kernel threads are among them.
        "outside_system_calls_percent": _percent(sections - t["begun_in_system_calls"], sections),
        "mean_backoff_cycles": t["backoff_cycles"] / t["backoffs"] if t["backoffs"] else 0.0,
        "mean_section_cycles": t["cycles"] / t["commits"] if t["commits"] else 0.0,
        "sizes": {name: _distribution(x) for name, x in t["sizes"].items()},
    }
    if run.elapsed_cycles:
        found["sections_per_s"] = sections * CLOCK_HZ / run.elapsed_cycles
    return found
