# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From raw samples to what a result says: summaries, ratios, geometric means, published values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tandem.errors import InvariantError, RunError
from tandem.experiment.parts import At, Experiment, Metric, describe, key_of, shown
from tandem.experiment.sample import Measured
from tandem.formats.published import Published, Scalar
from tandem.formats.result import Mean, Point, PublishedValue, Sample
from tandem.statistics import (
    Ratio,
    geometric_mean,
    paired_ratio,
    ratio_of_medians,
    summarise,
)

__all__ = ["EqualityCheck", "geometric_means", "make_points"]


class EqualityCheck:
    """Watches metrics that must be equal everywhere, sample by sample."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._names = [x.name for x in metrics if x.expect_equal]
        self._first: dict[str, tuple[int | float, str]] = {}

    def add(self, label: str, metrics: Mapping[str, int | float]) -> None:
        """InvariantError, naming both points, where a value differs from the first one seen."""
        for name in self._names:
            if name not in metrics:
                continue  # an outcome
            value, where = self._first.setdefault(name, (metrics[name], label))
            if metrics[name] != value:
                raise InvariantError(
                    f"{label}: metric '{name}' is {metrics[name]}, but {value} at {where}; "
                    "it must be equal everywhere"
                )


def make_points(
    experiment: Experiment,
    points: Sequence[At],
    samples: Mapping[str, Sequence[Measured]],
    published: Published,
) -> tuple[Point, ...]:
    """One Point for each of `points`; `samples` is by key_of and has at least one for each."""
    values = {key_of(at): _published(experiment, at, published) for at in points}
    made = []
    for at in points:
        own = sorted(samples[key_of(at)], key=lambda s: s.round)
        base = experiment.baseline_of(at)
        made.append(
            Point(
                at=dict(at),
                samples=tuple(
                    Sample(
                        s.round,
                        s.position,
                        s.worker,
                        s.wall_s,
                        s.cpu_s,
                        s.metrics,
                        s.others_cpu_s,
                        s.stolen_s,
                        s.disturbed,
                        s.outcome,
                        s.probe_one_s,
                        s.probe_all_s,
                    )
                    for s in own
                ),
                summaries={
                    m.name: summarise(s.metrics[m.name] for s in own)
                    for m in experiment.metrics
                    if _has(m, own)
                },
                ratios={
                    m.name: _ratio(experiment, m, at, own, samples[key_of(base)])
                    for m in experiment.metrics
                    if m.ratio != "none"
                    and base is not None
                    and _has(m, own)
                    and _has(m, samples[key_of(base)])
                },
                published=tuple(
                    _with_ratio(
                        experiment.metric(x.metric),
                        x,
                        values.get(key_of(base), ()) if base is not None else (),
                    )
                    for x in values[key_of(at)]
                ),
            )
        )
    return tuple(made)


def _has(metric: Metric, samples: Sequence[Measured]) -> bool:
    """Whether the point has the number: an optional metric may be missing, and all of them where a
    sample had an outcome instead.
    """
    return all(metric.name in s.metrics for s in samples)


def _ratio(
    experiment: Experiment,
    metric: Metric,
    at: At,
    own: Sequence[Measured],
    base: Sequence[Measured],
) -> Ratio:
    inverse = metric.ratio == "speedup"
    try:
        if experiment.baseline is not None and experiment.baseline.pairing == "round":
            return paired_ratio(
                {s.round: s.metrics[metric.name] for s in own},
                {s.round: s.metrics[metric.name] for s in base},
                inverse=inverse,
            )
        return ratio_of_medians(
            [s.metrics[metric.name] for s in own],
            [s.metrics[metric.name] for s in base],
            inverse=inverse,
        )
    except ValueError as error:
        raise RunError(f"{describe(at)}: ratio of metric '{metric.name}': {error}") from error


def _published(experiment: Experiment, at: At, published: Published) -> list[PublishedValue]:
    found: list[PublishedValue] = []
    for use in experiment.published:
        if any(at[axis] not in values for axis, values in use.at.items()):
            continue
        table = published.tables[use.table]
        for row in table.rows:
            wanted: dict[str, Scalar] = {}
            for key in table.keys:
                axis = use.keys.get(key, key)
                if key in use.where:
                    wanted[key] = use.where[key]
                else:
                    wanted[key] = use.values.get(axis, {}).get(shown(at[axis]), at[axis])
            value = table.value_of(row, use.column)
            if table.key_of(row) != wanted or isinstance(value, str):
                continue
            found.append(
                PublishedValue(
                    metric=use.metric,
                    value=float(value),
                    ratio=None,
                    unit=table.units.get(use.column, ""),
                    table=table.id,
                    paper=published.papers[table.paper].title,
                    place=table.place,
                )
            )
    return found


def _with_ratio(
    metric: Metric, own: PublishedValue, base: Iterable[PublishedValue]
) -> PublishedValue:
    other = next((x for x in base if x.metric == own.metric and x.table == own.table), None)
    if metric.ratio == "none" or other is None or not own.value or not other.value:
        return own
    ratio = other.value / own.value if metric.ratio == "speedup" else own.value / other.value
    return PublishedValue(own.metric, own.value, ratio, own.unit, own.table, own.paper, own.place)


def geometric_means(experiment: Experiment, points: Sequence[Point]) -> tuple[Mean, ...]:
    """The experiment's geometric means, in its order, then in that of the points."""
    means: list[Mean] = []
    for wanted in experiment.geometric_means:
        groups: dict[str, list[Point]] = {}
        for point in points:
            rest = {name: value for name, value in point.at.items() if name != wanted.over}
            groups.setdefault(key_of(rest), []).append(point)
        for members in groups.values():
            at = {name: value for name, value in members[0].at.items() if name != wanted.over}
            try:
                if any(wanted.metric not in x.ratios for x in members):
                    continue  # one of them has an outcome instead
                value = geometric_mean(x.ratios[wanted.metric].value for x in members)
            except ValueError as error:
                raise RunError(
                    f"{describe(at)}: geometric mean of metric '{wanted.metric}': {error}"
                ) from error
            means.append(Mean(wanted.metric, wanted.over, at, len(members), value))
    return tuple(means)
