# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statistics against known values, and against slow, obvious definitions on random input."""

import math
import statistics as oracle

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from tandem.statistics import (
    geometric_mean,
    mad,
    median,
    paired_ratio,
    quantile,
    ratio_of_medians,
    summarise,
)

# The seed of all random checks here; a failure prints the example that it found.
SEED = 20090213
finite = st.floats(min_value=-1e12, max_value=1e12, allow_nan=False)
positive = st.floats(min_value=1e-6, max_value=1e6)


def test_known_values() -> None:
    samples = [7.0, 1.0, 3.0, 15.0, 5.0]
    summary = summarise(samples)
    assert (summary.n, summary.median, summary.minimum, summary.maximum) == (5, 5, 1, 15)
    assert (summary.q1, summary.q3, summary.mad) == (3, 7, 2)
    assert median([4, 1, 3, 2]) == 2.5
    assert quantile([1, 2, 3, 4], 0.25) == 1.75  # type 7
    assert mad([1, 1, 2, 2, 4, 6, 9]) == 1
    assert geometric_mean([1, 10, 100]) == pytest.approx(10)
    assert geometric_mean([0.5, 2]) == pytest.approx(1)


def test_one_outlier_moves_no_robust_number() -> None:
    summary = summarise([10, 10, 10, 10, 1e9])
    assert (summary.median, summary.mad, summary.q3, summary.maximum) == (10, 0, 10, 1e9)


def test_a_single_sample_is_all_of_its_summary() -> None:
    summary = summarise([2.5])
    assert {summary.median, summary.minimum, summary.maximum, summary.q1, summary.q3} == {2.5}
    assert summary.mad == 0


@pytest.mark.parametrize("bad", [[], [math.nan], [1.0, math.inf]])
def test_refuses_what_has_no_statistics(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="sample"):
        summarise(bad)


@pytest.mark.parametrize("bad", [[], [0.0, 1.0], [-1.0]])
def test_geometric_mean_refuses_what_is_not_positive(bad: list[float]) -> None:
    with pytest.raises(ValueError, match=r"positive|samples"):
        geometric_mean(bad)


@seed(SEED)
@settings(derandomize=False, deadline=None)
@given(st.lists(finite, min_size=1, max_size=40), st.floats(min_value=0, max_value=1))
def test_quantiles_equal_numpy(samples: list[float], fraction: float) -> None:
    scale = max(abs(x) for x in samples) or 1
    assert quantile(samples, fraction) == pytest.approx(
        float(np.quantile(samples, fraction)), abs=1e-12 * scale
    )
    assert median(samples) == pytest.approx(oracle.median(samples), abs=1e-12 * scale)


@seed(SEED)
@settings(deadline=None)
@given(st.lists(finite, min_size=1, max_size=40))
def test_a_summary_is_ordered_and_ignores_the_order(samples: list[float]) -> None:
    summary = summarise(samples)
    assert summary.minimum <= summary.q1 <= summary.median <= summary.q3 <= summary.maximum
    assert 0 <= summary.mad <= summary.maximum - summary.minimum
    assert summary == summarise(sorted(samples, reverse=True))


@seed(SEED)
@settings(deadline=None)
@given(st.lists(positive, min_size=1, max_size=30), positive)
def test_geometric_mean_is_a_mean(samples: list[float], factor: float) -> None:
    mean = geometric_mean(samples)
    assert min(samples) <= mean <= max(samples)
    assert geometric_mean([1 / x for x in samples]) == pytest.approx(1 / mean)
    assert geometric_mean([factor * x for x in samples]) == pytest.approx(factor * mean)


def test_pairing_cancels_drift_between_rounds() -> None:
    baseline = {0: 10.0, 1: 20.0, 2: 40.0, 3: 1.0}
    point = {0: 5.0, 1: 10.0, 2: 20.0}
    ratio = paired_ratio(point, baseline, inverse=True)
    assert (ratio.value, ratio.minimum, ratio.maximum) == (2, 2, 2)
    assert paired_ratio(point, baseline, inverse=False).value == 0.5
    unpaired = ratio_of_medians(list(point.values()), list(baseline.values()), inverse=True)
    assert (unpaired.value, unpaired.minimum, unpaired.maximum) == (1.5, None, None)


def test_ratios_refuse_zero_and_nothing_in_common() -> None:
    with pytest.raises(ValueError, match="zero"):
        paired_ratio({0: 0.0}, {0: 1.0}, inverse=True)
    with pytest.raises(ValueError, match="zero"):
        ratio_of_medians([1.0], [0.0], inverse=False)
    with pytest.raises(ValueError, match="no round"):
        paired_ratio({0: 1.0}, {1: 1.0}, inverse=False)
