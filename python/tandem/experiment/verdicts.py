# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verdicts on the checks of an experiment, from its samples.

Counts and simulated cycles are always decided. A check that reads a time, or a processor time, is
decided from undisturbed samples alone, enough of them at every point that it reads, and only where
the rounds agree; else it is undecided, whatever the numbers say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tandem.experiment.expressions import Expression, ExpressionError, Query
from tandem.experiment.parts import At, Expect, Experiment, Metric, describe, key_of
from tandem.formats.result import Point, Sample, Verdict
from tandem.statistics import median, paired_ratio, ratio_of_medians

__all__ = ["verdicts_of"]

# A time needs this many undisturbed samples at each point, or all where fewer were taken.
_ENOUGH = 3
# At least this share of the rounds must give the verdict by themselves.
_AGREEMENT = 0.75
# A processor time is no evidence where the processors, all at work, take this many times as long
# for the same work as the fastest of them did by itself.
_SLOWED = 1.15

Keep = Callable[[Metric, Sample], bool]


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
            own = self._values(point, metric)
            try:
                if not query.is_ratio:
                    found.append(median(own.values()))
                    continue
                base_point = self.baseline(point)
                base = self._values(base_point, metric) if base_point else {}
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

    def _values(self, point: Point, metric: Metric) -> Mapping[int, float]:
        return {
            s.round: float(s.metrics[metric.name])
            for s in point.samples
            if metric.name in s.metrics and self._keep(metric, s)
        }


def _undisturbed(points: Sequence[Point]) -> Keep:
    """Whether a sample's value of a metric is evidence, of a result with these points."""
    fastest: dict[str, float] = {}
    for sample in (s for point in points for s in point.samples):
        if sample.probe_one_s is not None:
            least = fastest.get(sample.worker, sample.probe_one_s)
            fastest[sample.worker] = min(least, sample.probe_one_s)

    def keep(metric: Metric, sample: Sample) -> bool:
        if metric.is_time:
            return sample.disturbed == ""
        if metric.is_processor_time and sample.probe_all_s is not None:
            return sample.probe_all_s <= _SLOWED * fastest[sample.worker]
        return True

    return keep


def _is_certain(metric: Metric) -> bool:
    return not metric.is_time and not metric.is_processor_time


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
    every = _Samples(experiment, points, processors, lambda _metric, _sample: True)
    try:
        compared = expression.sides(every)
        if all(_is_certain(experiment.metric(q.metric)) for q in expression.queries):
            return made("met" if expression.holds(every) else "differs", compared)
        keep = _undisturbed(points)
        short = _too_few(expression, experiment, every, keep)
        if short:
            return made("undecided", compared, short)
        calm = _Samples(experiment, points, processors, keep)
        holds = expression.holds(calm)
        compared = expression.sides(calm)
        alike, rounds = _agreement(expression, experiment, points, processors, keep, holds)
        if rounds and alike < _AGREEMENT * rounds:
            why = f"of {rounds} undisturbed rounds {alike} say so by themselves"
            return made("undecided", compared, why)
        return made("met" if holds else "differs", compared)
    except ExpressionError as error:
        return made("undecided", why=str(error))


def _too_few(expression: Expression, experiment: Experiment, samples: _Samples, keep: Keep) -> str:
    """Where too many samples of a time are disturbed; empty where there are enough others."""
    for query in expression.queries:
        metric = experiment.metric(query.metric)
        if _is_certain(metric):
            continue
        for point in samples.selected(query):
            used = [point, samples.baseline(point) if query.is_ratio else None]
            for each in used:
                if each is None:
                    continue
                calm = sum(keep(metric, x) for x in each.samples)
                if calm < min(_ENOUGH, len(each.samples)):
                    of = len(each.samples)
                    what = "are disturbed"
                    if metric.is_processor_time:
                        what = "were taken on slowed processors"
                    return f"{of - calm} of {of} samples of {_place(each.at)} {what}"
    return ""


def _place(at: At) -> str:
    return describe(at)


def _agreement(
    expression: Expression,
    experiment: Experiment,
    points: Sequence[Point],
    processors: int,
    keep: Keep,
    holds: bool,
) -> tuple[int, int]:
    """How many undisturbed rounds give the same answer alone, of how many that have all points."""
    alike = rounds = 0
    for number in sorted({s.round for point in points for s in point.samples}):
        one = _Samples(
            experiment,
            points,
            processors,
            lambda m, s, number=number: s.round == number and keep(m, s),  # type: ignore[misc]
        )
        try:
            answer = expression.holds(one)
        except ExpressionError:
            continue  # a sample of the round was disturbed
        rounds += 1
        alike += answer == holds
    return alike, rounds
