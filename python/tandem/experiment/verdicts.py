# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verdicts on the checks of an experiment, from its samples.

Counts and simulated cycles are always decided. A check that reads a time is decided from
undisturbed samples alone, enough of them at every point that it reads, and only where the rounds
agree; else it is undecided, whatever the numbers say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tandem.experiment.definition import At, Expect, Experiment, describe, key_of
from tandem.experiment.expressions import Expression, ExpressionError, Query
from tandem.formats.result import Point, Sample, Verdict
from tandem.statistics import median, paired_ratio, ratio_of_medians

__all__ = ["verdicts_of"]

# A time needs this many undisturbed samples at each point, or all where fewer were taken.
_ENOUGH = 3
# At least this share of the rounds must give the verdict by themselves.
_AGREEMENT = 0.75

Keep = Callable[[Sample], bool]


class _Samples:
    """Numbers of a result's points, from the samples that `keep` lets through."""

    def __init__(
        self, experiment: Experiment, points: Sequence[Point], processors: int, keep: Keep
    ) -> None:
        self.processors = processors
        self._experiment = experiment
        self._points = points
        self._keep = keep
        self._by_key = {key_of(x.at): x for x in points}

    def selected(self, query: Query) -> Iterator[Point]:
        for point in self._points:
            if all(point.at[name] in values for name, values in query.at.items()):
                yield point

    def baseline(self, point: Point) -> Point | None:
        base = self._experiment.baseline_of(point.at)
        return None if base is None else self._by_key.get(key_of(base))

    def read(self, query: Query) -> list[float]:
        metric = self._experiment.metric(query.metric)
        found: list[float] = []
        for point in self.selected(query):
            own = self._values(point, metric.name, metric.is_time)
            try:
                if not query.is_ratio:
                    found.append(median(own.values()))
                    continue
                base_point = self.baseline(point)
                base = self._values(base_point, metric.name, metric.is_time) if base_point else {}
                inverse = metric.ratio == "speedup"
                baseline = self._experiment.baseline
                if baseline is not None and baseline.pairing == "round":
                    found.append(paired_ratio(own, base, inverse=inverse).value)
                else:
                    ratio = ratio_of_medians(
                        list(own.values()), list(base.values()), inverse=inverse
                    )
                    found.append(ratio.value)
            except ValueError as error:
                raise ExpressionError(f"{describe(point.at)}: {error}") from error
        return found

    def _values(self, point: Point, metric: str, is_time: bool) -> Mapping[int, float]:
        return {
            s.round: float(s.metrics[metric])
            for s in point.samples
            if metric in s.metrics and (not is_time or self._keep(s))
        }


def _undisturbed(sample: Sample) -> bool:
    return sample.disturbed == ""


def verdicts_of(
    experiment: Experiment, points: Sequence[Point], processors: int, *, quick: bool = False
) -> tuple[Verdict, ...]:
    """One for each [[expect]], in their order; `quick`: of a quick run."""
    return tuple(
        _verdict(experiment, points, processors, replace(x, known=x.known_quick or x.known))
        if quick
        else _verdict(experiment, points, processors, x)
        for x in experiment.expects
    )


def _verdict(
    experiment: Experiment, points: Sequence[Point], processors: int, expect: Expect
) -> Verdict:
    def made(state: str, compared: str = "", why: str = "") -> Verdict:
        return Verdict(
            expect.name,
            state,
            expect.known,
            expect.check,
            compared,
            why or expect.why,
            expect.statement,
        )

    expression = expect.expression
    if expression is None:
        return made("not checked")
    every = _Samples(experiment, points, processors, lambda _: True)
    try:
        compared = expression.sides(every)
        times = any(experiment.metric(q.metric).is_time for q in expression.queries)
        if not times:
            return made("met" if expression.holds(every) else "differs", compared)
        short = _too_few(expression, experiment, every)
        if short:
            return made("undecided", compared, short)
        calm = _Samples(experiment, points, processors, _undisturbed)
        holds = expression.holds(calm)
        compared = expression.sides(calm)
        alike, rounds = _agreement(expression, experiment, points, processors, holds)
        if rounds and alike < _AGREEMENT * rounds:
            why = f"of {rounds} undisturbed rounds {alike} say so by themselves"
            return made("undecided", compared, why)
        return made("met" if holds else "differs", compared)
    except ExpressionError as error:
        return made("undecided", why=str(error))


def _too_few(expression: Expression, experiment: Experiment, samples: _Samples) -> str:
    """Where too many samples of a time are disturbed; empty where there are enough others."""
    for query in expression.queries:
        if not experiment.metric(query.metric).is_time:
            continue
        for point in samples.selected(query):
            used = [point, samples.baseline(point) if query.is_ratio else None]
            for each in used:
                if each is None:
                    continue
                calm = sum(map(_undisturbed, each.samples))
                if calm < min(_ENOUGH, len(each.samples)):
                    of = len(each.samples)
                    return f"{of - calm} of {of} samples of {_place(each.at)} are disturbed"
    return ""


def _place(at: At) -> str:
    return describe(at)


def _agreement(
    expression: Expression,
    experiment: Experiment,
    points: Sequence[Point],
    processors: int,
    holds: bool,
) -> tuple[int, int]:
    """How many undisturbed rounds give the same answer alone, of how many that have all points."""
    alike = rounds = 0
    for number in sorted({s.round for point in points for s in point.samples}):
        one = _Samples(
            experiment,
            points,
            processors,
            lambda s, number=number: s.round == number and _undisturbed(s),  # type: ignore[misc]
        )
        try:
            answer = expression.holds(one)
        except ExpressionError:
            continue  # a sample of the round was disturbed
        rounds += 1
        alike += answer == holds
    return alike, rounds
