# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on the same workloads with the same seeds: the paper's Table 4 for any of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from tandem.statistics import summarise
from tandem.workload.steps import side_by_side
from tandem.workload.txlinux.guest import Image, Run, measure
from tandem.workload.txlinux.tables import shares_of

__all__ = ["compare", "print_comparison"]


def compare(
    images: Sequence[Image],
    workloads: Sequence[str],
    *,
    harts: int,
    seeds: int,
    limit: int,
    protocol: str,
    settings: Sequence[str],
    folder: Path,
    short: bool,
    early_release: bool,
    jobs: int,
) -> list[Run]:
    """Every workload on every kernel, with seeds 1 to `seeds`; `jobs` of them at once."""

    def one(workload: str, seed: int, image: Image) -> Run:
        return measure(
            image,
            workload,
            harts=harts,
            copies=None,
            size=None,
            seed=seed,
            limit=limit,
            protocol=protocol,
            settings=settings,
            folder=folder,
            short=short,
            early_release=early_release,
        )

    cases = itertools.product(workloads, range(1, seeds + 1), images)
    with side_by_side(jobs) as pool:
        return [x.result() for x in [pool.submit(one, *case) for case in cases]]


def _of(runs: Sequence[Run], variant: str, workload: str) -> list[Run]:
    return [x for x in runs if x.variant == variant and x.workload == workload]


def _shares(runs: Sequence[Run]) -> str:
    """User, system and idle, in per cent, of the first run."""
    shares = shares_of(runs[0])
    return "-" if shares is None else "/".join(f"{x:.0f}" for x in shares)


def print_comparison(runs: Sequence[Run]) -> None:
    """A row for each workload and kernel: medians, and the ratios of pairs with the same seed to
    the first kernel, with their range.
    """
    variants = list(dict.fromkeys(x.variant for x in runs))
    print(
        f"{'workload':<10}{'kernel':<15}{'system':>14}{'ratio':>8}{'least':>8}{'most':>8}"
        f"{'elapsed':>9}{'sections':>11}{'locks':>8}{'restarts':>10}   U/S/I"
    )
    for workload in dict.fromkeys(x.workload for x in runs):
        base = _of(runs, variants[0], workload)
        for variant in variants:
            print(f"{workload:<10}{variant:<15}" + _cells(base, _of(runs, variant, workload)))
    seeds = len({x.seed for x in runs})
    print(
        f"cycles outside U of all harts, medians of {seeds} seeds; ratios to {variants[0]},"
        " of pairs of a seed; elapsed: of cycles from begin to end; U/S/I: per cent of all cycles"
    )


def _cells(base: Sequence[Run], runs: Sequence[Run]) -> str:
    pairs = list(zip(base, runs, strict=True))
    ratio = summarise([b.system_cycles / a.system_cycles for a, b in pairs])
    elapsed = summarise([b.elapsed_cycles / a.elapsed_cycles for a, b in pairs])
    counted = [x.transactions for x in runs]
    sections, locks, restarts = (
        sum(x.get(key, 0) for x in counted) / len(runs)
        for key in ("transactions", "fallbacks", "restarts")
    )
    return (
        f"{summarise([x.system_cycles for x in runs]).median:>14,.0f}"
        f"{ratio.median:>8.3f}{ratio.minimum:>8.3f}{ratio.maximum:>8.3f}"
        f"{elapsed.median:>9.3f}{sections:>11,.0f}"
        f"{100 * locks / max(sections, 1):>7.2f}%"
        f"{100 * restarts / max(sections + restarts, 1):>9.2f}%   {_shares(runs)}"
    )
