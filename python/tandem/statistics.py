# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Robust statistics of repeated measurements. Pure functions; no sample is ever discarded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "Ratio",
    "Summary",
    "geometric_mean",
    "mad",
    "median",
    "paired_ratio",
    "quantile",
    "ratio_of_medians",
    "summarise",
]


@dataclass(frozen=True, slots=True)
class Summary:
    """One metric at one point, in its unit; minimum <= q1 <= median <= q3 <= maximum."""

    n: int  # samples, at least 1
    median: float
    minimum: float
    maximum: float
    q1: float  # quartiles by linear interpolation (Hyndman and Fan's type 7)
    q3: float
    mad: float  # median absolute deviation from the median, not scaled


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio to the baseline, dimensionless. The spread is None for a ratio of medians."""

    value: float
    minimum: float | None
    maximum: float | None


def _checked(samples: Iterable[float]) -> list[float]:
    values = [float(x) for x in samples]
    if not values:
        raise ValueError("no samples")
    if not all(math.isfinite(x) for x in values):
        raise ValueError("a sample is not finite")
    return values


def quantile(samples: Iterable[float], fraction: float) -> float:
    """The quantile at `fraction` (0..1), linear between order statistics (type 7)."""
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction {fraction} is outside 0..1")
    ordered = sorted(_checked(samples))
    position = fraction * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    weight = position - below
    # A weighted sum, not low + (high - low) * weight, whose difference may overflow; clamped, since
    # rounding may not leave the interval of the two neighbours.
    value = low * (1 - weight) + high * weight
    return min(max(value, low), high)


def median(samples: Iterable[float]) -> float:
    """The median; of an even number of samples, the mean of the middle two."""
    return quantile(samples, 0.5)


def mad(samples: Iterable[float]) -> float:
    """The median absolute deviation from the median, in the samples' unit, not scaled."""
    values = _checked(samples)
    centre = median(values)
    return median(abs(x - centre) for x in values)


def summarise(samples: Iterable[float]) -> Summary:
    """All of Summary at once."""
    values = _checked(samples)
    return Summary(
        n=len(values),
        median=median(values),
        minimum=min(values),
        maximum=max(values),
        q1=quantile(values, 0.25),
        q3=quantile(values, 0.75),
        mad=mad(values),
    )


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean of positive numbers; ValueError where one is not positive."""
    numbers = _checked(values)
    if min(numbers) <= 0:
        raise ValueError("the geometric mean needs positive numbers")
    low, high = min(numbers), max(numbers)
    return min(max(math.exp(math.fsum(math.log(x) for x in numbers) / len(numbers)), low), high)


def _divide(numerator: float, denominator: float) -> float:
    if denominator == 0:
        raise ValueError("a ratio's denominator is zero")
    return numerator / denominator


def ratio_of_medians(point: Sequence[float], baseline: Sequence[float], *, inverse: bool) -> Ratio:
    """point / baseline of the two medians; baseline / point (a speed-up of a time) if `inverse`."""
    mine, theirs = median(point), median(baseline)
    value = _divide(theirs, mine) if inverse else _divide(mine, theirs)
    return Ratio(value, None, None)


def paired_ratio(
    point: Mapping[int, float], baseline: Mapping[int, float], *, inverse: bool
) -> Ratio:
    """The median of the ratios within each round that both have; drift between rounds cancels.

    Keys are round numbers. ValueError where the two have no round in common.
    """
    rounds = sorted(point.keys() & baseline.keys())
    ratios = [
        _divide(baseline[r], point[r]) if inverse else _divide(point[r], baseline[r])
        for r in rounds
    ]
    if not ratios:
        raise ValueError("no round has both the point and the baseline")
    return Ratio(median(ratios), min(ratios), max(ratios))
